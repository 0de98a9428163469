/* SPDX-License-Identifier: MIT */
/*
 * Calls that real programs made of malloc (tests/traces), replayed with every byte
 * verified; and that neither the decoder believes a damaged trace nor the
 * replay a damaged block.
 */
/* promises: ash_check, ash_usable_size */
#include <ashlar.h>

#include "replay.h"
#include "rt.h"

static void replay_file(const char *path)
{
	struct steps steps;
	struct replay r;
	struct ash_statistics stats;
	const char *why = steps_load(&steps, path);

	if (why != NULL)
		rt_fail(path, 0, why);
	CHECK(replay_open(&r, &steps));
	if (!replay_verified(&r))
		rt_fail(path, (int)r.fault_step, r.fault); /* the "line" is the event */
	CHECK_EQ(ash_check(), 0);
	ash_stats(&stats);
	CHECK_EQ(stats.blocks, 0);

	/* Once more: the heap is no longer fresh. */
	CHECK(replay_timed(&r) != 0);
	if (!replay_verified(&r))
		rt_fail(path, (int)r.fault_step, r.fault);
	CHECK_EQ(ash_check(), 0);
	replay_close(&r);
	steps_drop(&steps);
}

TEST_CALL(traces_sql, 30, replay_file("tests/traces/sql.trace"));
TEST_CALL(traces_python, 30, replay_file("tests/traces/python.trace"));
TEST_CALL(traces_cc, 30, replay_file("tests/traces/cc.trace"));
TEST_CALL(traces_link, 60, replay_file("tests/traces/link.trace"));

/* ---- a trace made by hand, with every kind of event in it ---- */

struct small_trace {
	struct trace_header header;
	uint8_t events[64];
};

/* One byte an event, while operands are below 16. */
#define EVENT(op, operand) ((uint8_t)((operand) << 3 | (op)))
#define DOWN(n)            (2 * (n)-1) /* trace_fold of -n */

static const uint8_t events[] = {
	EVENT(TRACE_ALLOC, 5),
	EVENT(TRACE_ZALLOC, 4) | 0x80, /* 4 + 3 * 16 = 52 */
	3,
	EVENT(TRACE_ALIGNED, 9),
	6,
	EVENT(TRACE_THREAD, 1),
	EVENT(TRACE_RESIZE, DOWN(1)),
	60,
	EVENT(TRACE_RELEASE, DOWN(1)),
	EVENT(TRACE_THREAD, 0),
	EVENT(TRACE_ALLOC, 15),
	EVENT(TRACE_RELEASE, 4), /* up 2 */
	EVENT(TRACE_ALLOC, 0),
};

static const struct step decoded[] = {
	{5, 0, 0, TRACE_ALLOC, 0},   {52, 1, 0, TRACE_ZALLOC, 0}, {9, 2, 0, TRACE_ALIGNED, 6},
	{60, 1, 1, TRACE_RESIZE, 0}, {0, 0, 1, TRACE_RELEASE, 0}, {15, 0, 0, TRACE_ALLOC, 0},
	{0, 2, 0, TRACE_RELEASE, 0}, {0, 2, 0, TRACE_ALLOC, 0},
};

enum { STEPS = sizeof(decoded) / sizeof(decoded[0]) };

static size_t make_small(struct small_trace *t)
{
	*t = (struct small_trace){.header = {.magic = TRACE_MAGIC,
					     .bytes = sizeof(events),
					     .events = STEPS,
					     .peak = 60 + 9 + 15,
					     .slots = 3,
					     .threads = 2}};
	memcpy(t->events, events, sizeof(events));
	t->header.sum = trace_sum(t->events, sizeof(events));
	return sizeof(t->header) + sizeof(events);
}

static void check_refused(const void *file, size_t length)
{
	struct steps steps;
	const char *why = NOT_NULL(steps_decode(&steps, file, length));

	CHECK(rt_strlen(why) > 10);
}

TEST(traces_every_event, 5)
{
	struct small_trace t;
	struct steps steps;
	struct replay r;

	CHECK(steps_decode(&steps, &t, make_small(&t)) == NULL);
	for (size_t i = 0; i < STEPS; i++) {
		CHECK_EQ(steps.step[i].size, decoded[i].size);
		CHECK_EQ(steps.step[i].slot, decoded[i].slot);
		CHECK_EQ(steps.step[i].thread, decoded[i].thread);
		CHECK_EQ(steps.step[i].op, decoded[i].op);
		CHECK_EQ(steps.step[i].shift, decoded[i].shift);
	}
	CHECK(replay_open(&r, &steps));
	CHECK(replay_verified(&r));
	CHECK(replay_timed(&r) != 0);
}

TEST(traces_cut_or_longer, 5)
{
	struct small_trace t;
	size_t length = make_small(&t);

	for (size_t n = 0; n <= sizeof(t); n++)
		if (n != length)
			check_refused(&t, n);
}

TEST(traces_missing_file, 5)
{
	struct steps steps;

	CHECK(steps_load(&steps, "tests/traces/no-such.trace") != NULL);
	CHECK(steps_load(&steps, "/dev/null") != NULL);
}

/* Everything the header says is compared with the events. */
TEST(traces_wrong_header, 10)
{
	struct small_trace t;
	size_t length = make_small(&t);

	for (size_t i = 0; i < sizeof(t.header); i++) {
		uint8_t *byte = (uint8_t *)&t + i, good = *byte;

		for (unsigned flip = 1; flip < 256; flip++) {
			*byte = (uint8_t)(good ^ flip);
			check_refused(&t, length);
		}
		*byte = good;
	}
}

/* A replay can play without a check any trace that the decoder lets through. */
static void check_playable(const struct steps *s)
{
	bool held[8] = {false};

	CHECK(s->header.slots <= 8);
	for (size_t i = 0; i < s->header.events; i++) {
		const struct step *step = &s->step[i];

		CHECK(step->slot < s->header.slots);
		CHECK(step->op <= TRACE_RELEASE);
		CHECK_EQ(held[step->slot], step->op == TRACE_RESIZE || step->op == TRACE_RELEASE);
		held[step->slot] = step->op != TRACE_RELEASE;
	}
}

/* With the checksum repaired: each byte in turn takes every other value. */
TEST(traces_wrong_events, 10)
{
	struct small_trace t;
	size_t length = make_small(&t);
	unsigned accepted = 0, refused = 0;

	for (size_t i = 0; i < sizeof(events); i++) {
		for (unsigned flip = 1; flip < 256; flip++) {
			struct steps steps;

			t.events[i] = (uint8_t)(events[i] ^ flip);
			t.header.sum = trace_sum(t.events, sizeof(events));
			if (steps_decode(&steps, &t, length) != NULL) {
				refused++;
				continue;
			}
			check_playable(&steps);
			steps_drop(&steps);
			accepted++;
		}
		t.events[i] = events[i];
	}
	/* ALLOC for ZALLOC is a good trace too; most changes give a bad one. */
	CHECK(accepted > 0 && accepted < refused / 10);
}

/* ---- the replay sees damage: a byte is changed behind its back ---- */

static struct replay victim;

static void damage(size_t done, UNUSED size_t total)
{
	if (done == 0)
		return;
	for (uint32_t slot = 0; slot < victim.steps->header.slots; slot++) {
		if (victim.block[slot] != NULL && ash_usable_size(victim.block[slot]) > 0) {
			++*(uint8_t *)victim.block[slot];
			return;
		}
	}
}

TEST(traces_damage_is_seen, 30)
{
	struct steps steps;

	CHECK(steps_load(&steps, "tests/traces/cc.trace") == NULL);
	CHECK(replay_open(&victim, &steps));
	victim.progress = damage;
	CHECK(!replay_verified(&victim));
	CHECK(victim.fault != NULL &&
	      rt_strstr((char *)(uintptr_t)victim.fault, "damaged") != NULL);
}
