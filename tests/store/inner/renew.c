/* SPDX-License-Identifier: MIT */
/*
 * A file of another build (store/file/open.h): all that is not the truth is junk, and has another number.  The next
 * process that attaches finds each block; beside a living process, or one that rebuilds the caches, it is refused.
 */
#include "store/file/open.h"

#include "heaps/instance.h"
#include "store/inner/caches.h"
#include "kernel.h"
#include "store/process/mapping.h"
#include "process.h"
#include "store/recover/census.h"
#include "support/blocks.h"

enum { CAPACITY = 24 << 20, BLOCKS = 3000, OTHER = 0x5b5b5b };

struct kept {
	unsigned char *p[BLOCKS]; /* NULL: released */
	size_t size[BLOCKS];
	uint64_t id, root;
	size_t bytes, own;
};

static struct kept *kept;
static int fd;

static size_t size_of(struct rt_random *r)
{
	static const size_t most[] = {64, 1000, 30000, 200000};

	return 1 + rt_below(r, most[rt_below(r, 200) == 0 ? 3 : rt_below(r, 20) == 0 ? 2 : rt_below(r, 2)]);
}

/* A process works and dies with drafts, a slot in flight, names, tags and a record that was never left. */
static void fill(void)
{
	struct rt_random r;
	ash_heap *heap = NOT_NULL(ash_heap_create_file(fd, CAPACITY, NULL));
	unsigned i;

	rt_seed(&r, 11);
	for (i = 0; i < BLOCKS; i++) {
		kept->size[i] = size_of(&r);
		kept->p[i] = i % 7 == 0 ? ash_heap_alloc_tagged(heap, kept->size[i], 33) : ash_heap_alloc(heap, kept->size[i]);
		memset(NOT_NULL(kept->p[i]), (int)i, kept->size[i]);
	}
	kept->p[0] = ash_heap_resize(heap, kept->p[0], 3 << 20); /* a span */
	memset(NOT_NULL(kept->p[0]), 0, kept->size[0] = 3 << 20);
	for (i = 1; i < BLOCKS; i += 3) {
		ash_heap_release(heap, kept->p[i]);
		kept->p[i] = NULL;
	}
	CHECK(ash_heap_draft(heap, 100) != NULL && ash_heap_draft(heap, 40000) != NULL);
	ash_heap_set_root(heap, kept->p[2]);
	kept->root = (uint64_t)(uintptr_t)kept->p[2];
	kept->id = heap_of(heap)->id;
	kept->bytes = store_of(heap_of(heap))->bytes;
	/* Recovery gives it back: it was just being handed out. */
	truth_of(heap_of(heap)->owners)->flight = (uint64_t)(uintptr_t)kept->p[5];
}

static void make(void)
{
	if (kept == NULL)
		kept = rt_map_shared(sizeof *kept);
	fd = (int)arch_memfd_create("heap", 0);
	IN_CHILD {
		fill();
		arch_exit_group(0);
	}
}

/* Overwrites all that is not the truth; the number is another one. */
static void becomes_anothers(uint64_t seed)
{
	struct rt_random random;

	rt_seed(&random, seed);
	caches_overwrite(fd, kept->bytes, &random, OTHER);
}

static size_t met;

static int meet(UNUSED void *context, void *block, size_t size, const struct ash_heap_owner *owner)
{
	unsigned i = *(unsigned char *)block;

	while (i < BLOCKS && kept->p[i] != block)
		i += 256;
	CHECK(i < BLOCKS && size >= kept->size[i] && owner->id == 1 && !owner->live && i != 5);
	CHECK_EQ(owner->tag, i % 7 == 0 ? 33 : 0);
	CHECK(((unsigned char *)block)[kept->size[i] - 1] == (unsigned char)i);
	met++;
	return 0;
}

/* Of slab records, whether they have a slab or not, nothing is left that says that memory reads zero, or is held. */
static void slabs_are_new(struct heap *h)
{
	const struct region *r = region_first(h);
	size_t i, k;

	for (i = region_next_known(r, 0); i < r->chunks; i = region_next_known(r, i + 1))
		for (k = 0; k < CHUNK_RECORDS; k++) {
			const struct slab *s = (const struct slab *)(const void *)(region_chunk(r, i) + 1) + k;

			CHECK(s->purged == 0 && s->hold <= SLAB_IN_USE && s->ready >> s->groups == 0);
		}
}

/* The heap has the blocks that were kept, and no others, and works. */
static void is_whole(ash_heap *heap)
{
	struct ash_statistics st;
	size_t there = 0;
	unsigned i;

	slabs_are_new(heap_of(heap));
	CHECK_EQ(ash_heap_check(heap), 0);
	ash_heap_stats(heap, &st);
	peaks_hold(&st); /* of what was found */
	CHECK(heap_of(heap)->id == kept->id && (uint64_t)(uintptr_t)ash_heap_root(heap) == kept->root);
	met = 0;
	CHECK_EQ(ash_heap_walk(heap, meet, NULL), 0);
	for (i = 0; i < BLOCKS; i++)
		there += kept->p[i] != NULL && i != 5;
	CHECK_EQ(met, there);
	for (i = 0; i < 20000; i++)
		ash_heap_release(heap, NOT_NULL(ash_heap_alloc(heap, 1 + i % 3000)));
	for (i = 0; i < BLOCKS; i++)
		if (kept->p[i] != NULL && i != 5)
			ash_heap_release(heap, kept->p[i]);
	(void)ash_heap_trim(heap, 0);
	CHECK_EQ(ash_heap_check(heap), 0);
	ash_heap_stats(heap, &st);
	/* Left are the heap's own: what the tags are in.  As many as in a file that was not overwritten. */
	if (kept->own == 0)
		kept->own = st.blocks;
	CHECK_EQ(st.blocks, kept->own);
	for (i = 0; i < BLOCKS; i++)
		CHECK(ash_heap_alloc(heap, kept->size[i]) != NULL);
}

static ash_heap *attached(enum ash_attach expected)
{
	enum ash_attach why = ASH_ATTACHED;
	ash_heap *heap = ash_heap_attach_file(fd, &why);

	CHECK_EQ(why, expected);
	CHECK((heap != NULL) == (why == ASH_ATTACHED));
	return heap;
}

static bool may_read_mappings(void)
{
	const char *at = (const char *)((uintptr_t)may_read_mappings & ~(uintptr_t)4095);

	return at != NULL && life_of_process() != 0 && boot_number() != 0;
}

TEST(renew_of_junk, 20)
{
	unsigned seed;

	for (seed = 0; seed < 6; seed++) {
		make();
		if (seed > 0) /* else the same without another build */
			becomes_anothers(seed);
		IN_CHILD
			is_whole(attached(ASH_ATTACHED));
	}
}

/* The unit that a slab of 8000 bytes would have is taken away, as by a process that died while it took it. */
TEST(renew_finds_lost_memory, 10)
{
	struct region here = {0};
	struct store *s;
	struct chunk *c = NULL;
	size_t i;

	make();
	s = NOT_NULL(share_map_anywhere(fd, kept->bytes, true));
	store_set_region(&here, s, CAPACITY >> CHUNK_SHIFT);
	for (i = 0; i < here.chunks; i++)
		if (bits_all(here.known, i, 1) && region_chunk(&here, i)->kind == CHUNK_SLABS &&
		    region_chunk(&here, i)->units != 0)
			c = region_chunk(&here, i);
	NOT_NULL(c)->units &= c->units - 1;
	becomes_anothers(9);
	IN_CHILD {
		CHECK(attached(ASH_ATTACHED) != NULL);
		for (i = 0; i < CHUNK_UNITS; i++)
			CHECK((c->units >> i & 1) != 0 || c->head[i] != 0 || c->kind == CHUNK_FREE);
	}
}

/* As by another build that died in the middle of it, and by one whose process lives. */
TEST(renew_again, 10)
{
	struct store *s;

	make();
	becomes_anothers(7);
	s = NOT_NULL(share_map_anywhere(fd, kept->bytes, true));
	s->caches = CACHES_NONE;
	s->renewer = life_of_thread();
	if (s->renewer == 0)
		rt_skip("no /proc");
	IN_CHILD
		CHECK(attached(ASH_ATTACH_UNFINISHED) == NULL);
	IN_CHILD {
		s->renewer = life_of_thread();
		rt_exit(0);
	}
	IN_CHILD
		is_whole(attached(ASH_ATTACHED));
	CHECK(s->renewer == 0 && s->caches == store_caches());
}

static void stays(UNUSED void *argument)
{
	for (rt_end_with_parent();;)
		rt_sleep(1000000);
}

/* Beside a process that has attached, and has called nothing since; then that has ended. */
static void beside_the_living(bool unread)
{
	_Atomic bool *there = rt_map_shared(4096);
	struct store *s;
	long pid;

	make();
	if (!may_read_mappings() || (unread && rt_under_qemu()))
		rt_skip("no /proc, or QEMU ends the process with its first thread");
	s = NOT_NULL(share_map_anywhere(fd, kept->bytes, true));
	pid = CHILD({
		CHECK(attached(ASH_ATTACHED) != NULL && (!unread || rt_thread_start(stays, NULL) != NULL));
		*there = true;
		while (unread)
			arch_exit(0); /* this thread only: /proc shows no mappings of such a process */
		stays(NULL);
	});
	while (!*there || (mapping_at((uint64_t)pid, (uint64_t)pid, 0) == MAPPING_UNKNOWN) != unread)
		rt_yield();
	s->caches = OTHER;
	IN_CHILD
		CHECK(attached(ASH_ATTACH_OTHERS) == NULL);
	s->file++; /* as in a copy */
	IN_CHILD
		CHECK(attached(ASH_ATTACH_TORN) == NULL);
	CHECK(s->caches == OTHER && s->renewer == 0);
	rt_kill(pid, SIGKILL);
	(void)rt_wait(pid);
	becomes_anothers(3);
	IN_CHILD
		is_whole(attached(ASH_ATTACHED));
}

TEST_CALL(renew_beside_the_living, 10, beside_the_living(false));
TEST_CALL(renew_beside_one_whose_mappings_are_hidden, 10, beside_the_living(true));

/* A process that the census has no room for may be there until the system starts again. */
TEST(renew_beside_the_unlisted, 10)
{
	struct store *s;

	make();
	becomes_anothers(4);
	if (!may_read_mappings())
		rt_skip("no /proc");
	s = NOT_NULL(share_map_anywhere(fd, kept->bytes, true));
	s->unlisted = boot_number() | 1;
	IN_CHILD
		CHECK(attached(ASH_ATTACH_OTHERS) == NULL);
	s->unlisted ^= 2;
	IN_CHILD
		is_whole(attached(ASH_ATTACHED));
}

static ash_heap *parents;

static void uses_the_parents(UNUSED void *argument)
{
	(void)ash_heap_alloc(parents, 100);
}

/* A child of fork that first calls when another build has the file is stopped. */
TEST(renew_before_a_child_calls, 10)
{
	char text[256];

	fd = (int)arch_memfd_create("heap", 0);
	parents = NOT_NULL(ash_heap_create_file(fd, CAPACITY, NULL));
	store_of(heap_of(parents))->caches = OTHER;
	CHECK(rt_run_child(uses_the_parents, NULL, text, sizeof text) > 1000);
	CHECK(rt_strstr(text, "another build") != NULL);
}
