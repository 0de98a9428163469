/* SPDX-License-Identifier: MIT */
/*
 * The harness of single steps.  A victim performs one call; by the CPU's trap
 * flag it is stopped after every instruction, and something nasty is done
 * there: others work on while it is frozen, a handler runs on its thread, the
 * process forks.  Then it goes on.
 *
 *   victim    call: i i i i i i i i ... i            (i: one instruction)
 *                   |   |   |                         each boundary:
 *   act             A   A   A       ...               A, then the count of blocks
 *
 * Every path of every call is a row of steps_paths (inner/steps/paths.c) or of
 * steps_fast (inner/steps/paths_fast.c); a row names the function of the library that
 * tells that the path was taken.
 * Each row runs in a process of its own.
 */
#ifndef TESTS_INNER_STEPS_HARNESS_H
#define TESTS_INNER_STEPS_HARNESS_H

#include "ashlar.h"
#include "rt.h"

struct path {
	const char *name;
	void (*prepare)(void); /* not stepped; may be NULL */
	void (*call)(void);    /* stepped: one call of the library */
	void (*passes)(void);  /* a function whose first instruction is met, or NULL */
	void (*avoids)(void);  /* a function whose first instruction is not met, or NULL */
	bool once;             /* an act changes the path of the call */
	size_t size;           /* for the functions, in step_size */
};

/* Of the fields above. */
#define FUNCTION(name)            ((void (*)(void))(uintptr_t)(name))
#define PASSES(name)              FUNCTION(name), NULL, false
#define AVOIDS(name)              NULL, FUNCTION(name), false
#define AVOIDS_ONCE(name)         NULL, FUNCTION(name), true
#define PASSES_AVOIDS(one, other) FUNCTION(one), FUNCTION(other), false
#define ANYWHERE                  NULL, NULL, false

extern const struct path steps_paths[], steps_fast[];
extern const size_t steps_path_count, steps_fast_count;

extern size_t step_size, step_stays; /* stays: blocks that handlers shall keep */
extern size_t steps_burst; /* so many of the size the other thread holds from act to act */
extern void *step_block; /* the block that the call works on */

/* Blocks that are held now, by any thread; the call itself may change it by one. */
extern _Atomic long steps_held;

/* For prepare: blocks that stay until the end, of the victim. */
void *steps_take(size_t size);
bool steps_is_kept(const void *p);

/* For prepare: the other thread does this, and is waited for. */
void steps_other(void (*work)(void));

/* For prepare: a thread that does this and ends. */
void steps_passing_thread(void (*work)(void));

/* ---- paths' common parts (inner/steps/calls.c) ---- */

/* For prepare: no unit is free: the next one is of a new chunk. */
void steps_fill_units(void);

/* Calls: ash_alloc of the size; ash_release of the block. */
void steps_alloc(void);
void steps_release(void);

/* ---- the other thread (inner/steps/other_thread.c) ---- */

void other_begin(void);
void other_end(void);

/* ---- acts (inner/steps/acts.c) ---- */

/* Starts the other thread; blocks that others release at some boundary, one each. */
void acts_begin(uint64_t seed, size_t gift_count);
void acts_end(void);

void act_stop(void);
void act_signal(void);
void act_fork(void);
void act_fork_by_other(void);

/* The bitmaps and the books agree, but for the one that the call has in hand. */
void steps_count_blocks(void);

/* In a child: records of vanished threads that were changing slots only (inner/steps/records_after_fork.c). */
void steps_look_at_records(void);

#endif
