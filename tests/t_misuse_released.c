/* SPDX-License-Identifier: MIT */
/* Blocks that were released, in every state their memory can be in since. */
#include "misuse.h"

static void *released(struct bad *bad, char *p)
{
	size_t bytes = ash_usable_size(p);

	ash_release(p);
	bad_says(bad, p, bad->gone, bytes);
	return p;
}

MISUSE(released)
{
	released(bad, block_among(100));
}

/* The only block of its slab: the slab may be a spare by now. */
MISUSE(released_alone)
{
	released(bad, ash_alloc(100));
}

MISUSE(released_of_eight)
{
	released(bad, block_among(8));
}

MISUSE(released_of_zero_bytes)
{
	released(bad, block_among(0));
}

MISUSE(released_zalloc)
{
	CHECK(ash_alloc(60) != NULL);
	released(bad, ash_zalloc(6, 10));
}

MISUSE(released_aligned)
{
	CHECK(ash_aligned_alloc(4096, 100) != NULL);
	released(bad, ash_aligned_alloc(4096, 100));
}

MISUSE(released_by_resize)
{
	char *p = block_among(100);

	CHECK(ash_resize(p, 5000) != p);
	bad_says(bad, p, bad->gone, 112);
}

/* Empty slabs were given back, but a block of another class holds the chunk. */
MISUSE(slab_returned)
{
	char *p = ash_alloc(100);

	CHECK(ash_alloc(1000) != NULL);
	ash_release(p);
	ash_thread_detach();
	bad_says(bad, p, RETURNED, 0);
}

/* The chunk was given back, too, and waits for another use. */
MISUSE(chunk_returned)
{
	char *p = ash_alloc(100);

	ash_release(p);
	ash_thread_detach();
	bad_says(bad, p, RETURNED, 0);
}

/* The addresses as well. */
MISUSE(region_returned)
{
	char *p = ash_alloc(100);

	ash_release(p);
	ash_trim(0);
	bad_says(bad, p, FOREIGN, 0);
}

MISUSE(span_released)
{
	char *p = ash_alloc((size_t)5 << 20);

	ash_release(p);
	bad_says(bad, p, RETURNED, 0);
}

MISUSE(span_zalloc_released)
{
	char *p = ash_zalloc(5, (size_t)1 << 20);

	ash_release(p);
	bad_says(bad, p, RETURNED, 0);
}

MISUSE(span_aligned_released)
{
	char *p = ash_aligned_alloc((size_t)16 << 20, 100);

	ash_release(p);
	bad_says(bad, p, RETURNED, 0);
}

/* Purged, not unmapped: a span that stays holds the region. */
MISUSE(span_purged)
{
	char *p = ash_alloc((size_t)5 << 20);

	memset(p, 1, (size_t)5 << 20);
	CHECK(ash_alloc(100) != NULL);
	ash_release(p);
	ash_trim(1);
	bad_says(bad, p, RETURNED, 0);
}

MISUSE(span_unmapped)
{
	char *p = ash_alloc((size_t)50 << 20);

	ash_release(p);
	ash_trim(0);
	bad_says(bad, p, FOREIGN, 0);
}

/* What a span gave back when it shrank. */
MISUSE(span_shrunk)
{
	char *p = ash_alloc((size_t)9 << 20);

	CHECK(ash_resize(p, (size_t)3 << 20) == p);
	bad_says(bad, p + ((size_t)6 << 20), RETURNED, 0);
}

MISUSE(span_moved)
{
	char *p = ash_alloc((size_t)3 << 20), *q;

	q = ash_resize(p, (size_t)200 << 20);
	CHECK(q != NULL && q != p);
	bad_says(bad, p, RETURNED, 0);
}

/* Became a block of a slab. */
MISUSE(span_became_small)
{
	char *p = ash_alloc((size_t)3 << 20);

	CHECK(ash_resize(p, 1000) != p);
	bad_says(bad, p, RETURNED, 0);
}

/* A slab where a span was: the old pointer is inside memory of another kind. */
MISUSE(span_became_slabs)
{
	char *p = ash_alloc((size_t)2 << 20), *blocks[16];

	ash_release(p);
	for (int i = 0; i < 16; i++) {
		blocks[i] = ash_alloc(600000);
		CHECK(blocks[i] != NULL);
	}
	bad_says(bad, blocks[3] + 64, "interior pointer", ash_usable_size(blocks[3]));
}

/* ---- by several threads: the release that races is found when its bit is collected ---- */

enum order { BEFORE_COLLECTION, AFTER_COLLECTION };
enum culprit { THE_OWNER, ANOTHER, THE_SAME };

static void thread_release(void *p)
{
	ash_release(p);
}

static void use_release_by_thread(void *p)
{
	struct rt_thread *thread = rt_thread_start(thread_release, p);

	CHECK(thread != NULL);
	rt_thread_join(thread);
}

struct owner_thread {
	char *p;
	struct rt_barrier allocated, done;
};

static void owner_thread(void *argument)
{
	struct owner_thread *o = argument;

	o->p = block_among(100);
	rt_barrier_wait(&o->allocated);
	rt_barrier_wait(&o->done);
}

static void by_two_threads(enum order order, enum culprit culprit)
{
	struct bad bad = {.gone = "double free"};
	struct ash_stats st;

	if (culprit == THE_SAME) {
		/* The block is another thread's, which lives; we release it twice. */
		struct owner_thread o = {.allocated = {.count = 2}, .done = {.count = 2}};
		struct rt_thread *thread = rt_thread_start(owner_thread, &o);

		CHECK(thread != NULL);
		rt_barrier_wait(&o.allocated);
		released(&bad, o.p);
		misuse_expect("release", use_release, &bad);
		rt_barrier_wait(&o.done);
		rt_thread_join(thread);
		return;
	}
	bad_says(&bad, block_among(100), "double free", 112);
	use_release_by_thread(bad.p);
	if (order == AFTER_COLLECTION)
		ash_trim(SIZE_MAX); /* collects, and keeps all there is */
	ash_stats(&st);
	CHECK_EQ(st.pending, order == BEFORE_COLLECTION);
	misuse_expect("release", culprit == THE_OWNER ? use_release : use_release_by_thread, &bad);
	/* And the block can be had again: it was released once. */
	CHECK_EQ(ash_check(), 0);
}

TEST(misuse_other_thread_then_owner, 10)
{
	by_two_threads(BEFORE_COLLECTION, THE_OWNER);
}

TEST(misuse_other_thread_then_owner_collected, 10)
{
	by_two_threads(AFTER_COLLECTION, THE_OWNER);
}

TEST(misuse_other_thread_then_another, 10)
{
	by_two_threads(BEFORE_COLLECTION, ANOTHER);
}

TEST(misuse_other_thread_then_another_collected, 10)
{
	by_two_threads(AFTER_COLLECTION, ANOTHER);
}

TEST(misuse_other_thread_twice, 10)
{
	by_two_threads(BEFORE_COLLECTION, THE_SAME);
}

TEST(misuse_owner_then_another, 10)
{
	struct bad bad = {.gone = "double free"};

	released(&bad, block_among(100));
	misuse_expect("release", use_release_by_thread, &bad);
}

TEST(misuse_span_by_another, 10)
{
	struct bad bad;

	bad_says(&bad, ash_alloc((size_t)3 << 20), RETURNED, 0);
	use_release_by_thread(bad.p);
	misuse_expect("release", use_release, &bad);
	misuse_expect("release", use_release_by_thread, &bad);
}

/* ---- sizes ---- */

static size_t size_told;

static void use_size_told(void *p)
{
	ash_release_sized(p, size_told);
}

static void wrong_size(char *p, size_t size)
{
	struct bad bad;

	bad_says(&bad, p, "wrong size", ash_usable_size(p));
	size_told = size;
	misuse_expect("release_sized", use_size_told, &bad);
}

TEST(misuse_wrong_size, 10)
{
	wrong_size(ash_alloc(100), 113);
	wrong_size(ash_alloc(100), (size_t)1 << 20);
	wrong_size(ash_alloc(100), SIZE_MAX);
	wrong_size(ash_alloc(0), 9);
	wrong_size(ash_alloc((size_t)1 << 20), ((size_t)1 << 20) + 1);
	wrong_size(ash_alloc((size_t)5 << 20), ((size_t)5 << 20) + 1);
	wrong_size(ash_aligned_alloc(4096, 10), 4097);
}

TEST(misuse_right_sizes, 10)
{
	for (size_t size = 0; size < ((size_t)3 << 20); size += 1 + size / 5) {
		ash_release_sized(ash_alloc(size), size);
		ash_release_sized(ash_zalloc(1, size), size);
		ash_release_sized(ash_aligned_alloc(4096, size), size);
		ash_release_sized(ash_alloc(size), ash_good_size(size));
	}
	CHECK_EQ(ash_check(), 0);
}
