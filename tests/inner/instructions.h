/* SPDX-License-Identifier: MIT */
/*
 * The instructions that a harness of single steps meets, and those before which it has done
 * its work (its act, or its look).  What make test skips is chosen by them: at each
 * instruction the work is done once, whatever path meets it first; of the other
 * boundaries only some have it.
 */
#ifndef TESTS_INNER_INSTRUCTIONS_H
#define TESTS_INNER_INSTRUCTIONS_H

#include "rt.h"

enum { TEXT_END = 1 << 23 }; /* the programs lie below: linker.ld */

/* A bit for each address; in memory that all processes of the test share. */
struct instructions {
	_Atomic uint64_t met[TEXT_END / 64], done[TEXT_END / 64];
};

static inline bool instruction_is_in(const _Atomic uint64_t *set, uint64_t address)
{
	return (set[address % TEXT_END / 64] >> (address % 64)) & 1;
}

static inline void instruction_note(_Atomic uint64_t *set, uint64_t address)
{
	if (!instruction_is_in(set, address))
		set[address % TEXT_END / 64] |= (uint64_t)1 << (address % 64);
}

/* The number of instructions that were met and never had the work done before them. */
static inline size_t instructions_left(const struct instructions *t, const char *name)
{
	size_t i, met = 0, left = 0;

	for (i = 0; i < TEXT_END / 64; i++) {
		uint64_t word = t->met[i], rest = word & ~t->done[i];

		met += (size_t)__builtin_popcountll(word);
		for (; rest != 0; rest &= rest - 1)
			if (left++ < 5 && rt_in_full())
				rt_print("     %s: none before 0x%zx\n", name,
					 i * 64 + (size_t)__builtin_ctzll(rest));
	}
	rt_print("     %s: before %zu of %zu instructions\n", name, met - left, met);
	return left;
}

#endif
