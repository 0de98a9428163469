/* SPDX-License-Identifier: MIT */
/* The state of a thread of any process, from /proc/TID/task/TID/stat. */
#ifndef CORE_PROC_STAT_H
#define CORE_PROC_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal.h"

/* Fields of proc_pid_stat(5), counted from 1. */
enum {
	PROC_STATE = 3,	   /* a letter, stored as the letter less '0'       */
	PROC_FLAGS = 9,
	PROC_THREADS = 20, /* threads of its process                         */
	PROC_BIRTH = 22,   /* in ticks since the system started              */
	PROC_CODE = 26,	   /* begin of the program's code, and of its stack; */
	PROC_STACK = 28,   /* 1 and 0 for readers that ptrace would refuse   */
	PROC_FIELDS
};

struct proc_stat {
	uint64_t number[PROC_FIELDS]; /* from PROC_STATE on */
};

/* Returns whether the thread is in this state. */
static inline bool proc_stat_is(const struct proc_stat *s, char letter)
{
	return s->number[PROC_STATE] == (uint64_t)(letter - '0');
}

/* Returns false if there is no such thread, or /proc cannot be read. */
INTERNAL bool proc_stat_read(uint64_t thread, struct proc_stat *out);

/* Reads the file's first bytes, by a single read.  Returns their number, or 0 on any error. */
INTERNAL size_t proc_file_read(const char *path, char *out, size_t size);

/* Hashes b into a. */
static inline uint64_t proc_stat_mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
	return a ^ a >> 32;
}

#endif
