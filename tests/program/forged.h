/* SPDX-License-Identifier: MIT */
/*
 * Files that lie.  A heap in a file, with blocks of processes that lived on,
 * ended, detached and were killed; of its file a copy is changed in one place,
 * and a process of its own attaches to the copy, allocates, compares all blocks,
 * releases, walks, checks, recovers.  What may come of it:
 *
 *   refused      ash_heap_attach_file gives NULL
 *   told         ash_heap_check gives a number, or the one line of misuse
 *   unharmed     none of this, and every block is as it was
 *
 * and never a signal without that line, an address outside the heap, a block
 * that is given out again, or no end.  What no look can tell is left out of the
 * last but one: changed bits that say taken or free.
 */
#ifndef TESTS_PROGRAM_FORGED_H
#define TESTS_PROGRAM_FORGED_H

#include "ashlar_heap.h"
#include "rt.h"

#include "heaps/instance.h"
#include "thread/owner.h"
#include "backend/region.h"
#include "shm/store.h"
#include "syscall.h"

enum { FORGED_CAPACITY = 16 << 20, FORGED_BLOCKS = 300, FORGED_NEW = 200, FORGED_PAGES = 8192 };
enum { FORGED_SIGKILL = 9, FORGED_SIGILL = 4, FORGED_SIGALRM = 14, FORGED_PDEATHSIG = 1 };

struct forged_block {
	unsigned char *p;
	size_t size;
};

static struct forged {
	_Atomic unsigned count, settled;
	struct forged_block block[FORGED_BLOCKS + FORGED_NEW];
	struct store *base;
	size_t bytes, metadata;
} *forged;

static _Atomic unsigned *forged_attaching; /* told to the parent */
static int forged_source;
static const char *forged_image; /* the file, as it was */
static struct region *forged_region; /* in the image */
static uint32_t forged_page[FORGED_PAGES]; /* that is not all zero */
static size_t forged_pages, forged_page_of_metadata;

/* ---- the heap ---- */

static void forged_fill(const struct forged_block *b, unsigned key)
{
	size_t i;

	for (i = 0; i < b->size; i += i < 256 ? 1 : 1021)
		b->p[i] = (unsigned char)(key * 7 + i);
	b->p[b->size - 1] = (unsigned char)key;
}

static bool forged_holds(const struct forged_block *b, unsigned key)
{
	size_t i;

	for (i = 0; i < b->size - 1; i += i < 256 ? 1 : 1021)
		if (b->p[i] != (unsigned char)(key * 7 + i))
			return false;
	return b->p[b->size - 1] == (unsigned char)key;
}

static size_t forged_size(struct rt_random *r, unsigned n)
{
	return n % 60 == 59 ? ((size_t)1 << 20) + rt_below(r, 1 << 20)
	       : n % 10 == 9 ? 1 + rt_below(r, 60000)
			     : 1 + rt_below(r, 2000);
}

/* Some blocks stay, some were released meanwhile, by their process or by another. */
static void forged_work(ash_heap *h, uint64_t seed, unsigned blocks)
{
	struct rt_random r;
	unsigned i, k;

	rt_seed(&r, seed);
	for (i = 0; i < blocks; i++) {
		struct forged_block *b = &forged->block[forged->count];
		void *gone[3];

		for (k = 0; k < 3; k++)
			gone[k] = ash_heap_alloc(h, forged_size(&r, i + k + 1));
		b->size = forged_size(&r, i);
		b->p = ash_heap_alloc(h, b->size);
		CHECK(b->p != NULL);
		forged_fill(b, forged->count++);
		for (k = 0; k < 3; k++)
			ash_heap_release(h, gone[k]);
	}
	/* What another one allocated. */
	for (i = 0; i < 8 && forged->count > blocks; i++) {
		unsigned at = (unsigned)rt_below(&r, forged->count - blocks);
		struct forged_block *b = &forged->block[at];

		ash_heap_release(h, b->p);
		*b = forged->block[--forged->count];
		forged_fill(b, at);
	}
}

enum forged_end { FORGED_DETACHES, FORGED_ENDS, FORGED_IS_KILLED, FORGED_ENDS_KINDS };

static void forged_worker(unsigned n, uint64_t seed)
{
	enum forged_end how = (enum forged_end)(n % FORGED_ENDS_KINDS);
	unsigned before = forged->settled;
	long pid = rt_fork();

	if (pid == 0) {
		ash_heap *h = ash_heap_attach_file(forged_source, NULL);

		CHECK(h != NULL);
		forged_work(h, seed + n, 40);
		if (how == FORGED_DETACHES)
			ash_heap_thread_detach(h);
		forged->settled++;
		while (how == FORGED_IS_KILLED)
			ash_heap_release(h, ash_heap_alloc(h, 300));
		rt_exit(0);
	}
	while (forged->settled == before)
		rt_yield();
	if (how == FORGED_IS_KILLED)
		rt_kill(pid, FORGED_SIGKILL);
	(void)rt_wait(pid);
}

static void forged_note_pages(void)
{
	static const char none[4096];
	size_t page;

	forged_pages = 0;
	for (page = 0; page < forged->bytes / 4096; page++) {
		if (page * 4096 == forged->metadata)
			forged_page_of_metadata = forged_pages;
		if (memcmp(forged_image + page * 4096, none, 4096) == 0)
			continue;
		CHECK(forged_pages < FORGED_PAGES);
		forged_page[forged_pages++] = (uint32_t)page;
	}
}

static void forged_make(uint64_t seed)
{
	struct store *s;
	unsigned n;
	long at = arch_mmap(NULL, sizeof *forged, 3, 0x21, -1, 0), pid;

	CHECK(at > 0);
	forged = (struct forged *)at; /* NOLINT: the kernel's word is an address */
	forged_source = (int)arch_memfd_create("forged", 0);
	pid = rt_fork();
	if (pid == 0) {
		ash_heap *h = ash_heap_create_file(forged_source, FORGED_CAPACITY, NULL);

		CHECK(h != NULL);
		forged->base = s = store_of(heap_of(h));
		forged->bytes = s->bytes;
		forged->metadata = (size_t)(s->heap.regions->base - (char *)s);
		rt_exit(0);
	}
	CHECK_EQ(rt_wait(pid), 0);
	for (n = 0; n < 7; n++)
		forged_worker(n, seed);
	at = arch_mmap(NULL, forged->bytes, 1, 0x01, forged_source, 0);
	CHECK(at > 0);
	forged_image = (const char *)at; /* NOLINT: the kernel's word is an address */
	forged_region = (struct region *)(uintptr_t)(forged_image + REGION_AT);
	forged_note_pages();
	/* From here on each process has its own: what a broken heap writes stays in there. */
	forged_attaching = &forged->settled;
	at = arch_mmap(NULL, sizeof *forged, 3, 0x22, -1, 0);
	CHECK(at > 0);
	memcpy((void *)at, forged, sizeof *forged); /* NOLINT: the kernel's word is an address */
	forged = (struct forged *)at;		    /* NOLINT */
}

/* ---- a copy, changed ---- */

enum forged_kind {
	FORGED_BIT,
	FORGED_WORD_OF_STORE,
	FORGED_VALUE_OF_STORE,
	FORGED_SHORTER,
	FORGED_EMPTY,
	FORGED_LONGER,
	FORGED_PAGE,
	FORGED_WORD_OF_REGION,
	FORGED_STEP,
	FORGED_WORD_OF_OWNER,
	FORGED_WORD_OF_CHUNK,
	FORGED_WORD_OF_SLAB,
	FORGED_KINDS
};

static const char *const forged_names[FORGED_KINDS] = {
	"bit of the metadata", "word of the store, random", "... 0, 1, 4096, -1, 2^63, an address",
	"cut short",	       "empty",			    "longer",
	"page of the metadata, random", "word of the region", "word of the metadata +- 2048",
	"word of an owner's record", "word of a chunk's record", "word of a slab's record",
};

static long forged_copy(void)
{
	long fd = arch_memfd_create("copy", 0);
	size_t i;

	CHECK(fd >= 0);
	CHECK_EQ(arch_ftruncate(fd, (long)forged->bytes), 0);
	for (i = 0; i < forged_pages; i++)
		CHECK_EQ(arch_pwrite64(fd, forged_image + (size_t)forged_page[i] * 4096, 4096,
				       (long)forged_page[i] * 4096),
			 4096);
	return fd;
}

/* What cannot be told from what may be: the bits of slots, of their tags, whose a slot in flight is. */
static bool forged_is_truth(size_t at)
{
	const struct region *r = forged_region;
	size_t records = (size_t)(r->records - (char *)forged->base), inner;
	size_t remote = (size_t)(r->remote - (char *)forged->base);
	size_t free = (size_t)((char *)r->free - (char *)forged->base);

	if (at >= remote || (at >= free && at < records))
		return true;
	if (at >= RECORDS_AT && at < REGION_AT)
		return (at - RECORDS_AT) % OWNER_BYTES == offsetof(struct owner, flight);
	if (at < records)
		return false;
	inner = (at - records) % r->stride;
	if (inner < sizeof(struct chunk))
		return inner / 8 * 8 == offsetof(struct chunk, units) || inner == 0;
	inner = (inner - sizeof(struct chunk)) % sizeof(struct slab);
	return inner >= offsetof(struct slab, free);
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

static uint64_t forged_at, forged_was, forged_is; /* the word that was changed last */

/* True: what was changed may be the truth about some block. */
static bool forged_change(long fd, enum forged_kind kind, struct rt_random *r)
{
	const struct region *g = forged_region;
	size_t at = forged_somewhere(r), records = (size_t)(g->records - (char *)forged->base);
	size_t chunk = records + rt_below(r, g->chunks) * g->stride, i;
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
	case FORGED_WORD_OF_OWNER:
		at = forged_place(r, RECORDS_AT + rt_below(r, 10) * OWNER_BYTES, sizeof(struct owner));
		break;
	case FORGED_WORD_OF_CHUNK:
		at = forged_place(r, chunk, sizeof(struct chunk));
		break;
	case FORGED_WORD_OF_SLAB:
		at = forged_place(r, chunk + sizeof(struct chunk) + rt_below(r, 64) * sizeof(struct slab),
				  offsetof(struct slab, free));
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
	else
		word = forged_value(r, word);
	forged_is = word;
	CHECK_EQ(arch_pwrite64(fd, &word, 8, (long)at), 8);
	return forged_is_truth(at);
}

/* ---- what comes of it ---- */

enum forged_outcome {
	OUT_UNHARMED,
	OUT_REFUSED,
	OUT_NO_MEMORY,
	OUT_CHECK,
	OUT_LINE,
	OUT_DAMAGED,
	OUT_TWICE,
	OUT_OUTSIDE,
	OUT_SIGNAL,
	OUT_IN_ATTACH,
	OUT_NO_END,
	OUTCOMES
};

static const char *const forged_outcomes[OUTCOMES] = {
	"unharmed", "refused", "no memory", "check", "line", "damaged",
	"twice",    "outside", "signal",    "in attach", "no end",
};

static bool forged_overlap(const struct forged_block *a, const struct forged_block *b)
{
	return a->p < b->p + b->size && b->p < a->p + a->size;
}

static int forged_seen(void *context, void *p, size_t size, const struct ash_heap_owner *owner)
{
	size_t at = (size_t)((char *)p - (char *)forged->base);

	(void)owner;
	*(bool *)context |= at >= forged->bytes || size > forged->bytes - at;
	return 0;
}

static void forged_attacher(void *fd)
{
	enum forged_outcome out = OUT_UNHARMED;
	enum ash_attach why;
	unsigned i, k, old = forged->count, all = old;
	bool outside = false;
	struct rt_random r;
	ash_heap *h;

	rt_timer(20000000);
	*forged_attaching = 1;
	h = ash_heap_attach_file((int)(long)fd, &why);
	*forged_attaching = 0;
	if (h == NULL)
		rt_exit(why == ASH_ATTACH_NO_HEAP || why == ASH_ATTACH_UNFINISHED ? OUT_REFUSED
										    : OUT_NO_MEMORY);
	rt_seed(&r, 77);
	for (i = 0; i < FORGED_NEW; i++) {
		struct forged_block *b = &forged->block[all];

		b->size = forged_size(&r, i);
		b->p = ash_heap_alloc(h, b->size);
		if (b->p == NULL)
			continue;
		(void)forged_seen(&outside, b->p, b->size, NULL);
		if (outside)
			rt_exit(OUT_OUTSIDE);
		for (k = 0; k < all; k++)
			if (forged_overlap(b, &forged->block[k]))
				rt_exit(OUT_TWICE);
		forged_fill(b, all++);
	}
	for (i = 0; i < all; i++)
		if (!forged_holds(&forged->block[i], i))
			rt_exit(OUT_DAMAGED);
	for (i = 0; i < all; i += 2)
		ash_heap_release(h, forged->block[i].p);
	(void)ash_heap_walk(h, forged_seen, &outside);
	if (outside)
		out = OUT_OUTSIDE;
	else if (ash_heap_check(h) != 0)
		out = OUT_CHECK;
	(void)ash_heap_recover(h);
	(void)ash_heap_trim(h, 0);
	for (i = 1; i < all; i += 2)
		ash_heap_release(h, forged->block[i].p);
	ash_heap_destroy(h);
	rt_exit((int)out);
}

static enum forged_outcome forged_try(enum forged_kind kind, struct rt_random *r, bool *truth)
{
	long fd = forged_copy();
	char text[512];
	int status;

	*truth = forged_change(fd, kind, r);
	*forged_attaching = 0;
	status = rt_run_child(forged_attacher, (void *)fd, text, sizeof text); /* NOLINT */
	arch_close(fd);
	if (status < OUTCOMES)
		return (enum forged_outcome)status;
	if (status == 1000 + FORGED_SIGALRM)
		return OUT_NO_END;
	if (status == 1000 + FORGED_SIGILL && rt_strstr(text, "ashlar: ") == text &&
	    *forged_attaching == 0)
		return OUT_LINE;
	return *forged_attaching != 0 ? OUT_IN_ATTACH : OUT_SIGNAL;
}

/* So many of each kind; prints the table. */
static void forged_all(uint64_t seed, unsigned each)
{
	static unsigned table[FORGED_KINDS][OUTCOMES], truths[OUTCOMES];
	unsigned kind, i, k, bad = 0;

	forged_make(seed);
	for (kind = 0; kind < FORGED_KINDS; kind++)
		for (i = 0; i < each; i++) {
			struct rt_random r;
			enum forged_outcome out;
			bool truth;

			rt_seed(&r, seed * 1000003 + kind * 100000 + i);
			out = forged_try((enum forged_kind)kind, &r, &truth);
			if (truth && (out == OUT_TWICE || out == OUT_DAMAGED)) {
				truths[out]++;
				continue;
			}
			table[kind][out]++;
			if (out >= OUT_DAMAGED) {
				bad++;
				rt_print("     %s, number %u: %s; 0x%lx: 0x%lx is 0x%lx\n",
					 forged_names[kind], i, forged_outcomes[out], forged_at,
					 forged_was, forged_is);
			}
		}
	rt_print("     %38s", "");
	for (k = 0; k < OUTCOMES; k++)
		rt_print(" %9s", forged_outcomes[k]);
	rt_print("\n");
	for (kind = 0; kind < FORGED_KINDS; kind++) {
		rt_print("     %38s", forged_names[kind]);
		for (k = 0; k < OUTCOMES; k++)
			rt_print(" %9u", table[kind][k]);
		rt_print("\n");
	}
	rt_print("     bits that say taken or free: %u given out twice, %u damaged\n",
		 truths[OUT_TWICE], truths[OUT_DAMAGED]);
	CHECK_EQ(bad, 0);
}

#endif
