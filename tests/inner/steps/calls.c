/* SPDX-License-Identifier: MIT */
/* Common parts of the paths of several programs. */
#include "backend/chunk.h"
#include "backend/units.h"
#include "inner/steps/harness.h"

void steps_fill_units(void)
{
	struct units u;

	/* Claimed and never published: in use, for all that others can tell. */
	do
		u = units_claim(&heap_default, 1, false, false);
	while (u.chunk != NULL);
}

void steps_alloc(void)
{
	step_block = ash_alloc(step_size);
	steps_held++;
}

void steps_release(void)
{
	void *p = step_block;

	step_block = NULL;
	ash_release(p);
	steps_held--;
}
