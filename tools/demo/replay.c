/* SPDX-License-Identifier: MIT */
#include "replay.h"

#include <ashlar.h>
#include <stdatomic.h>

#include "rt.h"

#define PLAYERS_MAX    16u
#define PROGRESS_STEPS 4096u
#define NOBODY         UINT32_MAX

/* What the verified replay knows of a block: its pattern is key, key + 1, ... */
struct tag {
	size_t size;
	uint64_t key;
};

/* ---- patterns: any beginning of one is the pattern of a shorter block ---- */

static uint64_t key_of(size_t step)
{
	return (step + 1) * 0x9e3779b97f4a7c15;
}

static void fill(void *p, size_t size, uint64_t key)
{
	uint64_t *word = p;
	size_t words = size / 8;

	for (size_t i = 0; i < words; i++)
		word[i] = key + i;
	key += words;
	memcpy(word + words, &key, size % 8);
}

static bool intact(const void *p, size_t size, uint64_t key)
{
	const uint64_t *word = p;
	size_t words = size / 8;
	uint64_t wrong = 0;

	for (size_t i = 0; i < words; i++)
		wrong |= word[i] ^ (key + i);
	key += words;
	return wrong == 0 && memcmp(word + words, &key, size % 8) == 0;
}

static bool zero(const void *p, size_t size)
{
	const uint64_t *word = p;
	uint64_t wrong = 0, rest = 0;

	for (size_t i = 0; i < size / 8; i++)
		wrong |= word[i];
	memcpy(&rest, word + size / 8, size % 8);
	return (wrong | rest) == 0;
}

/* ---- verified ---- */

/* NULL, or what is wrong with the fresh block p of this step. */
static const char *block_fault(const struct step *s, const void *p)
{
	uintptr_t alignment = s->op == TRACE_ALIGNED ? (uintptr_t)1 << s->shift
			      : s->size >= 16        ? 16
						     : 8;

	if (p == NULL)
		return "no memory";
	if ((uintptr_t)p % alignment != 0)
		return "misaligned block";
	if (ash_usable_size(p) < s->size)
		return "usable size below the size asked for";
	if (s->op == TRACE_ZALLOC && !zero(p, s->size))
		return "zeroed block is not zero";
	return NULL;
}

static void *take(const struct step *s)
{
	switch (s->op) {
	case TRACE_ZALLOC:
		return ash_zalloc(1, s->size);
	case TRACE_ALIGNED:
		return ash_aligned_alloc((size_t)1 << s->shift, s->size);
	default:
		return ash_alloc(s->size);
	}
}

/* Every other slot tells the size, as real callers of the sized release would. */
static void give_back(const struct replay *r, uint32_t slot)
{
	if (slot % 2 != 0)
		ash_release_sized(r->block[slot], r->tag[slot].size);
	else
		ash_release(r->block[slot]);
	r->block[slot] = NULL;
}

static const char *play_step(struct replay *r, size_t at)
{
	const struct step *s = &r->steps->step[at];
	struct tag *tag = &r->tag[s->slot];
	size_t kept = tag->size < s->size ? tag->size : s->size;
	const char *fault;
	void *p;

	if (s->op == TRACE_RELEASE) {
		if (!intact(r->block[s->slot], tag->size, tag->key))
			return "block damaged before its release";
		give_back(r, s->slot);
		return NULL;
	}
	p = s->op == TRACE_RESIZE ? ash_resize(r->block[s->slot], s->size) : take(s);
	fault = block_fault(s, p);
	if (fault != NULL)
		return fault;
	r->block[s->slot] = p;
	if (s->op == TRACE_RESIZE && !intact(p, kept, tag->key))
		return "contents lost by a resize";
	tag->size = s->size;
	tag->key = key_of(at);
	fill(p, tag->size, tag->key);
	return NULL;
}

/*
 * The baton: the process that holds it plays until the next step is another's and
 * hands it over.  So real threads meet, each with its own blocks, and the
 * order of the trace is kept.
 */
struct band {
	struct replay *replay;
	unsigned players;
	size_t next; /* step; only for the holder */
	_Atomic uint32_t holder;
};

struct player {
	struct band *band;
	struct rt_thread *thread;
	uint32_t number;
};

static uint32_t player_of(const struct band *b, size_t step)
{
	return b->replay->steps->step[step].thread % b->players;
}

/* Plays what is this player's; who is next. */
static uint32_t play(struct band *b, uint32_t number)
{
	struct replay *r = b->replay;
	size_t count = r->steps->header.events;

	for (; b->next < count; b->next++) {
		if (player_of(b, b->next) != number)
			return player_of(b, b->next);
		if (r->progress != NULL && b->next % PROGRESS_STEPS == 0)
			r->progress(b->next, count);
		r->fault = play_step(r, b->next);
		if (r->fault != NULL) {
			r->fault_step = b->next;
			break;
		}
	}
	return NOBODY;
}

static void player_main(void *argument)
{
	struct player *me = argument;
	uint32_t holder;

	for (unsigned waits = 0;; waits++) {
		holder = atomic_load_explicit(&me->band->holder, memory_order_acquire);
		if (holder == NOBODY)
			return;
		if (holder == me->number) {
			holder = play(me->band, me->number);
			atomic_store_explicit(&me->band->holder, holder, memory_order_release);
			waits = 0;
		} else if (waits > 200) {
			rt_sleep(1000);
		}
	}
}

static void play_together(struct band *b)
{
	struct player players[PLAYERS_MAX];
	unsigned started = 0;

	for (; started < b->players; started++) {
		struct player *p = &players[started];

		*p = (struct player){b, NULL, started};
		p->thread = rt_thread_start(player_main, p);
		if (p->thread == NULL)
			break;
	}
	/* No process has begun: the baton is in no hand yet. */
	if (started < b->players)
		b->replay->fault = "a thread cannot be started";
	atomic_store_explicit(&b->holder, started < b->players ? NOBODY : player_of(b, 0),
			      memory_order_release);
	for (unsigned i = 0; i < started; i++)
		rt_thread_join(players[i].thread);
}

bool replay_verified(struct replay *r)
{
	uint32_t threads = r->steps->header.threads;
	struct band band = {.replay = r, .players = threads < PLAYERS_MAX ? threads : PLAYERS_MAX};

	r->fault = NULL;
	if (band.players == 1) {
		play(&band, 0);
	} else {
		atomic_init(&band.holder, band.players);
		play_together(&band);
	}
	for (uint32_t slot = 0; slot < r->steps->header.slots && r->fault == NULL; slot++) {
		if (r->block[slot] == NULL)
			continue;
		if (!intact(r->block[slot], r->tag[slot].size, r->tag[slot].key)) {
			r->fault = "block damaged at the end";
			r->fault_step = r->steps->header.events;
		}
		give_back(r, slot);
	}
	return r->fault == NULL;
}

/* ---- timed ---- */

uint64_t replay_timed(struct replay *r)
{
	const struct step *s = r->steps->step, *end = s + r->steps->header.events;
	uint64_t start = rt_now(), time;

	r->fault = NULL;
	for (; s < end; s++) {
		void **block = &r->block[s->slot];

		if (s->op == TRACE_RELEASE) {
			ash_release(*block);
			*block = NULL;
			continue;
		}
		*block = s->op == TRACE_RESIZE ? ash_resize(*block, s->size) : take(s);
		if (*block == NULL) {
			r->fault = "no memory";
			r->fault_step = (size_t)(s - r->steps->step);
			return 0;
		}
	}
	time = rt_now() - start;
	for (uint32_t slot = 0; slot < r->steps->header.slots; slot++) {
		ash_release(r->block[slot]);
		r->block[slot] = NULL;
	}
	return time > 0 ? time : 1;
}

/* ---- tables ---- */

static size_t tables_size(const struct steps *steps)
{
	return steps->header.slots * (sizeof(struct tag) + sizeof(void *)) + 1;
}

bool replay_open(struct replay *r, const struct steps *steps)
{
	struct tag *tables = rt_map(tables_size(steps));

	if (tables == NULL)
		return false;
	memset(tables, 0, tables_size(steps));
	*r = (struct replay){.steps = steps, .tag = tables};
	r->block = (void **)(tables + steps->header.slots);
	return true;
}

void replay_close(struct replay *r)
{
	rt_unmap(r->tag, tables_size(r->steps));
	r->tag = NULL;
}
