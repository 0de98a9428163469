/* SPDX-License-Identifier: MIT */
/* A copy of the file, changed in one place: see forged.h. */
#ifndef TESTS_STORE_PROGRAM_FORGED_COPY_H
#define TESTS_STORE_PROGRAM_FORGED_COPY_H

#include "store/program/forged_heap.h"

enum forged_kind {
	FORGED_BIT,
	FORGED_WORD_OF_STORE,
	FORGED_VALUE_OF_STORE,
	FORGED_SHORTER,
	FORGED_EMPTY,
	FORGED_LONGER,
	FORGED_PAGE,
	FORGED_WORD_OF_REGION,
	FORGED_WORD_OF_BITS,
	FORGED_STEP,
	FORGED_WORD_OF_OWNER,
	FORGED_WORD_OF_CHUNK,
	FORGED_WORD_OF_SLAB,
	FORGED_WORD_OF_INTENT,
	FORGED_WORD_OF_NAMES,
	FORGED_WORD_OF_BINS,
	FORGED_ELSEWHERE,
	FORGED_DELTA,
	FORGED_ZERO,
	FORGED_TWO,
	FORGED_KINDS
};

static const char *const forged_names[FORGED_KINDS] = {
	"bit of the metadata", "word of the store, random", "... 0, 1, 4096, -1, 2^63, an address",
	"cut short",	       "empty",			    "longer",
	"page of the metadata, random", "word of the region", "word of the region's bits and hints",
	"word of the metadata +- 2048",
	"word of an owner's record", "word of a chunk's record", "word of a slab's record",
	"word of an intent", "word of the names, or of the tags",
	"word of the bins of an owner's record", "word from elsewhere", "word +- 64 ... 2048", "word zeroed", "two words",
};

/* The copies are another build's, so the process that attaches rebuilds the caches (store/file/open.h). */
static bool forged_anothers;

static long forged_copy(void)
{
	const uint64_t number = 77;
	long fd = arch_memfd_create("copy", 0);
	size_t i;

	CHECK(fd >= 0);
	CHECK_EQ(arch_ftruncate(fd, (long)forged->bytes), 0);
	for (i = 0; i < forged_pages; i++)
		CHECK_EQ(arch_pwrite64(fd, forged_image + (size_t)forged_page[i] * 4096, 4096,
				       (long)forged_page[i] * 4096),
			 4096);
	if (forged_anothers)
		CHECK_EQ(arch_pwrite64(fd, &number, sizeof number, offsetof(struct store, caches)), sizeof number);
	return fd;
}

/* A word of the directory that leads to a name, of a name, or the slot of a leaf of tags. */
static size_t forged_own_word(struct rt_random *r)
{
	const struct store *s = (const struct store *)(const void *)forged_image;
	size_t base = (uintptr_t)forged->base, at = s->names - base, i;
	const uint64_t *word;

	switch (rt_below(r, 4)) {
	case 0: return offsetof(struct store, names);
	case 1:
		for (i = rt_below(r, 8); i < forged_region->chunks * CHUNK_UNITS; i++) {
			at = (size_t)(forged_region->remote - (char *)forged->base) +
			     i * forged_region->remote_stride + KINDS_SLOT * 8;
			if (*(const uint64_t *)(const void *)(forged_image + at) != 0)
				break;
		}
		return at;
	default: break;
	}
	for (i = rt_below(r, 512); i < 1024; i++) {
		word = (const uint64_t *)(const void *)(forged_image + at) + i;
		if (*word != 0 && (*word & 1) == 0)
			return rt_below(r, 2) ? at + i * 8 : (size_t)(*word - base) + rt_below(r, 5) * 8;
	}
	return at;
}

/* What cannot be told from what may be: where the names are, the bits of slots, of their tags, whose a slot in flight is. */
static bool forged_is_truth(size_t at)
{
	const struct region *r = forged_region;
	size_t records = (size_t)(r->records - (char *)forged->base), inner;
	size_t remote = (size_t)(r->remote - (char *)forged->base);
	size_t free = (size_t)((char *)r->free - (char *)forged->base);

	if (at >= remote || (at >= free && at < records))
		return true;
	if (at == offsetof(struct store, names)) /* another block may be a directory as well */
		return true;
	if (at >= RECORDS_AT && at < REGION_AT)
		return (at - RECORDS_AT) % RECORD_BYTES == TRUTH_AT + offsetof(struct owner_truth, flight) ||
		       (at - RECORDS_AT) % RECORD_BYTES / 8 * 8 - (TRUTH_AT + offsetof(struct owner_truth, intents)) <
			       sizeof(struct intent[INTENTS]);
	if (at < records)
		return false;
	inner = (at - records) % r->stride;
	if (inner < sizeof(struct chunk))
		return inner / 8 * 8 == offsetof(struct chunk, units) || inner == 0;
	inner = (inner - sizeof(struct chunk)) % sizeof(struct slab);
	return inner >= offsetof(struct slab, hold);
}

static uint64_t forged_word(long fd, size_t at)
{
	uint64_t word = 0;

	CHECK_EQ(arch_pread64(fd, &word, 8, (long)at), 8);
	return word;
}

static size_t forged_place(struct rt_random *r, size_t from, size_t bytes)
{
	return from + rt_below(r, bytes / 8) * 8;
}

/* In the metadata, on a page that has something. */
static size_t forged_somewhere(struct rt_random *r)
{
	return (size_t)forged_page[rt_below(r, forged_page_of_metadata)] * 4096 +
	       rt_below(r, 512) * 8;
}

static uint64_t forged_value(struct rt_random *r, uint64_t was)
{
	switch (rt_below(r, 9)) {
	case 0: return 0;
	case 1: return 1;
	case 2: return 4096;
	case 3: return ~(uint64_t)0;
	case 4: return (uint64_t)1 << 63;
	case 5: return (uintptr_t)forged;
	case 6: return (uintptr_t)forged->base + (rt_below(r, forged->bytes) & ~(uint64_t)7);
	case 7: return was ^ (uint64_t)1 << rt_below(r, 64);
	default: return rt_next(r);
	}
}

/* The same, a word that is not 0, as far as one is met soon. */
static size_t forged_somewhere_set(struct rt_random *r)
{
	size_t at = forged_somewhere(r);
	unsigned i;

	for (i = 0; i < 200 && *(const uint64_t *)(const void *)(forged_image + at) == 0; i++)
		at = forged_somewhere(r);
	return at;
}

static uint64_t forged_at, forged_was, forged_is; /* the word that was changed last */

/* True: what was changed may be the truth about some block. */
static bool forged_change(long fd, enum forged_kind kind, struct rt_random *r)
{
	const struct region *g = forged_region;
	size_t at = forged_somewhere(r), records = (size_t)(g->records - (char *)forged->base);
	size_t chunk = records + rt_below(r, g->chunks) * g->stride, i;
	bool truth = false;
	uint64_t word;
	char page[4096];

	switch (kind) {
	case FORGED_SHORTER:
		CHECK_EQ(arch_ftruncate(fd, (long)(1 + rt_below(r, forged->bytes - 1))), 0);
		return false;
	case FORGED_EMPTY:
		CHECK_EQ(arch_ftruncate(fd, 0), 0);
		return false;
	case FORGED_LONGER:
		CHECK_EQ(arch_ftruncate(fd, (long)1 << 30), 0);
		return false;
	case FORGED_PAGE:
		at -= at % 4096;
		for (i = 0; i < sizeof page; i += 8) {
			word = rt_next(r);
			memcpy(page + i, &word, 8);
		}
		if (at == 0)
			memcpy(page, forged_image, 16); /* magic and version stay */
		CHECK_EQ(arch_pwrite64(fd, page, sizeof page, (long)at), sizeof page);
		return at >= (size_t)(g->remote - (char *)forged->base);
	case FORGED_WORD_OF_STORE:
	case FORGED_VALUE_OF_STORE:
		at = forged_place(r, 16, sizeof(struct store) - 16);
		break;
	case FORGED_WORD_OF_REGION:
		at = forged_place(r, REGION_AT, sizeof(struct region));
		break;
	case FORGED_WORD_OF_BITS:
		i = (size_t)((char *)g->free - (char *)forged->base);
		at = forged_place(r, i, records - i);
		break;
	case FORGED_WORD_OF_OWNER:
		at = forged_place(r, RECORDS_AT + rt_below(r, 10) * RECORD_BYTES, sizeof(struct owner));
		break;
	case FORGED_WORD_OF_CHUNK:
		at = forged_place(r, chunk, sizeof(struct chunk));
		break;
	case FORGED_WORD_OF_SLAB:
		at = forged_place(r, chunk + sizeof(struct chunk) + rt_below(r, 64) * sizeof(struct slab),
				  offsetof(struct slab, hold));
		break;
	case FORGED_WORD_OF_INTENT:
		at = forged_place(r, RECORDS_AT + rt_below(r, 10) * RECORD_BYTES + (TRUTH_AT + offsetof(struct owner_truth, intents)),
				  sizeof(struct intent[INTENTS]));
		break;
	case FORGED_WORD_OF_NAMES:
		at = forged_own_word(r);
		break;
	case FORGED_WORD_OF_BINS:
		at = forged_place(r, RECORDS_AT + rt_below(r, 4) * RECORD_BYTES + offsetof(struct owner, notified),
				  sizeof(struct owner) - offsetof(struct owner, notified));
		break;
	case FORGED_TWO:
		truth = forged_change(fd, (enum forged_kind)(FORGED_ELSEWHERE + rt_below(r, 3)), r);
		/* fall through */
	case FORGED_ELSEWHERE:
	case FORGED_DELTA:
	case FORGED_ZERO:
		at = forged_somewhere_set(r);
		break;
	default:
		break;
	}
	forged_at = at;
	word = forged_was = forged_word(fd, at);
	if (kind == FORGED_BIT)
		word ^= (uint64_t)1 << rt_below(r, 64);
	else if (kind == FORGED_STEP)
		word += rt_below(r, 2) ? 2048 : (uint64_t)-2048;
	else if (kind == FORGED_WORD_OF_STORE)
		word = rt_next(r);
	else if (kind == FORGED_ELSEWHERE)
		word = *(const uint64_t *)(const void *)(forged_image + forged_somewhere_set(r));
	else if (kind == FORGED_DELTA)
		word += rt_below(r, 65) * 64 - 2048;
	else if (kind == FORGED_ZERO)
		word = 0;
	else
		word = forged_value(r, word);
	forged_is = word;
	CHECK_EQ(arch_pwrite64(fd, &word, 8, (long)at), 8);
	return truth | forged_is_truth(at);
}

#endif
