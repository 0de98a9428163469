/* SPDX-License-Identifier: MIT */
/* <malloc.h> beside allocation: questions, and wishes that are granted or need not be. */
#include "facade.h"

/* As in glibc's <malloc.h>. */
struct mallinfo2 {
	size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks,
		keepcost;
};

EXPORT int mallopt(int parameter, int value);
EXPORT int malloc_trim(size_t pad);
EXPORT struct mallinfo2 mallinfo2(void);
EXPORT void malloc_stats(void);

IF_PRESENT long write(int fd, const void *bytes, size_t length);

/* What it would set is glibc's; 1 is success. */
int mallopt(int parameter, int value)
{
	(void)parameter, (void)value;
	return 1;
}

int malloc_trim(size_t pad)
{
	return ash_trim(pad) > 0;
}

struct mallinfo2 mallinfo2(void)
{
	struct mallinfo2 info = {0};
	struct ash_stats s;

	ash_stats(&s);
	info.arena = s.slabs + s.dirty;
	info.hblkhd = s.spans;
	info.ordblks = s.pending;
	info.uordblks = s.block_bytes;
	info.fordblks = s.slabs + s.spans + s.dirty - s.block_bytes;
	info.keepcost = s.dirty;
	return info;
}

/* "name: value" for each figure, on fd 2, in one piece and without stdio. */
static char *put(char *at, const char *name, size_t value)
{
	char digits[20];
	unsigned n = 0;

	while (*name != '\0')
		*at++ = *name++;
	do
		digits[n++] = (char)('0' + value % 10);
	while ((value /= 10) != 0);
	while (n > 0)
		*at++ = digits[--n];
	*at++ = '\n';
	return at;
}

void malloc_stats(void)
{
	struct ash_stats s;
	char text[512], *at = text;

	if (write == NULL)
		return;
	ash_stats(&s);
	at = put(at, "ashlar: reserved bytes: ", s.reserved);
	at = put(at, "ashlar: in slabs:       ", s.slabs);
	at = put(at, "ashlar: in spans:       ", s.spans);
	at = put(at, "ashlar: blocks:         ", s.blocks);
	at = put(at, "ashlar: their bytes:    ", s.block_bytes);
	at = put(at, "ashlar: to collect:     ", s.pending);
	at = put(at, "ashlar: free and dirty: ", s.dirty);
	at = put(at, "ashlar: owner records:  ", s.owners);
	(void)!write(2, text, (size_t)(at - text));
}
