/* SPDX-License-Identifier: MIT */
#include "store/file/open.h"

#include "store/process/mapping.h"
#include "memory.h"
#include "pages.h"
#include "panic.h"
#include "process.h"
#include "store/process/share.h"
#include "store/file/image.h"
#include "store/file/store.h"
#include "store/recover/block_tags.h"
#include "store/recover/builders.h"
#include "store/recover/census.h"

/* ---- the attached processes ---- */

/* Returns the value of store.unlisted in this run of the system. */
static uint64_t unlisted_now(void)
{
	return boot_number() | 1;
}

/* Returns whether another process of the census lives, and may have the file `mine` mapped at the heap's address. */
static bool others_live(const struct store *s, uint64_t mine)
{
	uint64_t life, id, there;
	unsigned i;

	for (i = 0; i < CENSUS_LAST; i++) {
		life = load_seq_cst(&s->census[i]); /* pairs with renew_enter */
		id = LIFE_ID(life);
		if (life == 0 || (life & CENSUS_OVER) != 0 || id == process_number() || lives_process_is_over(s, life))
			continue;
		there = mapping_at(id, id, (uintptr_t)s);
		if (mine == MAPPING_UNKNOWN || there == mine ||
		    (there == MAPPING_UNKNOWN && !lives_process_is_over(s, life)))
			return true;
	}
	return false;
}

static bool others_are_there(const struct store *s)
{
	uint64_t mine = mapping_at(process_thread(), process_thread(), (uintptr_t)s);
	uint64_t unlisted = load_acquire(&s->unlisted); /* pairs with renew_enter */

	/* If /proc cannot be read, 1 is the number of each start. */
	return mine <= MAPPING_NONE || unlisted == 1 || unlisted == unlisted_now() || others_live(s, mine);
}

bool renew_is_torn(const struct store *s, uint64_t file)
{
	return load_acquire(&s->file) != file && others_live(s, MAPPING_UNKNOWN); /* pairs with reattach */
}

bool renew_enter(struct store *s)
{
	/* Both use read-modify-writes, which have a single order: pairs with the exchange in renew. */
	if (census_join(s) == TAG_UNKNOWN)
		(void)exchange_seq_cst(&s->unlisted, unlisted_now());
	return fetch_or_seq_cst(&s->caches, 0) == store_caches();
}

void renew_check(struct store *s)
{
	static const char line[] = "ashlar: heap in a file: another build of the library has taken it over\n";

	(void)census_mine(s, NULL); /* first: see open.h */
	if (load_seq_cst(&s->caches) != store_caches()) /* pairs with the exchange in renew */
		panic_line(line, sizeof line - 1);
}

/* ---- rebuilding the caches: no other thread reads or writes them ---- */

/* The truth excludes the members of the heap from `locked` to `root` and all behind the options. */
#define RENEWED_AT (offsetof(struct store, heap) + offsetof(struct heap, slab_chunks))

static void renew_head(struct store *s, size_t n)
{
	struct heap *h = &s->heap;
	struct owner *o;
	size_t i;

	memset(&h->both, 0, offsetof(struct heap, root) - offsetof(struct heap, both));
	memset((char *)s + RENEWED_AT, 0, PAGE_LEAST - RENEWED_AT);
	memset(store_stranger(s, 0), 0, STRANGERS * sizeof(struct stranger));
	store_set(s, s, n);
	h->running = h->locked = 0;
	h->unowned_made = 1; /* unowned slabs may exist, */
	s->deaths = 1;	     /* and memory that is lost */
	h->owners = NULL;
	for (i = 0; i < s->records_used; i++) {
		o = store_record(s, i);
		memset(o, 0, TRUTH_AT);
		o->heap = h;
		o->next = h->owners;
		h->owners = o;
		store_owner_made(o);
	}
	h->owner_count = i;
}

static void renew_region(struct store *s, size_t n)
{
	struct region *r = s->heap.regions;
	size_t chunks = r->chunks;

	store_set_region(r, s, n);
	r->chunks = chunks;
	r->part = 0; /* the first walk counts chunks here, see chunk_mend */
	memset(r->room, 0, r->part_words * ROOM_PARTS * sizeof *r->room);
	memset(r->advice, 0, n);
}

/* Sets the owner's words to those of a slab without a known group. */
static void renew_slab(struct slab *s)
{
	s->all_free = 0;
	s->next = s->previous = NULL;
	s->ready = 0;
	s->dirty = true;
	s->spare = s->purged = 0;
	s->hold = SLAB_IDLE;
}

/* Returns whether the record was never set.  Such a record may lie in a hole, and must not be touched. */
static bool was_never_set(const struct slab *s)
{
	const uint64_t *words = (const uint64_t *)(const void *)s;
	uint64_t any = 0;
	size_t i;

	for (i = 0; i < sizeof *s / sizeof *words; i++)
		any |= words[i];
	return any == 0;
}

/* Returns false if the file ends before.  `there` is a buffer for reads. */
static bool renew_slabs(struct store *s, int fd, struct image_chunk *there)
{
	struct region *r = s->heap.regions;
	size_t i, k;

	for (i = region_next_known(r, 0); i < r->chunks; i = region_next_known(r, i + 1)) {
		char *c = (char *)region_chunk(r, i);

		if (share_read(fd, there, sizeof *there, (size_t)(c - (char *)s)) != sizeof *there)
			return false;
		if (there->chunk.kind == CHUNK_SPAN) /* made by a CPU with smaller pages: a little more becomes usable */
			region_chunk(r, i)->span_bytes = (there->chunk.span_bytes + PAGE_MOST - 1) & ~(PAGE_MOST - 1);
		else /* remains of an earlier span */
			region_chunk(r, i)->span_chunks = 0;
		for (k = 0; k < CHUNK_RECORDS; k++)
			if (!was_never_set(&there->slab[k]))
				renew_slab((struct slab *)(void *)(c + sizeof(struct chunk)) + k);
	}
	return true;
}

static bool renew_all(struct store *s, int fd)
{
	size_t n = s->heap.own.cap >> CHUNK_SHIFT;
	size_t bytes = (sizeof(struct image_chunk) + PAGE_MOST - 1) & ~(PAGE_MOST - 1);
	struct image_chunk *there = pages_reserve(bytes, PAGE_LEAST, PAGES_PRIVATE);
	bool done;

	if (there == NULL)
		return false;
	renew_head(s, n);
	renew_region(s, n);
	done = renew_slabs(s, fd, there);
	(void)pages_release(there, bytes);
	return done;
}

enum ash_attach renew(struct store *s, int fd)
{
	uint64_t me = lives_thread(&s->heap), who = load_acquire(&s->renewer), was;
	enum ash_attach why = ASH_ATTACH_OTHERS;

	/* Before any write, so that the following steps only find processes that came since. */
	if (me == 0 || others_are_there(s))
		return ASH_ATTACH_OTHERS;
	/* The renewer may be this thread, interrupted by a signal handler.  Pairs with the release below. */
	if (who == me || (who != 0 && !lives_thread_is_over(s, who)) || !cas_acq_rel(&s->renewer, &who, me))
		return ASH_ATTACH_UNFINISHED;
	was = exchange_seq_cst(&s->caches, CACHES_NONE); /* pairs with renew_enter */
	if (was != store_caches() && !others_are_there(s)) {
		why = seal_break(s) && renew_all(s, fd) ? ASH_ATTACHED : ASH_ATTACH_NO_MEMORY;
		was = why == ASH_ATTACHED ? store_caches() : CACHES_NONE;
	}
	(void)exchange_seq_cst(&s->caches, was);
	store_release(&s->renewer, 0); /* pairs with the load of the next renewer */
	return why;
}
