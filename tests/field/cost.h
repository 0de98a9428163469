/* SPDX-License-Identifier: MIT */
/* Calls on a heap, and the instructions that one takes. */
#ifndef TESTS_FIELD_COST_H
#define TESTS_FIELD_COST_H

#include "support/handler_at_step.h"
#include "support/heap_in.h"

static ash_heap *heap;
static size_t size_of_call;
static void *block;

DOES(call_alloc, block = ash_heap_alloc(heap, size_of_call));
DOES(call_release, ash_heap_release(heap, block));

static void never(void)
{
}

static size_t instructions(void (*call)(void))
{
	(void)with_act_at(SIZE_MAX, call);
	return boundary;
}

#endif
