/* SPDX-License-Identifier: MIT */
/*
 * Plays the steps of a trace on Ashlar.  The tables are mapped and touched by
 * replay_open, so what the process grows by between that and replay_close is
 * Ashlar's.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include "steps.h"

struct replay {
	const struct steps *steps;
	void (*progress)(size_t done, size_t total); /* now and then; may be NULL */
	const char *fault;                           /* fixed text, NULL: none */
	size_t fault_step;

	void **block; /* in each slot; NULL: none */
	struct tag *tag;
};

bool replay_open(struct replay *r, const struct steps *steps); /* false: no memory */
void replay_close(struct replay *r);

/*
 * Once, everything checked: every block is filled at its allocation with a
 * pattern of its own and compared at its resize and release; alignment, zero
 * bytes and usable size too.  A trace of several threads is played by as many
 * threads (16 at most, then they share), each of which does what its own did,
 * in the order of the trace.  Blocks left over are released.
 * False: fault and fault_step say what and where.
 */
bool replay_verified(struct replay *r);

/*
 * Once, nothing checked but NULL, no block touched, all on the calling
 * thread.  Nanoseconds for all steps, the one or two per step of the replay
 * itself included; blocks left over are released after the clock has
 * stopped.  0: no memory, as above.
 */
uint64_t replay_timed(struct replay *r);

#endif
