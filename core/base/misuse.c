/* SPDX-License-Identifier: MIT */
#include "base/misuse.h"

#include "panic.h"
#include "text.h"

/* Malloc: the latest call by one of its names that left its fast path; a handler may overwrite this. */
static THREAD_LOCAL struct {
	const void *p;
	const char *name;
} called;

void misuse_called(const char *name, const void *p)
{
	if (!IS_MALLOC)
		return;
	called.p = p;
	called.name = name;
}

static char *add_name(char *end, const char *call, const void *p)
{
	if (IS_MALLOC && called.name != NULL && called.p == p)
		return text_add(end, called.name);
	end = text_add(end, "ash_");
	return text_add(end, call + 1);
}

_Noreturn void misuse_report(const char *call, const void *p, const char *fault, const void *start,
			     size_t bytes)
{
	/* The longest name, fault and numbers make 207 bytes. */
	char text[PANIC_WORDS], *end = text;
	size_t offset = (size_t)p - (size_t)start;

	end = text_add(end, "ashlar: ");
	end = add_name(end, call, p);
	end = text_add(end, "(0x");
	end = text_add_number(end, (uintptr_t)p, 16);
	end = text_add(end, "): ");
	end = text_add(end, fault);
	if (start != NULL) {
		end = text_add(end, ", ");
		if (offset >= bytes) {
			bool before = (uintptr_t)p < (uintptr_t)start;

			end = text_add_number(end, before ? 0 - offset : offset - bytes, 10);
			end = text_add(end, " bytes from a ");
		}
		end = text_add_number(end, bytes, 10);
		end = text_add(end, "-byte block at 0x");
		end = text_add_number(end, (uintptr_t)start, 16);
	}
	*end++ = '\n';
	panic_line(text, (size_t)(end - text));
}

_Noreturn void misuse_heap(const char *call, const void *p)
{
	misuse_report(call, p, "not a block of this heap", NULL, 0);
}

_Noreturn void misuse_size(const char *call, const void *p, size_t bytes)
{
	misuse_report(call, p, "wrong size", p, bytes);
}

void misuse_unless_fits(const char *call, const void *p, size_t bytes, size_t alignment, size_t size)
{
	if (p != NULL && size > bytes)
		misuse_size(call, p, bytes);
	if (p != NULL && (!bits_is_power(alignment) || ((uintptr_t)p & (alignment - 1)) != 0))
		misuse_report(call, p, "wrong alignment", p, bytes);
}
