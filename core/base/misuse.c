/* SPDX-License-Identifier: MIT */
#include "base/misuse.h"

#include "panic.h"
#include "text.h"

_Noreturn void misuse_report(enum call call, const void *p, const char *fault, size_t bytes)
{
	static const char names[][14] = {"release", "release_sized", "resize", "usable_size",
					    "heap_destroy", "heap"};
	/* The longest name, fault and numbers make 117 bytes. */
	char text[160], *end = text;

	end = text_add(end, "ashlar: ");
	end = text_add(end, names[call]);
	end = text_add(end, "(0x");
	end = text_add_number(end, (uintptr_t)p, 16);
	end = text_add(end, "): ");
	end = text_add(end, fault);
	if (bytes > 0) {
		end = text_add(end, ", ");
		end = text_add_number(end, bytes, 10);
		end = text_add(end, "-byte block");
	}
	*end++ = '\n';
	panic_line(text, (size_t)(end - text));
}

_Noreturn void misuse_double(const struct slab *s, unsigned group, unsigned bit)
{
	misuse_report(CALL_RELEASE, s->base + (size_t)(group * GROUP_SLOTS + bit) * s->slot_size,
	       "double free", s->slot_size);
}

_Noreturn void misuse_heap(enum call call, const void *p)
{
	misuse_report(call, p, "not a block of this heap", 0);
}

_Noreturn void misuse_size(const void *p, size_t bytes)
{
	misuse_report(CALL_RELEASE_SIZED, p, "wrong size", bytes);
}
