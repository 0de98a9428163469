/* SPDX-License-Identifier: MIT */
#include "front/diagnose.h"

#include "backend/heap.h"
#include "front/find.h"
#include "thread/seat.h"

#ifndef ASHLAR_AMALGAMATION
__attribute__((weak)) void diagnose_nearest(const void *p, struct found *out)
{
	(void)p, (void)out;
}
#endif

_Noreturn void diagnose(enum call call, const void *p)
{
	const char *fault = call_again(call);
	struct found f;

	if (heap_hooks_now() != NULL)
		heap_hooks_now()->misuse(call, p);
	find_address(p, &f);
	if (f.place == ASH_FOREIGN) {
		fault = "not a block of this allocator";
		if (!SMALL)
			diagnose_nearest(p, &f);
	} else if (f.place == ASH_RECORDS) {
		fault = "pointer to the allocator's own records";
	} else if (f.start == NULL) {
		fault = "memory already returned";
	} else if ((uintptr_t)p % 8 != 0) {
		fault = "misaligned pointer";
	} else if (f.place == ASH_UNUSED) {
		fault = "not in a block";
	} else if (p != f.start) {
		fault = "interior pointer";
	}
	misuse_report(call, p, fault, f.start, f.size);
}

#ifdef ASHLAR_MALLOC
void diagnose_called(const char *name, const void *p)
{
	if (!SEAT_MAY_BE_NULL || seat.self != NULL)
		misuse_called(name, p);
}
#endif
