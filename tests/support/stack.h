/* SPDX-License-Identifier: MIT */
/* The stack that a call uses. */
#ifndef SUPPORT_STACK_H
#define SUPPORT_STACK_H

#include "rt.h"

enum { PAINTED = 65536, NEAR = 256, PAINT = 0x5a };

/* Bytes of stack that the call writes. */
static __attribute__((noinline, unused)) size_t stack_of(void (*call)(void))
{
	volatile char *top = __builtin_frame_address(0), *at;

	for (at = top - NEAR; at > top - PAINTED; at--)
		*at = PAINT;
	call();
	for (at = top - PAINTED + 1; at < top && *at == PAINT; at++)
		;
	return (size_t)(top - at);
}

#endif
