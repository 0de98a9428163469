/* SPDX-License-Identifier: MIT */
/*
 * The trace: what one run of a program asked of its allocator, in order.
 * Written by tools/record, read by tools/demo/replay.c; this is its only
 * description.
 *
 * A file is a struct trace_header (little-endian) and then header.bytes
 * bytes of events, nothing behind them.  An event is one number or two.  A
 * number is LEB128: seven bits a byte, the lowest first, bit 7 set on all but
 * the last byte.
 *
 *	first number             second    event
 *	size  << 3 | ALLOC                 a block of `size` bytes
 *	size  << 3 | ZALLOC                the same, all zero (calloc: the product)
 *	size  << 3 | ALIGNED     shift     the same, aligned to 1 << shift
 *	slot' << 3 | RESIZE      size      the block in `slot` gets a new size
 *	slot' << 3 | RELEASE               the block in `slot` is given back
 *	n     << 3 | THREAD                what follows is done by thread n
 *
 * Slots.  Blocks have no addresses here, they sit in numbered slots.  A new
 * block takes the slot that was given back last or, when none is free, the
 * first one never used: so both sides know it and an allocation needs not
 * say it.  Slots that are named are near the one named or taken before, so
 * slot' is the difference to that (0 at the start), folded to a small
 * positive number by trace_fold.  One byte holds a difference of -8...7 or a
 * size below 16, two bytes -1024...1023 or a size below 2048.
 *
 * Threads count from 0, in order of appearance, and thread 0 begins.  A
 * THREAD event is no event in header.events.
 *
 * The order is the real one: an allocation stands behind the moment the
 * block was there, a release before the moment it was gone, and no other
 * event of any thread came between.  Only calls that succeeded are there;
 * blocks that are live when the trace ends are never given back.
 */
#ifndef TRACE_H
#define TRACE_H

#include <stddef.h>
#include <stdint.h>

#define TRACE_MAGIC      0x3130454341525441ull /* "ATRACE01" */
#define TRACE_EVENT_MAX  20ull                 /* bytes: two numbers of 64 bits */
#define TRACE_SHIFT_MAX  30u                   /* Ashlar aligns up to 1 GiB */
#define TRACE_THREAD_MAX 0xffffu

enum trace_op {
	TRACE_ALLOC,
	TRACE_ZALLOC,
	TRACE_ALIGNED,
	TRACE_RESIZE,
	TRACE_RELEASE,
	TRACE_THREAD
};

struct trace_header {
	uint64_t magic;   /* written last: an interrupted recording has none */
	uint64_t bytes;   /* of events */
	uint64_t sum;     /* trace_sum of them */
	uint64_t events;  /* a number */
	uint64_t peak;    /* most bytes live at a time, as asked for */
	uint32_t slots;   /* a number: most blocks live at a time */
	uint32_t threads; /* a number */
};
_Static_assert(sizeof(struct trace_header) == 48, "the header of the file format");

/* 0, -1, 1, -2, ... become 0, 1, 2, 3, ... */
static inline uint64_t trace_fold(int64_t value)
{
	return (uint64_t)value << 1 ^ (value < 0 ? ~(uint64_t)0 : 0);
}

static inline int64_t trace_unfold(uint64_t folded)
{
	return (int64_t)(folded >> 1 ^ (folded & 1 ? ~(uint64_t)0 : 0));
}

/* FNV-1a, 64 bits: against damage, not against forgery. */
static inline uint64_t trace_sum(const uint8_t *bytes, size_t count)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t i = 0; i < count; i++)
		sum = (sum ^ bytes[i]) * 0x100000001b3;
	return sum;
}

#endif
