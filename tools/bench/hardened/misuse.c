/* SPDX-License-Identifier: MIT */
/*
 * Misuses of malloc, one for each number: tools/bench/hardened/run counts which of them end the program.
 * Exits with 0 if nothing noticed; 3: there is no such row.  A write is followed by what gives each
 * allocator its chance: the release of the block, or some thousand pairs.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile char sink;

static void pairs(size_t size)
{
	for (int i = 0; i < 20000; i++)
		free(malloc(size));
}

/* The address alone: compilers know free. */
static char *hidden(void *p)
{
	__asm__ volatile("" : "+r"(p));
	return p;
}

static void behind(size_t size, size_t at, int byte)
{
	char *p = hidden(malloc(size));

	p[size + at] = (char)byte;
	free(p);
	pairs(size);
}

static char *gone(size_t size)
{
	char *p = hidden(malloc(size)), *q;

	memset(p, 7, size);
	q = hidden(p);
	free(p);
	return q;
}

static void written_after(size_t size, size_t at)
{
	gone(size)[at] = 1;
	pairs(size);
}

static void reads(const char *p, size_t size)
{
	/* Only what is no old byte is safe. */
	for (size_t i = 0; i < size; i++)
		if (p[i] == 7)
			exit(0);
	exit(4);
}

static void old_bytes(size_t size)
{
	for (int i = 0; i < 2000; i++) {
		char *p = hidden(malloc(size));

		for (size_t k = 0; k < size; k++)
			if (p[k] == 7)
				exit(0);
		memset(p, 7, size);
		free(p);
	}
	exit(4);
}

static const struct row {
	const char *name;
	int number;
} rows[] = {
	{"write 1 byte behind 24", 1},	{"write a NUL behind 24", 2},	{"write behind 20, into slack", 3},
	{"write 8 behind 100", 4},	{"write 16 behind 40", 5},	{"write behind 100000", 6},
	{"write behind 3 MB", 7},	{"far behind 3 MB", 8},		{"before 3 MB", 9},
	{"write after release, 24", 10}, {"write after release, 2000", 11}, {"write after release, 100000", 12},
	{"write after release, 3 MB", 13}, {"read after release, 24: old bytes", 14},
	{"read after release, 3 MB", 15}, {"double free, 24", 16},	{"double free after others", 17},
	{"double free, 100000", 18},	{"free of the inside", 19},	{"free of the stack", 20},
	{"free of a static object", 21}, {"realloc after release", 22},	{"use of size 0", 23},
	{"old bytes in a new block", 24}, {"the slot comes again at once", 25}, {"neighbours are in order", 26},
};

int main(int argc, char **argv)
{
	static char object[64];
	char stack[64], *p, *q;
	int which = argc > 1 ? atoi(argv[1]) : 0, i, up = 0;

	if (which < 1 || which > (int)(sizeof rows / sizeof *rows))
		return 3;
	if (argc > 2) {
		puts(rows[which - 1].name);
		return 0;
	}
	free(malloc(24));
	switch (which) {
	case 1: behind(24, 0, 1); break;
	case 2: behind(24, 0, 0); break;
	case 3: behind(20, 1, 1); break;
	case 4:
		p = hidden(malloc(100));
		memset(p + 100, 1, 8);
		free(p);
		pairs(100);
		break;
	case 5:
		p = hidden(malloc(40));
		memset(p + 40, 1, 16);
		free(p);
		pairs(40);
		break;
	case 6: behind(100000, 0, 1); break;
	case 7: behind(3000000, 0, 1); break;
	case 8: behind(3000000, 300000, 1); break;
	case 9: hidden(malloc(3000000))[-100] = 1; break;
	case 10: written_after(24, 16); break;
	case 11: written_after(2000, 1000); break;
	case 12: written_after(100000, 50000); break;
	case 13: written_after(3000000, 1000000); break;
	case 14: reads(gone(24), 24); break;
	case 15: sink = gone(3000000)[1000000]; break;
	case 16: free(gone(24)); break;
	case 17:
		p = gone(24);
		for (i = 0; i < 20; i++)
			(void)gone(24);
		free(p);
		break;
	case 18: free(gone(100000)); break;
	case 19: free(hidden(malloc(100)) + 16); break;
	case 20: free(hidden(stack) + 16); break;
	case 21: free(hidden(object) + 16); break;
	case 22: (void)!realloc(gone(24), 100); break;
	case 23: *hidden(malloc(0)) = 1; break;
	case 24: old_bytes(200); break;
	case 25:
		for (i = 0; i < 100; i++) {
			p = gone(48);
			q = hidden(malloc(48));
			if (p == q)
				return 0;
			free(q);
		}
		exit(4);
	case 26:
		for (i = 0, p = hidden(malloc(48)); i < 100; i++, p = q) {
			q = hidden(malloc(48));
			up += q - p > 0 && q - p < 200;
		}
		exit(up > 80 ? 0 : 4);
	}
	return 0;
}
