/* SPDX-License-Identifier: MIT */
/* Slabs of nobody (shared.h): they go back, and the next slot is found soon. */
#include "ashlar_heap.h"
#include "resident.h"
#include "step.h"
#include "t_inner_place.h"

#include "fork.h"
#include "instance.h"
#include "recover.h"
#include "seats.h"
#include "store.h"
#include "syscall.h"

#define MIB ((size_t)1 << 20)
enum { BLOCKS = 1 << 18 };

static void *blocks[BLOCKS];

/* So many blocks by calls that find the thread's record in use, as a handler's do. */
static void burst(ash_heap *heap, size_t size, size_t n)
{
	struct seat_entry *t = NULL;
	struct owner *o = heap == NULL ? seat_take() : seats_take(heap_of(heap), &t);

	CHECK(o != NULL && n <= BLOCKS);
	for (size_t i = 0; i < n; i++)
		CHECK((blocks[i] = heap == NULL ? ash_alloc(size) : ash_heap_alloc(heap, size)) != NULL);
	CHECK((place_of(blocks[n - 1]).slab->owner & OWNER_SHARED) != 0);
	if (heap == NULL)
		seat_give();
	else
		seats_give(t, o);
}

/* In an order in which slabs get empty late. */
static void release_all(size_t n)
{
	for (size_t step = 0; step < 97; step++)
		for (size_t i = step; i < n; i += 97)
			ash_release(blocks[i]);
}

static size_t fit(ash_heap *heap, size_t size)
{
	size_t n = 0;

	while (n < BLOCKS && (blocks[n] = ash_heap_alloc(heap, size)) != NULL)
		n++;
	for (size_t i = 0; i < n; i++)
		ash_heap_release(heap, blocks[i]);
	return n;
}

/* What fits is what fits a heap in which nothing has happened. */
static void fits_as(ash_heap *heap, ash_heap *fresh)
{
	static const size_t sizes[] = {1000, 4096, CHUNK_SIZE, 256, 30000, UNIT_SIZE + 1, 8 * MIB};

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		size_t n = fit(heap, sizes[i]), all = fit(fresh, sizes[i]);

		if (n != all)
			rt_print("     %zu of %zu blocks of %zu bytes\n", n, all, sizes[i]);
		CHECK_EQ(n, all);
		(void)ash_heap_trim(heap, 0);
		(void)ash_heap_trim(fresh, 0);
	}
	CHECK_EQ(ash_heap_check(heap), 0);
}

TEST(nobody_burst_in_a_small_heap, 20)
{
	const struct ash_heap_options small = {.cap = 16 * MIB};
	ash_heap *heap = ash_heap_create(&small), *fresh = ash_heap_create(&small);
	static const size_t sizes[] = {4096, CHUNK_SIZE, 16 * MIB, UNIT_SIZE};
	struct ash_stats st;
	size_t i;

	ash_heap_release(heap, ash_heap_alloc(heap, 16));
	burst(heap, 1000, 12288);
	release_all(12288);
	ash_heap_stats(heap, &st);
	CHECK_EQ(st.blocks, 0);
	CHECK(st.slabs <= 3 * UNIT_SIZE); /* without a word from anybody */
	CHECK_EQ(ash_heap_check(heap), 0);
	fits_as(heap, fresh);
	(void)ash_heap_trim(heap, 0);
	ash_heap_stats(heap, &st);
	CHECK_EQ(st.slabs, 0);
	/* The preferred slab of a class does not stand in the way of others. */
	for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		ash_heap_release(heap, ash_heap_alloc(heap, 16));
		burst(heap, 1000, 1);
		ash_heap_release(heap, blocks[0]);
		ash_heap_thread_detach(heap);
		ash_heap_stats(heap, &st);
		CHECK_EQ(st.slabs, UNIT_SIZE);
		CHECK_EQ(fit(heap, sizes[i]), fit(fresh, sizes[i]));
		(void)ash_heap_trim(heap, 0);
		(void)ash_heap_trim(fresh, 0);
	}
	ash_heap_destroy(heap);
	ash_heap_destroy(fresh);
}

/* All that is free in the heap is in slabs of nobody: the thread gets that, before NULL. */
TEST(nobody_slots_before_null, 20)
{
	const struct ash_heap_options small = {.cap = 4 * MIB};
	ash_heap *heap = ash_heap_create(&small);
	size_t n = 0, i;

	ash_heap_release(heap, ash_heap_alloc(heap, 16));
	burst(heap, 200, 2000);
	while (ash_heap_alloc(heap, UNIT_SIZE) != NULL)
		;
	for (i = 0; i < 2000; i += 2)
		ash_heap_release(heap, blocks[i]);
	while (ash_heap_alloc(heap, 200) != NULL)
		n++;
	CHECK(n >= 1000);
	CHECK_EQ(ash_heap_check(heap), 0);
	ash_heap_destroy(heap);
}

TEST(nobody_slots_before_null_of_the_default_heap, 20)
{
	size_t n = 0, i;

	ash_release(ash_alloc(16));
	burst(NULL, 200, 2000);
	if (!rt_limit_address_space(4096))
		rt_skip("no limit of address space to be had under QEMU 7.2");
	while (ash_alloc(UNIT_SIZE) != NULL)
		;
	for (i = 0; i < 2000; i += 2)
		ash_release(blocks[i]);
	while (ash_alloc(200) != NULL)
		n++;
	CHECK(n >= 1000);
	CHECK_EQ(ash_check(), 0);
}

TEST(nobody_burst_is_not_resident, 20)
{
	size_t n = scaled(64000, 4000), before, after;
	struct ash_stats st;

	ash_release(ash_alloc(1000));
	before = rt_resident();
	burst(NULL, 1000, n);
	for (size_t i = 0; i < n; i++)
		touch(blocks[i], 1000);
	release_all(n);
	ash_trim(0);
	after = rt_resident();
	ash_stats(&st);
	CHECK_EQ(st.blocks, 0);
	CHECK_EQ(st.slabs, 0);
	CHECK(!figures() || after < before + 4 * MIB);
	CHECK_EQ(ash_check(), 0);
}

/* What is called for each block releases it, and so unmakes the slab that the walk is in. */
static int release_it(void *count, void *p, size_t size, const struct ash_heap_owner *owner)
{
	(void)owner;
	CHECK_EQ(size, 64);
	ash_release(p);
	++*(size_t *)count;
	return 0;
}

TEST(nobody_walk_that_releases, 10)
{
	ash_heap *heap = ash_heap_create(NULL);
	size_t n = 0, all = UNIT_SIZE / 64 + 1; /* one in a slab of its own */
	struct ash_stats st;

	ash_heap_release(heap, ash_heap_alloc(heap, 16));
	burst(heap, 64, all);
	CHECK_EQ(ash_heap_walk(heap, release_it, &n), 0);
	CHECK_EQ(n, all);
	ash_heap_stats(heap, &st);
	CHECK_EQ(st.blocks, 0);
	CHECK_EQ(st.slabs, 2 * UNIT_SIZE); /* the thread's, and the preferred one */
	ash_heap_destroy(heap);
}

/* ---- a heap in a file, of which all records are in use ---- */

static void fill_it(void *heap)
{
	size_t n = 0;

	while ((blocks[n] = ash_heap_alloc(heap, 1024)) != NULL)
		n++;
	CHECK(n > 15000 && (place_of(blocks[0]).slab->owner & OWNER_SHARED) != 0);
	release_all(n);
}

static void fill_without_record(int fd)
{
	ash_heap *heap = ash_heap_attach_file(fd, NULL);
	struct owner *o;

	CHECK(heap != NULL);
	while ((o = store_owner(heap_of(heap))) != NULL) {
		owner_reset(o);
		owner_enter(heap_of(heap), o, recover_holder() ^ OWNER_GUEST);
	}
	store_of(heap_of(heap))->refused = 1; /* or it asks of each whether its holder lives */
	rt_thread_join(rt_thread_start(fill_it, heap));
}

TEST(nobody_thread_without_record, 30)
{
	int fd = (int)arch_memfd_create("nobody", 0), other = (int)arch_memfd_create("fresh", 0);
	ash_heap *heap = ash_heap_create_file(fd, 16 * MIB, NULL), *fresh;
	long pid;

	CHECK(heap != NULL);
	ash_heap_destroy(heap);
	pid = rt_fork();
	if (pid == 0) {
		fill_without_record(fd);
		rt_exit(0);
	}
	CHECK_EQ(rt_wait(pid), 0);
	heap = ash_heap_attach_file(fd, NULL);
	fresh = ash_heap_create_file(other, 16 * MIB, NULL);
	CHECK(heap != NULL && fresh != NULL);
	CHECK(fit(heap, 16 * MIB) == 1);
	fits_as(heap, fresh);
}

/* ---- what a call takes does not grow with the heap ---- */

static size_t call_size;

static void call_alloc(void)
{
	blocks[BLOCKS - 1] = ash_alloc(call_size);
}

static void nothing(void)
{
}

/* Instructions of the longest of so many calls on the shared route. */
static size_t longest(unsigned calls)
{
	size_t most = 0;

	for (unsigned i = 0; i < calls; i++) {
		(void)seat_take();
		(void)with_act_at(SIZE_MAX, call_alloc);
		seat_give();
		CHECK(blocks[BLOCKS - 1] != NULL);
		most = boundary > most ? boundary : most;
	}
	return most;
}

/* The heap has so many blocks of nobody's and as many of the thread's; every slab is full. */
static size_t longest_beside(size_t bytes)
{
	step_begin(nothing);
	call_size = 8000;
	burst(NULL, call_size, bytes / 2 / call_size);
	for (size_t i = 0; i < bytes / 2 / 1000; i++)
		CHECK(ash_alloc(1000) != NULL);
	/* There is room, for it is not the heap's growth that is counted. */
	ash_release(ash_alloc(8 * MIB));
	return longest(40);
}

TEST(nobody_slot_is_found_in_constant_time, 30)
{
	static size_t *most;
	long at = arch_mmap(NULL, PAGE, 3, 0x21, -1, 0); /* seen by the children */

	CHECK(at > 0);
	most = (size_t *)at; /* NOLINT: the kernel's word is an address */
	for (size_t i = 0; i < 2; i++) {
		long pid = rt_fork();

		if (pid == 0) {
			most[i] = longest_beside((i == 0 ? 10 : scaled(80, 20)) * MIB);
			rt_exit(0);
		}
		CHECK_EQ(rt_wait(pid), 0);
	}
	rt_print("     10 MiB: %zu instructions, 80 MiB: %zu\n", most[0], most[1]);
	/* It may or may not have been a chunk full of such slabs that was looked at. */
	CHECK(most[1] <= most[0] + CHUNK_UNITS * 64);
}

/* Slots that came free in slabs nobody has in mind are found before the heap is much larger. */
TEST(nobody_slots_are_found_again, 20)
{
	enum { SIZE = 1000, N = 32000 };
	struct ash_stats st;
	size_t slabs, i;

	ash_release(ash_alloc(SIZE));
	burst(NULL, SIZE, N);
	ash_stats(&st);
	slabs = st.slabs;
	for (i = 0; i < N; i += 2)
		ash_release(blocks[i]);
	burst(NULL, SIZE, N / 2);
	ash_stats(&st);
	CHECK(st.slabs < slabs + slabs / 16);
}

/* ---- a caller that was stopped with the address in hand ---- */

static void *shared_one(size_t size)
{
	void *p;

	(void)seat_take();
	p = ash_alloc(size);
	seat_give();
	CHECK(p != NULL);
	return p;
}

/* The slab goes, and its units are an owner's slab, then nobody's of another class. */
TEST(nobody_late_caller, 10)
{
	void *kept = ash_alloc(100), *p, *q, *r;
	struct slab *s;
	unsigned class;

	CHECK(kept != NULL);
	p = shared_one(3000);
	s = place_of(p).slab;
	class = s->class;
	ash_release(p);
	ash_trim(0);
	CHECK_EQ(s->owner, 0);
	q = ash_alloc(9000);
	CHECK(q != NULL && q == p && place_of(q).slab != s); /* the same units */
	heap_default.shared[class] = s;
	r = shared_one(3000);
	CHECK((char *)r < (char *)q || (char *)r >= (char *)q + UNIT_SIZE);
	ash_release(r);
	ash_release(q);
	ash_trim(0);
	CHECK(shared_one(500) == p);
	s = place_of(p).slab;
	CHECK(s->class != class);
	heap_default.shared[class] = s;
	r = shared_one(3000);
	CHECK(place_of(r).slab != s && place_of(r).slab->class == class);
	CHECK_EQ(bits_count(s->free[0]), 63); /* given back */
	CHECK_EQ(ash_check(), 0);
	ash_release(p);
	ash_release(r);
	ash_release(kept);
}

/* A slab that is being unmade is nobody's to allocate from, and counts no block. */
TEST(nobody_while_it_is_unmade, 10)
{
	struct ash_stats st;
	struct slab *s;
	void *p, *q;

	ash_release(ash_alloc(100));
	p = shared_one(3000);
	s = place_of(p).slab;
	ash_release(p);
	s->owner |= OWNER_CHANGING;
	s->free[0] = 0;
	ash_stats(&st);
	CHECK_EQ(st.blocks, 0);
	q = shared_one(3000);
	CHECK(place_of(q).slab != s);
	ash_trim(0);
	CHECK_EQ(s->owner, OWNER_SHARED | OWNER_CHANGING);
	ash_release(q);
}
