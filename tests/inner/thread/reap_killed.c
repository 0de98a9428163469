/* SPDX-License-Identifier: MIT */
/*
 * Reaping the record of a holder that vanished while it changed its lists: they are rebuilt
 * before anything is looked up in them.
 */
#include "ashlar_heap.h"
#include "heaps/instance.h"
#include "inner/spares.h"
#include "process.h"
#include "store/recover/builders.h"
#include "heaps/seats.h"
#include "syscall.h"
#include "thread/seating.h"

enum { SIZE = 40000 }; /* a slab of one slot */

static ash_heap *heap;

static void *take(void)
{
	return NOT_NULL(heap == NULL ? ash_alloc(SIZE) : ash_heap_alloc(heap, SIZE));
}

static void give(void *p)
{
	if (heap == NULL)
		ash_release(p);
	else
		ash_heap_release(heap, p);
}

/*
 * Of three spares the second is alone in its chunk.  As far as spares_remove comes with it: it
 * says that it is none, and is there still.
 */
static struct owner *stop_between_two_spares(void)
{
	char *first = take(), *third = take(), *second;
	struct owner *o;
	struct slab *s;

	do
		second = take();
	while (map_find(second) == map_find(first));
	give(first);
	give(second);
	give(third);
	o = heap == NULL ? seat.self : seats_self(heap_of(heap));
	CHECK_EQ(spares_number(o), 3);
	CHECK(spares_newest(o)->base == third);
	(void)building_begin(o->heap, o);
	CHECK(slab_find(map_find(second), second, &s));
	o->spare_units = (uint8_t)(o->spare_units - SPARE_WEIGHT(s->units));
	s->spare = 0;
	return o;
}

/* Unmade twice, its chunk would be free as a whole and by its units. */
static void no_chunk_is_free_twice(struct heap *h)
{
	struct region *r;
	size_t i;

	for (r = region_first(h); r != NULL; r = region_next(r))
		for (i = 0; i < r->chunks; i++)
			if (bits_all(r->free, i, 1))
				CHECK_EQ(region_chunk(r, i)->units, 0);
}

TEST(reap_of_a_killed_process_rebuilds_first, 10)
{
	heap = NOT_NULL(ash_heap_create_shared((size_t)16 << 20, NULL));
	if (life_of_thread() >> 22 == 0)
		rt_skip("lives of ended threads cannot be judged without /proc");
	IN_KILLED_CHILD
		(void)stop_between_two_spares();
	CHECK(ash_heap_recover(heap) > 0);
	CHECK_EQ(ash_heap_check(heap), 0);
	no_chunk_is_free_twice(heap_of(heap));
	(void)ash_heap_trim(heap, 0);
	CHECK(rt_under_qemu() || heap_of(heap)->dirty == 0); /* QEMU purges no shared memory */
}

static struct rt_barrier both = {.count = 2};

static void stop_beside_another(void *mine)
{
	ash_release(ash_alloc(1));
	rt_barrier_wait(&both); /* else one would take over the other one's record */
	*(struct owner **)mine = stop_between_two_spares();
	rt_barrier_wait(&both);
	(void)arch_exit(0);
}

/* The lists of each are rebuilt first, the second one's too. */
TEST(reap_of_two_stopped_threads_rebuilds_both, 10)
{
	struct owner *stopped[2];
	struct rt_thread *threads[2];
	unsigned i;

	ash_release(ash_alloc(1));
	for (i = 0; i < 2; i++)
		threads[i] = rt_thread_start(stop_beside_another, &stopped[i]);
	rt_threads_join(threads, 2);
	CHECK((stopped[0]->building & 1) != 0 && (stopped[1]->building & 1) != 0);
	CHECK_EQ(reap_all(&heap_default, seat.self), 2);
	CHECK(stopped[0]->state == OWNER_VACANT && stopped[1]->state == OWNER_VACANT);
	CHECK_EQ(ash_check(), 0);
	no_chunk_is_free_twice(&heap_default);
	ash_trim(0);
	CHECK_EQ(heap_default.dirty, 0);
}
