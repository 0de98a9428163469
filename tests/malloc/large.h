/* SPDX-License-Identifier: MIT */
/* What tests of slabs of one slot share (core/thread/large.c). */
#ifndef TESTS_MALLOC_LARGE_H
#define TESTS_MALLOC_LARGE_H

#include "ashlar.h"
#include "thread/slab_purge.h"
#include "thread/intact.h"
#include "backend/retain.h"
#include "thread/owner.h"
#include "front/quick.h"
#include "rt.h"
#include "thread/large.h"
#include "thread/seating.h"

#define UNITS(n) ((n)*UNIT_SIZE)

static inline size_t cached(void)
{
	size_t units = 0;
	unsigned room;

	for (room = 0; room < LARGE_CACHE; room++)
		if (seat.self->cached[room] != NULL)
			units += seat.self->cached[room]->units;
	CHECK_EQ(units, seat.self->cached_units);
	return units;
}

#endif
