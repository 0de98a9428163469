/* SPDX-License-Identifier: MIT */
/*
 * Rows that replay what real programs asked of malloc (tests/traces).
 *
 * trace: in the order of the trace, by one thread.
 * trace-crowd: the same by each of four threads, with blocks of its own.
 * trace-threads: by as many threads as it was recorded from, each of which does what its
 * own did.  A step waits for the step before it on the same block, and for nothing else:
 * so the threads run freely, and a block that one took is released by the one that did.
 */
#include <stdatomic.h>

#include "row.h"
#include "steps.h"

enum { PLAYERS = 16, CROWD = 4 };

static struct steps steps;
static void **blocks; /* by slot, for each of the crowd; NULL: none */

static void play(const struct step *s, void **block)
{
	if (s->op == TRACE_RELEASE) {
		give(*block);
		*block = NULL;
		return;
	}
	if (s->op == TRACE_RESIZE)
		*block = change(*block, s->size > 0 ? s->size : 1);
	else if (s->op == TRACE_ZALLOC)
		*block = take_zero(s->size);
	else if (s->op == TRACE_ALIGNED)
		*block = take_aligned((size_t)1 << s->shift, s->size);
	else
		*block = take(s->size);
	if (*block == NULL) {
		rt_print("no memory\n");
		rt_exit(1);
	}
	row_touch(*block, s->size);
}

static void release_rest(void **held)
{
	for (uint32_t slot = 0; slot < steps.header.slots; slot++) {
		if (held[slot] != NULL)
			give(held[slot]);
		held[slot] = NULL;
	}
}

static uint64_t replay(void)
{
	for (size_t i = 0; i < steps.header.events; i++)
		play(&steps.step[i], &blocks[steps.step[i].slot]);
	release_rest(blocks);
	return steps.header.events;
}

static void crowd_body(void *argument)
{
	void **own = argument;

	for (size_t i = 0; i < steps.header.events; i++)
		play(&steps.step[i], &own[steps.step[i].slot]);
	release_rest(own);
}

static void together(uint32_t count, void (*body)(void *), void *(*argument)(uint32_t))
{
	struct rt_thread *running[PLAYERS];

	for (uint32_t i = 0; i < count; i++) {
		running[i] = rt_thread_start(body, argument(i));
		if (running[i] == NULL) {
			rt_print("no thread can be started\n");
			rt_exit(1);
		}
	}
	for (uint32_t i = 0; i < count; i++)
		rt_thread_join(running[i]);
}

static void *own_blocks(uint32_t i)
{
	return blocks + (size_t)i * steps.header.slots;
}

static uint64_t replay_crowd(void)
{
	together(CROWD, crowd_body, own_blocks);
	return CROWD * steps.header.events;
}

static const char *prepare_trace(const char *file)
{
	const char *why = steps_load(&steps, file);
	struct step *copy;

	if (why != NULL)
		return why;
	/* Into a table that is counted as the benchmark's own. */
	copy = row_table(steps.header.events * sizeof(*copy));
	memcpy(copy, steps.step, steps.header.events * sizeof(*copy));
	steps_drop(&steps);
	steps.step = copy;
	blocks = row_table(CROWD * steps.header.slots * sizeof(*blocks));
	return NULL;
}

/* ---- by threads ---- */

struct turn {
	uint32_t step, before; /* how many steps on the same slot come before it */
};

static struct player {
	struct turn *turns;
	uint32_t count;
} players[PLAYERS];
static _Atomic uint32_t *done; /* by slot: steps on it so far */

static void player_body(void *argument)
{
	const struct player *me = argument;
	unsigned waits = 0;

	for (const struct turn *t = me->turns, *end = t + me->count; t < end; t++) {
		const struct step *s = &steps.step[t->step];

		while (atomic_load_explicit(&done[s->slot], memory_order_acquire) != t->before)
			if (++waits % 64 == 0)
				rt_yield();
		play(s, &blocks[s->slot]);
		atomic_store_explicit(&done[s->slot], t->before + 1, memory_order_release);
	}
}

static void *player(uint32_t i)
{
	return &players[i];
}

static uint64_t replay_threads(void)
{
	for (uint32_t slot = 0; slot < steps.header.slots; slot++)
		atomic_store_explicit(&done[slot], 0, memory_order_relaxed);
	together(steps.header.threads, player_body, player);
	release_rest(blocks);
	return steps.header.events;
}

static const char *prepare_threads(const char *file)
{
	const char *why = prepare_trace(file);
	uint32_t *before, *count;

	if (why != NULL)
		return why;
	if (steps.header.threads > PLAYERS)
		return "the trace has too many threads";
	done = row_table(steps.header.slots * sizeof(*done));
	before = row_table(steps.header.slots * sizeof(*before));
	count = row_table(PLAYERS * sizeof(*count));
	for (size_t i = 0; i < steps.header.events; i++)
		count[steps.step[i].thread]++;
	for (uint32_t t = 0; t < steps.header.threads; t++)
		players[t].turns = row_table(count[t] * sizeof(struct turn) + 1);
	for (uint32_t i = 0; i < steps.header.events; i++) {
		const struct step *s = &steps.step[i];
		struct player *p = &players[s->thread];

		p->turns[p->count++] = (struct turn){i, before[s->slot]++};
	}
	return NULL;
}

const struct row trace_rows[] = {
	{"trace", replay, 60, false, prepare_trace},
	{"trace-crowd", replay_crowd, 15, false, prepare_trace},
	{"trace-threads", replay_threads, 60, false, prepare_threads},
	{NULL, NULL, 0, false, NULL},
};
