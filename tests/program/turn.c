/* SPDX-License-Identifier: MIT */
/* LDFLAGS: -Wl,--wrap=collect_slab -Wl,--wrap=slab_watch */
/*
 * What one call looks at is bounded, however many slabs its thread has: counted, in a heap that
 * grows.  And the part is large enough: all slabs have been looked at by the time that the heap has
 * grown by half.
 */
#include "ashlar.h"
#include "backend/map.h"
#include "rt.h"
#include "thread/collect.h"
#include "thread/seat.h"
#include "thread/shrink.h"

static size_t collected, watched;

void __real_collect_slab(struct owner *o, struct slab *s);
void __wrap_collect_slab(struct owner *o, struct slab *s);
void __wrap_collect_slab(struct owner *o, struct slab *s)
{
	collected++;
	__real_collect_slab(o, s);
}

bool __real_slab_watch(struct slab *s);
bool __wrap_slab_watch(struct slab *s);
bool __wrap_slab_watch(struct slab *s)
{
	watched++;
	return __real_slab_watch(s);
}

enum { SIZE = 16 << 10, BLOCKS = 16 << 10 };
static void *blocks[BLOCKS];

/* Returns the most that a call looked at; with a few releases behind it. */
static void *counted(size_t size, size_t *most)
{
	size_t before = collected + watched;
	void *p = ash_alloc(size);

	CHECK(p != NULL);
	before = collected + watched - before;
	*most = before > *most ? before : *most;
	return p;
}

/* Beside the turn, a call detaches bins, which watches the slab of each. */
enum { MOST = 2 * SHRINK_TURN + CLASSES };

TEST(turn_is_bounded, 30)
{
	size_t i, most = 0, all;

	for (i = 0; i < BLOCKS; i++)
		blocks[i] = counted(SIZE, &most);
	rt_print("     full slabs: %zu looked at by a call at most\n", most);
	CHECK(most >= SHRINK_TURN && most <= MOST);
	all = collected;
	CHECK(all <= BLOCKS / 4 * 3); /* growth pays: not more than the slabs by a factor */
	for (i = 0; i < BLOCKS; i += 2)
		ash_release(blocks[i]);
	/* Half of each slab is free, and of another class than is wanted. */
	for (most = i = 0; i < BLOCKS / 4; i++)
		(void)counted(SIZE / 4 * 7, &most);
	rt_print("     partial slabs: %zu looked at by a call at most\n", most);
	CHECK(most >= SHRINK_TURN && most <= MOST);
	CHECK_EQ(ash_check(), 0);
}

/* Each slab is looked at while the heap grows by so many chunks. */
TEST(turns_reach_all, 30)
{
	struct owner *o;
	struct slab *s;
	size_t most = 0, i, n = 0;

	for (i = 0; i < BLOCKS / 2; i++)
		blocks[i] = counted(SIZE, &most);
	o = seat.self;
	for (unsigned class = 0; class < CLASSES; class++)
		for (s = o->lists[class].full.head; s != NULL; s = s->next) {
			n++;
			fetch_or_seq_cst(&s->owner, OWNER_PENDING); /* as if its inbox entry were lost */
		}
	CHECK(n >= BLOCKS / 2 / 4 - 2);
	i = load_relaxed(&o->heap->slab_chunks) + 4 * n / SHRINK_TURN + 2;
	while (load_relaxed(&o->heap->slab_chunks) < i)
		CHECK(ash_alloc(900000) != NULL && ash_alloc(1000) != NULL);
	for (n = i = 0; i < BLOCKS / 2; i++)
		n += (load_relaxed(&((struct slab *)map_guess_slab(blocks[i]))->owner) & OWNER_PENDING) != 0;
	CHECK_EQ(n, 0);
	CHECK_EQ(ash_check(), 0);
}

int main(int argc, char **argv, __attribute__((unused)) char **envp)
{
	return rt_run_tests(argc, argv);
}
