/* SPDX-License-Identifier: MIT */
/*
 * The model of caches, and what it counts.  Each core has a cache without end; a directory
 * keeps them coherent, line by line:
 *
 *	nobody --first access--> one core's --read by another--> shared, clean
 *	                             ^                              |
 *	                             +----------- a write ----------+
 *
 * So what costs time, beside the instructions, is only what cores do to each other: a read of a
 * line that another core wrote since, a write of a line that other cores have.  A line does one
 * of these at a time.  A plain store does not stop its core as long as the stores on their way
 * are few (DRAIN); a load does, and so does a locked instruction, for all stores before it.
 */
#ifndef WORDS_CACHES_H
#define WORDS_CACHES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "turns.h"

/* Picoseconds. */
struct machine {
	const char *name;
	unsigned group;	      /* cores that share a cache of the third level */
	uint64_t instruction; /* mean, without what the caches cost */
	uint64_t locked;      /* more, of an instruction with a lock prefix whose line is there */
	uint64_t near, node, far; /* a line of a core of the group, of the node, of another node */
};

extern struct machine machine;
/* The machine of this name; false: there is none. */
bool caches_machine(const char *name);
/* False: lines cannot have so many bytes. */
bool caches_begin(unsigned line_bytes);

/* By the running thread, whose core's clock goes on. */
void caches_access(uint64_t address, unsigned bytes, bool write, bool locked);

void caches_reset(void);
void caches_write(FILE *out);

#endif
