/* SPDX-License-Identifier: MIT */
/*
 * A system of the program's own (ashlar_system.h): all memory is one static array.  Chunks,
 * which are aligned to 2 MiB, come from its end, records from its beginning, so that no
 * alignment leaves a gap; nothing is taken back.
 */
/* promises: ash_system_map, ash_system_thread */
#include "ashlar_system.h"

#include "system/array.h"

static _Alignas(2 << 20) char array[ARRAY_BYTES]; /* a mapping of its own would do, too */

#define PIECE 4096
/* Pieces taken from the beginning (lower half) and from the end, in one word for one CAS. */
static uint64_t taken;
static size_t plain_end; /* not 0: see array_plain */

void *ash_system_map(size_t bytes, size_t alignment)
{
	uint64_t was = __atomic_load_n(&taken, __ATOMIC_RELAXED), low, high;
	uintptr_t place;
	size_t at;

	do {
		low = was & UINT32_MAX;
		high = was >> 32;
		if (bytes > sizeof array - (low + high) * PIECE)
			return NULL;
		at = low * PIECE;
		if (alignment <= 65536 || plain_end != 0) {
			at = (at + alignment - 1) & ~(alignment - 1);
			if (plain_end != 0 && (at > plain_end || bytes > plain_end - at))
				return NULL;
			low = (at + bytes) / PIECE;
		} else {
			place = (uintptr_t)array + sizeof array - high * PIECE - bytes;
			at = (place & ~(alignment - 1)) - (uintptr_t)array;
			high = (sizeof array - at) / PIECE;
		}
		/* Also where rounding down went below the array. */
		if (high > sizeof array / PIECE || low + high > sizeof array / PIECE)
			return NULL;
		/* Relaxed: the memory reads zero since the program began. */
	} while (!__atomic_compare_exchange_n(&taken, &was, low | high << 32, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return array + at;
}

void array_plain(size_t bytes)
{
	uint64_t low = taken & UINT32_MAX;

	low = (low + (2 << 20) / PIECE - 1) & ~(uint64_t)((2 << 20) / PIECE - 1);
	taken = (taken & ~(uint64_t)UINT32_MAX) | low;
	plain_end = low * PIECE + bytes;
}

size_t array_left(void)
{
	uint64_t now = __atomic_load_n(&taken, __ATOMIC_RELAXED);

	return sizeof array - ((now & UINT32_MAX) + (now >> 32)) * PIECE;
}

/* Threads are numbered as they come. */
uint32_t ash_system_thread(void)
{
	static _Thread_local uint32_t mine;
	static uint32_t last;

	if (mine == 0)
		mine = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	return mine;
}
