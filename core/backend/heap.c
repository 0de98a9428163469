/* SPDX-License-Identifier: MIT */
#include "backend/heap.h"

/* Weak: a program may define its own ash_defaults. */
__attribute__((weak)) const struct ash_defaults ash_defaults = {
	.initial = CHUNK_SIZE,
	.cap = 0,
	.retain = (size_t)10 << 20,
	.huge = ASH_HUGE_DEFAULT,
};

/*
 * A shared object's .data begins anywhere in a page, by the bytes before it: the heap, which begins it,
 * must not lie on two, of which the first would be written for it alone.
 */
_Alignas(IS_SO ? PAGE_LEAST : 0) /* 0: no more than its type has */
INTERNAL struct heap heap_default = {.options = &ash_defaults, .sharing = PAGES_PRIVATE};
INTERNAL const struct heap_hooks *heap_hooks;

#if IS_MALLOC
HIDDEN struct ash_defaults *ash_own_settings(void); /* of the facade */
struct ash_defaults *ash_own_settings(void)
{
	if (heap_default.options != &heap_default.own) {
		heap_default.own = ash_defaults;
		heap_default.options = &heap_default.own;
	}
	return &heap_default.own;
}
#endif

#define FEW 128 /* units, see heap_cleaned */

/*
 * Fresh memory after some went shows that it went too soon: the floor rises (retain.h).
 * Reuse of retained memory shows demand and begins a new period.  A few units of many
 * do not, or a program that takes one unit a period would retain all of them for ever.
 */
void heap_cleaned(struct heap *h, size_t units, size_t used)
{
	uint64_t change = used * HEAP_USED - units;
	uint64_t now = fetch_add_relaxed(&h->both, change) + change;
	uint32_t left = (uint32_t)now;
	uint64_t from = load_relaxed(&h->period_start), few = from / 64 < FEW ? from / 64 : FEW;
	uint64_t gone = load_relaxed(&h->gone), again = used - units;

	heap_peak(&h->peak.used, now >> 32);
	heap_peak(&h->peak.kept, (now >> 32) + left);
	if (gone != 0 && used > units) {
		again = again < gone ? again : gone;
		store_relaxed(&h->gone, gone - again);
		store_relaxed(&h->floor, load_relaxed(&h->floor) + 2 * again);
		store_relaxed(&h->clock, 0);
	}
	if (left >= load_relaxed(&h->period_low))
		return;
	store_relaxed(&h->period_low, left);
	if (left + few < from) {
		store_relaxed(&h->period_start, left);
		store_relaxed(&h->clock, 0);
	}
}

const char *ash_version(void)
{
	return HEAP_RELEASE;
}
