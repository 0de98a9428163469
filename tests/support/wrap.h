/* SPDX-License-Identifier: MIT */
/*
 * Functions that a program of tests/program has in place of others: each call of NAME, but its own of
 * __real_NAME, is one of __wrap_NAME.  The Makefile tells the linker which there are, by the names in the object.
 */
#ifndef TESTS_SUPPORT_WRAP_H
#define TESTS_SUPPORT_WRAP_H

/* WRAP(type, name, (parameters)) { body } */
#define WRAP(type, name, parameters)                                                               \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters

/* A system call, whatever its arguments are, behind these statements. */
#define WRAP_CALL(call, ...)                                                                       \
	WRAP(long, arch_##call, (long a, long b, long c, long d, long e, long f))                  \
	{                                                                                          \
		__VA_ARGS__;                                                                       \
		return __real_arch_##call(a, b, c, d, e, f);                                       \
	}

#endif
