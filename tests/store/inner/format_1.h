/* SPDX-License-Identifier: MIT */
/* The golden file of format 1, tests/golden/format-1.words, as a memfd. */
#ifndef TESTS_STORE_INNER_FORMAT_1_H
#define TESTS_STORE_INNER_FORMAT_1_H

#include "rt.h"
#include "store/file/store.h"
#include "syscall.h"

enum { CAPACITY = 8 << 20, TEXT = 64 << 10 };

static char text[TEXT];

static inline uint64_t number(const char **at)
{
	uint64_t n = 0;
	unsigned digit;

	for (; **at != ' ' && **at != '\n'; ++*at) {
		digit = (unsigned)(**at <= '9' ? **at - '0' : **at - 'a' + 10);
		CHECK(digit < 16);
		n = n << 4 | digit;
	}
	++*at;
	return n;
}

static inline int golden(void)
{
	int fd = (int)arch_memfd_create("golden", 0);
	long length = rt_read_file("tests/golden/format-1.words", text, sizeof text - 1);
	const char *at = text;

	if (length <= 0)
		rt_skip("not where tests/golden is");
	CHECK_EQ(arch_ftruncate(fd, (long)(store_bytes(CAPACITY >> CHUNK_SHIFT))), 0);
	while (at < text + length) {
		uint64_t offset = number(&at), run = number(&at), word = number(&at);

		for (; run > 0; run--, offset += 8)
			CHECK_EQ(arch_pwrite64(fd, &word, 8, (long)offset), 8);
	}
	return fd;
}

#endif
