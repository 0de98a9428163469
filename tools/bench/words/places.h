/* SPDX-License-Identifier: MIT */
/* Where memory is and who had it: the nodes of pages, the last releasers of blocks. */
#ifndef WORDS_PLACES_H
#define WORDS_PLACES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define BUCKETS (1u << 20) /* of a table by address */

static inline size_t bucket(uint64_t key)
{
	return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 44);
}

/* The node of the page of this address: that of the thread that touched it first, or does now. */
unsigned places_node(uint64_t address);

/* A block was allocated, or is about to be released; by the running thread. */
void places_taken(uint64_t block);
void places_given(uint64_t block);

void places_reset(void);
/*
 * B taken, taken again, ... released by another thread, by another node's, in a page of
 * another node's
 */
void places_write(FILE *out);

#endif
