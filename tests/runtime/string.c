/* SPDX-License-Identifier: MIT */
#include "rt.h"

size_t rt_strlen(const char *s)
{
	size_t n = 0;

	while (s[n] != '\0')
		n++;
	return n;
}

int rt_strcmp(const char *a, const char *b)
{
	for (; *a != '\0' && *a == *b; a++, b++)
		;
	return (unsigned char)*a - (unsigned char)*b;
}

char *rt_strstr(const char *hay, const char *needle)
{
	size_t length = rt_strlen(needle);

	for (size_t left = rt_strlen(hay); left >= length; hay++, left--)
		if (memcmp(hay, needle, length) == 0)
			return (char *)(uintptr_t)hay;
	return NULL;
}
