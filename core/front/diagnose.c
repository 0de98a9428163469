/* SPDX-License-Identifier: MIT */
#include "front/diagnose.h"

#include "backend/heap.h"
#include "front/find.h"
#include "thread/seat.h"

#ifndef ASHLAR_AMALGAMATION
__attribute__((weak)) void ash_diagnose_nearest(const void *p, struct found *out)
{
	(void)p, (void)out;
}
#endif

#if defined ASHLAR_MALLOC && !defined ASHLAR_HEAPS
/*
 * libashlar.so's, if the process has it.  A program that was linked with -lashlar_malloc before
 * -lashlar has its heaps from there, and ash_release and its like from here.
 */
__attribute__((weak)) struct ash_heap *ash_heap_of(const void *p);

static bool is_of_libashlar(const void *p)
{
	return ash_heap_of != NULL && ash_heap_of(p) != NULL;
}
#else
#define is_of_libashlar(p) false
#endif

_Noreturn void diagnose(const char *call, const void *p)
{
	const char *fault = call_again(call);
	struct found f;

	if (heap_hooks_now() != NULL)
		heap_hooks_now()->misuse(call, p);
	find_address(p, &f);
	if (f.place == ASH_FOREIGN && is_of_libashlar(p)) {
		fault = "block of a heap of libashlar; is -lashlar behind -lashlar_malloc?";
	} else if (f.place == ASH_FOREIGN) {
		fault = "not a block of this allocator";
		if (!SMALL)
			ash_diagnose_nearest(p, &f);
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
