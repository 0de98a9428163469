/* SPDX-License-Identifier: MIT */
/* Thread-local storage too large, and too aligned, for the buffer in start.c. */
#include "rt.h"

enum { SIZE = 40000, ALIGNMENT = 1024 };

static _Thread_local _Alignas(ALIGNMENT) unsigned char large[SIZE] = {[SIZE - 1] = 7};
static _Thread_local unsigned char zero[SIZE];

static bool fresh(void)
{
	unsigned sum = 0;

	for (size_t i = 0; i < SIZE; i++)
		sum += (unsigned)large[i] + zero[i];
	return sum == 7 && (uintptr_t)large % ALIGNMENT == 0;
}

static void body(void *result)
{
	*(bool *)result = fresh();
	memset(large, 1, SIZE);
	memset(zero, 1, SIZE);
}

TEST(tls_large_main_thread, 10)
{
	CHECK(fresh());
}

TEST(tls_large_other_threads, 10)
{
	for (int i = 0; i < 2; i++) {
		bool result = false;
		rt_in_thread(body, &result);
		CHECK(result);
	}
	CHECK(fresh());
}
