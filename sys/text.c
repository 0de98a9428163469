/* SPDX-License-Identifier: MIT */
#include "text.h"

#include "syscall.h"

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

void text_say(const char *text, size_t length)
{
	/* A failed write is ignored: the text is only information. */
	(void)arch_write(2, text, length);
}
