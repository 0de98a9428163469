/* SPDX-License-Identifier: MIT */
/* A filter of system calls, as the kernel wants it (linux/filter.h, linux/seccomp.h): one call and all others. */
#ifndef TESTS_PROGRAM_FILTER_H
#define TESTS_PROGRAM_FILTER_H

#include "rt.h"
#include "syscall.h"

#define FILTER_KILL   0x80000000u
#define FILTER_REFUSE (0x00050000u | 38) /* ENOSYS */
#define FILTER_ALLOW  0x7fff0000u

/* The calling process is answered so from now on.  False: no kernel here that knows filters. */
static inline bool filter_calls(uint32_t call, uint32_t answer, uint32_t others)
{
	enum { LOAD = 0x20, IF_EQUAL = 0x15, RETURN = 0x06, PR_SET_SECCOMP = 22, PR_SET_NO_NEW_PRIVS = 38, FILTER = 2 };
	const struct instruction {
		uint16_t code;
		uint8_t if_true, if_false;
		uint32_t k;
	} filter[] = {
		{LOAD, 0, 0, 0}, /* the number of the call */
		{IF_EQUAL, 0, 1, call},
		{RETURN, 0, 0, answer},
		{RETURN, 0, 0, others},
	};
	const struct {
		uint16_t count;
		const struct instruction *instructions;
	} program = {sizeof filter / sizeof *filter, filter};

	return arch_prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       arch_prctl(PR_SET_SECCOMP, FILTER, (long)(uintptr_t)&program, 0, 0) == 0;
}

#endif
