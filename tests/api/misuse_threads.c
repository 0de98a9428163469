/* SPDX-License-Identifier: MIT */
/* Blocks released twice by several threads, and sizes that cannot be. */
/* promises: ash_release, ash_release_sized */
#include "support/blocks.h"
#include "support/misuse.h"

/* ---- by several threads: the release that races is found when its bit is collected ---- */

enum order { BEFORE_COLLECTION, AFTER_COLLECTION };
enum culprit { THE_OWNER, ANOTHER, THE_SAME };

USE(use_release_by_thread, p, rt_in_thread(ash_release, p));

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

	if (culprit == THE_SAME) {
		/* The block is another thread's, which lives; we release it twice. */
		struct owner_thread o = {.allocated = {.count = 2}, .done = {.count = 2}};
		struct rt_thread *thread = NOT_NULL(rt_thread_start(owner_thread, &o));

		rt_barrier_wait(&o.allocated);
		released(&bad, o.p);
		misuse_expect("release", use_release, &bad);
		rt_barrier_wait(&o.done);
		rt_thread_join(thread);
		return;
	}
	bad_gone(&bad, block_among(100), "double free", 112);
	use_release_by_thread(bad.p);
	if (order == AFTER_COLLECTION)
		ash_trim(SIZE_MAX); /* collects, and keeps all there is */
	CHECK_EQ(stats_now().pending, order == BEFORE_COLLECTION);
	misuse_expect("release", culprit == THE_OWNER ? use_release : use_release_by_thread, &bad);
	/* And the block can be had again: it was released once. */
	CHECK_EQ(ash_check(), 0);
}

#define BY_TWO_THREADS(name, ...) TEST(name, 10) { by_two_threads(__VA_ARGS__); }
BY_TWO_THREADS(misuse_other_thread_then_owner, BEFORE_COLLECTION, THE_OWNER)
BY_TWO_THREADS(misuse_other_thread_then_owner_collected, AFTER_COLLECTION, THE_OWNER)
BY_TWO_THREADS(misuse_other_thread_then_another, BEFORE_COLLECTION, ANOTHER)
BY_TWO_THREADS(misuse_other_thread_then_another_collected, AFTER_COLLECTION, ANOTHER)
BY_TWO_THREADS(misuse_other_thread_twice, BEFORE_COLLECTION, THE_SAME)

/*
 * Only one in many of such releases collects: of the others each must look at what others
 * released.  `before` releases of blocks of a slab with the mark come first.
 */
static void use_release_after(unsigned before)
{
	struct bad bad = {.gone = "double free"};

	for (; before > 0; before--) {
		char *other = block_among(100), *own = block_among(100);

		use_release_by_thread(other);
		ash_release(own);
	}
	bad_gone(&bad, block_among(100), "double free", 112);
	use_release_by_thread(bad.p);
	misuse_expect("release", use_release, &bad);
	CHECK_EQ(ash_check(), 0);
}

TEST(misuse_other_thread_then_owner_again_and_again, 10)
{
	for (unsigned before = 1; before < 5; before++)
		use_release_after(before);
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

	bad_alone(&bad, ash_alloc((size_t)3 << 20), RETURNED);
	use_release_by_thread(bad.p);
	misuse_expect("release", use_release, &bad);
	misuse_expect("release", use_release_by_thread, &bad);
}

/* ---- sizes ---- */

static size_t size_told;

USE(use_size_told, p, ash_release_sized(p, size_told));

static void wrong_size(char *p, size_t size)
{
	struct bad bad;

	bad_in(&bad, p, 0, "wrong size", ash_usable_size(p));
	size_told = size;
	misuse_expect("release_sized", use_size_told, &bad);
}

TEST(misuse_wrong_size, 10)
{
	wrong_size(ash_alloc(100), 113);
	wrong_size(ash_alloc(100), (size_t)1 << 20);
	wrong_size(ash_alloc(100), SIZE_MAX);
	wrong_size(ash_alloc(0), 17);
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
