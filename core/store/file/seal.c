/* SPDX-License-Identifier: MIT */
#include "store/file/seal.h"

#include "life.h"
#include "share.h"

static uint64_t boot_field(void)
{
	uint64_t n = boot_number();

	return n != 0 && n >> SEAL_BOOT == 0 ? 1 : n >> SEAL_BOOT;
}

static uint64_t seal_word(uint64_t number, enum seal state)
{
	number = (uint32_t)(number << SEAL_NUMBER) >> SEAL_NUMBER;
	return boot_field() << SEAL_BOOT | (number == 0 ? 1 : number) << SEAL_NUMBER |
	       (uint64_t)state;
}

uint64_t seal_new(void)
{
	return seal_word(1, SEAL_OPEN);
}

bool seal_is_torn(uint64_t word)
{
	uint64_t then = word >> SEAL_BOOT, now = boot_field();

	return seal_state(word) != SEAL_WHOLE && then != 0 && now != 0 && then != now;
}

bool seal_break(struct store *s)
{
	/*
	 * A load would not do: of this read-modify-write and the compare-and-swap in seal_close
	 * one comes first.  So either that thread sees the caller building, or the caller sees
	 * CLOSING.
	 */
	uint64_t word = fetch_or_acq_rel(&s->seal, 0);

	while (seal_state(word) != SEAL_OPEN) {
		uint64_t next = seal_word((uint32_t)word / (SEAL_STATE + 1) + 1, SEAL_BREAKING);

		if (seal_state(word) != SEAL_BREAKING) {
			if (!cas_acq_rel(&s->seal, &word, next))
				continue;
			word = next;
		}
		if (!share_sync(s, PAGE_MOST))
			return false;
		/* Release pairs with seal_touch: a thread that sees OPEN may change the heap. */
		if (cas_acq_rel(&s->seal, &word, seal_with(word, SEAL_OPEN)))
			break;
	}
	return true;
}

void seal_touch(struct store *s)
{
	/* Pairs with seal_close. */
	if (seal_state(load_acquire(&s->seal)) != SEAL_OPEN)
		(void)seal_break(s);
}
