/* SPDX-License-Identifier: MIT */
#include "text.h"

#include "cpu.h"

char *text_add(char *to, const char *s)
{
	while (*s != '\0')
		*to++ = *s++;
	return to;
}

char *text_add_number(char *to, uintptr_t n, unsigned base)
{
	uintptr_t more = CPU_QUOTIENT(n, base);
	unsigned digit = (unsigned)(n - more * base);

	if (more > 0)
		to = text_add_number(to, more, base);
	*to = (char)(digit + (digit < 10 ? '0' : 'a' - 10));
	return to + 1;
}
