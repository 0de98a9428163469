/* SPDX-License-Identifier: MIT */
/* The claim of a maker of a heap (store/file/open.h), and what it leaves when it is given up. */
#include "store/file/open.h"

#include "rt.h"
#include "store/file/store.h"
#include "syscall.h"
#include "world.h"

/* Given up, however far it came: the file's first page is as blank as it was. */
TEST(inner_claim_given_up_is_blank, 10)
{
	int file = (int)arch_memfd_create("claim", 0);
	uint64_t *word, mine;
	struct store *s;
	bool half;
	size_t i;

	CHECK(file >= 0);
	CHECK_EQ(arch_ftruncate(file, (long)PAGE_MOST), 0);
	s = (void *)arch_mmap(NULL, PAGE_MOST, 3, 1 /* shared */, file, 0); /* NOLINT: an address */
	word = (void *)s;
	CHECK_EQ(claim_take(s), CLAIM_FREE);
	mine = s->claim;
	CHECK(mine != 0 && s->world == world_now() && claim_look(file, &half) == CLAIM_BUSY && half);
	for (i = 0; i < PAGE_MOST / sizeof *word; i++)
		if (word + i != &s->magic && word + i != &s->claim && word + i != &s->world)
			word[i] = i + 1;
	claim_clear(s);
	CHECK(s->magic == CLAIM_MAKING && s->claim == mine && s->world == world_now());
	s->format = STORE_FORMAT;
	claim_give(s);
	for (i = 0; i < PAGE_MOST / sizeof *word; i++)
		CHECK_EQ(word[i], 0);
	CHECK(claim_look(file, &half) == CLAIM_FREE && !half);
	/* Blank is one page at most, and each word of it. */
	for (i = 4; i < PAGE_MOST / sizeof *word; i += 4096 / sizeof *word - 1) {
		word[i] = 1;
		CHECK_EQ(claim_look(file, &half), CLAIM_FOREIGN);
		word[i] = 0;
	}
	CHECK_EQ(arch_ftruncate(file, (long)PAGE_MOST + 1), 0);
	CHECK_EQ(claim_look(file, &half), CLAIM_FOREIGN);
}
