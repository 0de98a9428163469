/* SPDX-License-Identifier: MIT */
#include "text.h"

char *text_add(char *to, const char *s)
{
	while (*s != '\0')
		*to++ = *s++;
	return to;
}

char *text_add_number(char *to, uint64_t n, unsigned base)
{
	unsigned digit = (unsigned)(n % base);

	if (n >= base)
		to = text_add_number(to, n / base, base);
	*to = (char)(digit + (digit < 10 ? '0' : 'a' - 10));
	return to + 1;
}
