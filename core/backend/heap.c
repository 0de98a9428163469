/* SPDX-License-Identifier: MIT */
#include "backend/heap.h"

/* Weak: a program that defines ash_defaults itself wins. */
__attribute__((weak)) const struct ash_defaults ash_defaults = {
	.initial = CHUNK_SIZE,
	.cap = 0,
	.retain = (size_t)10 << 20,
	.huge = ASH_HUGE_DEFAULT,
};

INTERNAL struct heap heap_default = {.options = &ash_defaults, .sharing = PAGES_PRIVATE};
INTERNAL const struct heap_hooks *heap_hooks;

#define TEXT(x)	   #x
#define NUMBER(x)  TEXT(x)

const char *ash_version(void)
{
	return NUMBER(ASH_VERSION_MAJOR) "." NUMBER(ASH_VERSION_MINOR) "." NUMBER(ASH_VERSION_PATCH);
}
