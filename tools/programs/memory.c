/* SPDX-License-Identifier: MIT */
/* A program with two faults, which valgrind must find under Ashlar, too. */
#include <stdlib.h>

static void *volatile sink;

static void leak(void)
{
	sink = malloc(77);
	sink = NULL;
}

int main(void)
{
	char *p = malloc(40);
	volatile size_t behind = 40;

	p[behind] = 1;
	free(p);
	leak();
	return 0;
}
