/* SPDX-License-Identifier: MIT */
/*
 * A trace (tools/trace.h) taken apart and checked: a program that replays it meets
 * no slot that is not there, no release of a free slot, no unknown event.
 */
#ifndef STEPS_H
#define STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../trace.h"

struct step {
	uint64_t size;
	uint32_t slot;
	uint16_t thread;
	uint8_t op; /* enum trace_op, never TRACE_THREAD */
	uint8_t shift;
};
_Static_assert(sizeof(struct step) == 16, "a cache line holds four");

struct steps {
	struct trace_header header;
	struct step *step; /* header.events of them */
};

/*
 * Both return NULL, or the reason why this is no trace as a fixed text; *s is
 * then nothing to drop.  Any bytes may be given.
 */
const char *steps_decode(struct steps *s, const void *file, size_t length);
const char *steps_load(struct steps *s, const char *path);
void steps_drop(struct steps *s);

#endif
