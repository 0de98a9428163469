/* SPDX-License-Identifier: MIT */
#include "backend/heap.h"

/* Weak: a program that defines ash_defaults itself wins. */
__attribute__((weak)) const struct ash_defaults ash_defaults = {
	.initial = CHUNK_SIZE,
	.cap = 0,
	.retain = (size_t)10 << 20,
	.huge = ASH_HUGE_DEFAULT,
};

struct heap heap_default = {.options = &ash_defaults, .sharing = PAGES_PRIVATE};
const struct heap_hooks *heap_hooks;

#define FEW 128 /* units, see heap_cleaned */

/*
 * Kept memory that was taken is in demand: a new period.  Not so for a few units of
 * many, or who takes one a period would keep all of them for ever.
 */
void heap_cleaned(struct heap *h, size_t units)
{
	uint64_t left = fetch_add_relaxed(&h->dirty, (uint64_t)0 - units) - units;
	uint64_t from = load_relaxed(&h->from), few = from / 64 < FEW ? from / 64 : FEW;

	if (left >= load_relaxed(&h->low))
		return;
	store_relaxed(&h->low, left);
	if (left + few < from) {
		store_relaxed(&h->from, left);
		store_relaxed(&h->clock, 0);
	}
}

#define TEXT(x)	   #x
#define NUMBER(x)  TEXT(x)

const char *ash_version(void)
{
	return NUMBER(ASH_VERSION_MAJOR) "." NUMBER(ASH_VERSION_MINOR) "." NUMBER(ASH_VERSION_PATCH);
}
