/* SPDX-License-Identifier: MIT */
/*
 * A library that allocates very early: in an ifunc resolver, while libraries before
 * it in the list are not yet relocated, and in a constructor.  With -DPROGRAM: the
 * program that uses the blocks.
 */
#include <stdlib.h>
#include <string.h>

#ifndef PROGRAM
static char *from_resolver, *from_constructor;

static int answer(void)
{
	return 42;
}

static void *resolve(void)
{
	char *p = malloc(100);
	size_t i;

	memset(p, 7, 100);
	free(p);
	free(realloc(NULL, 10));
	for (i = 0; i < 3000; i++)
		p = realloc(malloc(i), 2 * i + 1);
	memset(p, 3, i);
	p = realloc(p, 3000000);
	from_resolver = calloc(3, 100);
	from_resolver[0] = p[5];
	free(p);
	return (void *)answer;
}

/* Static, so that it is resolved while this library is relocated, as its last relocation. */
static int resolved(void) __attribute__((ifunc("resolve")));

int call_resolved(void)
{
	return resolved();
}

char *early_block(int which)
{
	return which == 0 ? from_resolver : from_constructor;
}

__attribute__((constructor)) static void construct(void)
{
	from_constructor = calloc(100, 100);
}
#else
#include <stdio.h>

int call_resolved(void);
char *early_block(int which);

int main(void)
{
	printf("%d %d %d\n", call_resolved(), *early_block(0), *early_block(1));
	free(early_block(0));
	free(early_block(1));
	return 0;
}
#endif
