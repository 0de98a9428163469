/* SPDX-License-Identifier: MIT */
/*
 * ash_heap_walk, in an object of its own.  A program that calls ash_heap_walk links the walk anyway, so this object
 * also has the function that finds the block nearest to a misused pointer.  This function replaces a weak function
 * that finds no block (front/diagnose.h).
 */
#include "diagnostics/blocks.h"
#include "front/diagnose.h"

int ash_heap_walk(ash_heap *heap, blocks_visit *see, void *context)
{
	return ash_blocks_visit(heap, see, context);
}

void ash_diagnose_nearest(const void *p, struct found *out)
{
	ash_blocks_nearest(p, out);
}
