/* SPDX-License-Identifier: MIT */
/* The heap in a file whose copies are forged, and the blocks that are in it: see forged.h. */
#ifndef TESTS_STORE_PROGRAM_FORGED_HEAP_H
#define TESTS_STORE_PROGRAM_FORGED_HEAP_H

#include "ashlar_heap.h"
#include "rt.h"

#include "backend/region.h"
#include "heaps/instance.h"
#include "store/file/store.h"
#include "syscall.h"
#include "thread/owner.h"

enum { FORGED_CAPACITY = 16 << 20, FORGED_BLOCKS = 300, FORGED_NEW = 200, FORGED_PAGES = 8192 };
enum { FORGED_SIGKILL = 9, FORGED_SIGABRT = 6, FORGED_SIGALRM = 14, FORGED_PDEATHSIG = 1 };
/* Ends what hangs, is no criterion: one attacher takes milliseconds, and seconds under QEMU beside others. */
enum { FORGED_SECONDS = 600 };

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
		b->p = NOT_NULL(ash_heap_alloc(h, b->size));
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

/* Slots, names, tags: some stay, and a process may be killed in the middle of a change. */
enum { FORGED_SLOTS = 16 };

static void forged_publish(ash_heap *h, uint64_t seed, unsigned rounds)
{
	struct rt_random r;
	char name[16];
	void *slot, *p;

	rt_seed(&r, seed);
	while (rounds-- > 0) {
		(void)rt_format(name, sizeof name, "slot %u", (unsigned)rt_below(&r, FORGED_SLOTS));
		slot = ash_heap_slot(h, name, NULL);
		if (slot == NULL)
			continue;
		p = ash_heap_draft_tagged(h, forged_size(&r, rounds), (unsigned char)rounds);
		if (p != NULL && ash_heap_replace(h, slot, ash_heap_load(h, slot), p) != ASH_SLOT_DONE)
			ash_heap_release(h, p);
		if (rounds % 5 == 0)
			(void)ash_heap_release_from(h, slot);
	}
}

static void forged_worker(unsigned n, uint64_t seed)
{
	enum forged_end how = (enum forged_end)(n % FORGED_ENDS_KINDS);
	unsigned before = forged->settled;
	long pid = rt_fork();

	if (pid == 0) {
		ash_heap *h = NOT_NULL(ash_heap_attach_file(forged_source, NULL));

		forged_work(h, seed + n, 40);
		forged_publish(h, seed + n, 40);
		if (how == FORGED_DETACHES)
			ash_heap_thread_detach(h);
		forged->settled++;
		while (how == FORGED_IS_KILLED)
			forged_publish(h, seed, 10);
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

/* How the last process left the file: what it had is recovered by the first one that attaches to a copy. */
enum forged_left { FORGED_LEFT_BY_DETACH, FORGED_LEFT_BY_KILL, FORGED_LEFT };

static void forged_make(uint64_t seed, enum forged_left left)
{
	struct store *s;
	unsigned n;
	void *own;
	long at;

	forged = NOT_NULL(rt_map_shared(sizeof *forged));
	forged_source = (int)arch_memfd_create("forged", 0);
	IN_CHILD {
		ash_heap *h = NOT_NULL(ash_heap_create_file(forged_source, FORGED_CAPACITY, NULL));

		forged->base = s = store_of(heap_of(h));
		forged->bytes = s->bytes;
		forged->metadata = (size_t)(s->heap.regions->base - (char *)s);
	}
	for (n = 0; n < (left == FORGED_LEFT_BY_KILL ? 9 : 7); n++)
		forged_worker(n, seed);
	at = arch_mmap(NULL, forged->bytes, 1, 0x01, forged_source, 0);
	CHECK(at > 0);
	forged_image = (const char *)at; /* NOLINT: the kernel's word is an address */
	forged_region = (struct region *)(uintptr_t)(forged_image + REGION_AT);
	forged_note_pages();
	/* From here on each process has its own: what a broken heap writes stays in there. */
	forged_attaching = &forged->settled;
	own = NOT_NULL(rt_map(sizeof *forged));
	forged = memcpy(own, forged, sizeof *forged);
}

#endif
