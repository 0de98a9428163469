/* SPDX-License-Identifier: MIT */
/*
 * Who writes what on which line of memory: words that one thread writes at
 * every call must not share a line with words that others read or write.
 */
#include "backend/map.h"
#include "inner/slots.h"

#define LINE(type, member) (offsetof(type, member) / CPU_LINE)
#define LAST_LINE(type, member)                                                                    \
	((offsetof(type, member) + sizeof(((type *)NULL)->member) - 1) / CPU_LINE)

/*
 * Of an owner: what it writes itself in each slow path; what others read at each release and seldom
 * write; what others write; its own again.
 */
_Static_assert(LAST_LINE(struct owner, building) < LINE(struct owner, state), "own | read by others");
_Static_assert(LINE(struct owner, state) == LAST_LINE(struct owner, batch) && LINE(struct owner, next) == LINE(struct owner, state),
	       "one line");
_Static_assert(LAST_LINE(struct owner, batch) < LINE(struct owner, notified), "read | written by others");
_Static_assert(LAST_LINE(struct owner, inbox) < LINE(struct owner, bins), "others | own");
_Static_assert(LINE(struct owner, notified) == LINE(struct owner, inbox), "one line");
_Static_assert(sizeof(struct owner) % CPU_LINE == 0, "no other words on its last line");

/* Of a slab: words that every release reads (and, seldom, marks); words that its owner writes. */
_Static_assert(_Alignof(struct slab) == CPU_LINE, "lines of its own");
_Static_assert(LINE(struct slab, owner) == 0 && LAST_LINE(struct slab, reciprocal) == 0 &&
		       LAST_LINE(struct slab, base) == 0 && LAST_LINE(struct slab, slots) == 0,
	       "a release reads one line of constants");
_Static_assert(LAST_LINE(struct slab, units) < LINE(struct slab, free), "constants | own");
_Static_assert(LINE(struct slab, ready) > 0 && LINE(struct slab, all_free) > 0, "constants | own");
_Static_assert(LINE(struct slab, hold) == LINE(struct slab, all_free), "written when the slab changes hands, as its links");
_Static_assert((sizeof(struct slab) & (sizeof(struct slab) - 1)) != 0, "spread over cache sets");
_Static_assert((REMOTE_STRIDE & (REMOTE_STRIDE - 1)) != 0 && REMOTE_STRIDE % CPU_LINE == 0,
	       "spread, on lines of their own");
_Static_assert(sizeof(struct chunk) % CPU_LINE == 0, "slab records begin on a line");

/* Of the heap: words that every thread reads; words that slow paths write. */
_Static_assert(LAST_LINE(struct heap, locked) < LINE(struct heap, dirty), "read | written");
_Static_assert(LAST_LINE(struct heap, reserved) < LINE(struct heap, unowned), "written | hints");

enum { THREADS = 3, SIZES = 4 };

static const size_t sizes[SIZES] = {8, 16, 500, 70000};
static struct slab *slabs[THREADS][SIZES];
static struct rt_barrier barrier;

static void slabs_body(void *out)
{
	struct slab **mine = out;
	void *blocks[SIZES];

	for (size_t i = 0; i < SIZES; i++) {
		rt_barrier_wait(&barrier);
		blocks[i] = ash_alloc(sizes[i]);
		CHECK(slab_find(map_find(blocks[i]), blocks[i], &mine[i]));
	}
	rt_barrier_wait(&barrier); /* all are alive at the same time */
	release_each(blocks, SIZES);
	rt_barrier_wait(&barrier);
}

static bool apart(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
	uintptr_t x = (uintptr_t)a / CPU_LINE, y = (uintptr_t)b / CPU_LINE;

	return ((uintptr_t)a + a_bytes - 1) / CPU_LINE < y ||
	       ((uintptr_t)b + b_bytes - 1) / CPU_LINE < x;
}

TEST(layout_records_of_threads_share_no_line, 10)
{
	struct rt_thread *threads[THREADS];
	struct owner *o, *other;
	size_t owners = 0;

	barrier.count = THREADS;
	for (size_t t = 0; t < THREADS; t++)
		threads[t] = rt_thread_start(slabs_body, slabs[t]);
	rt_threads_join(threads, THREADS);
	for (size_t t = 0; t < THREADS * SIZES; t++) {
		const struct slab *s = slabs[t / SIZES][t % SIZES];

		CHECK_EQ((uintptr_t)s % CPU_LINE, 0);
		CHECK_EQ((uintptr_t)s->remote % CPU_LINE, 0);
		for (size_t k = 0; k < t; k++) {
			const struct slab *before = slabs[k / SIZES][k % SIZES];

			CHECK(before != s && apart(before, sizeof *before, s, sizeof *s));
			CHECK(apart(before->remote, REMOTE_STRIDE, s->remote, REMOTE_STRIDE));
		}
	}
	for (o = heap_default.owners; o != NULL; o = o->next, owners++) {
		CHECK_EQ((uintptr_t)o % CPU_LINE, 0);
		for (other = o->next; other != NULL; other = other->next)
			CHECK(apart(o, sizeof *o, other, sizeof *other));
	}
	CHECK_EQ(owners, THREADS);
}

/* The bits of a region that threads change are no neighbours of words that all threads read. */
TEST(layout_metadata_of_a_region, 10)
{
	void *p = ash_alloc(100);
	struct region *r = region_of(&heap_default, p);
	struct chunk *c = map_find(p);
	struct slab *records = (struct slab *)(void *)(c + 1);

	CHECK(r != NULL && c->region == r);
	CHECK(apart(c, sizeof *c, records, sizeof(struct slab)));
	CHECK((char *)(records + CHUNK_UNITS) <= (char *)c + r->stride);
	CHECK(r->records + r->chunks * r->stride <= r->remote);
	CHECK((char *)(r->room + ROOM_WORDS(r->capacity)) <= (char *)r->advice);
	CHECK((char *)r->advice + r->capacity <= r->records);
	CHECK(r->remote + r->capacity * CHUNK_UNITS * REMOTE_STRIDE <= (char *)r + r->metadata);
	ash_release(p);
}

/* ---- the first slots of different classes lie in different sets of the first cache ---- */

enum { SETS = SLAB_GAPS / 64 };

TEST(inner_gap_spreads_first_slots, 10)
{
	unsigned sets[SETS] = {0}, most = 0, used = 0;

	for (unsigned class = 0; class < CLASS_ONE; class++) {
		const struct slab *s = place_of(ash_alloc(class_size(class))).slab;
		size_t at = (uintptr_t)s->base % UNIT_SIZE, end = at + s->slots * s->slot_size;

		CHECK_EQ(s->slot_size, class_size(class));
		CHECK(at < SLAB_GAPS && at < s->slot_size);
		CHECK_EQ(at, slab_gap(s));
		/* As aligned as the slot's size is, and to the end of a page. */
		CHECK_EQ(at & (s->slot_size - 1) & ~s->slot_size, 0);
		CHECK(end % SLAB_GAPS == 0 && end <= s->units * UNIT_SIZE);
		sets[at / 64]++;
	}
	for (unsigned i = 0; i < SETS; i++) {
		most = sets[i] > most ? sets[i] : most;
		used += sets[i] != 0;
	}
	rt_print("     first slots of %u classes: in %u sets, at most %u in one\n", (unsigned)CLASS_ONE, used, most);
	CHECK(used >= 12 && most <= 24);
	CHECK_EQ(ash_check(), 0);
}
