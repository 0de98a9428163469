/* SPDX-License-Identifier: MIT */
/*
 * Size classes: 8; 16, 32 ... 128; then eight to a doubling up to 1 MiB.
 * Rounding up wastes at most 1/9 of a block or 15 bytes, whichever is more.
 * Every class but the first is a multiple of 16.
 *
 *   class   0   1   2  ...   8     9   10  ...  16    17  ...  112
 *   bytes   8  16  32  ... 128   144  160  ... 256   288  ...  1 MiB
 */
#ifndef CORE_CLASS_H
#define CORE_CLASS_H

#include "base/bits.h"
#include "base/layout.h"
#include "internal.h"

#define CLASSES	      113
#define SLOT_MIN      ((size_t)8)
#define SLOT_MAX      ((size_t)1 << 20)
#define SLOT_SMALL    ((size_t)1024) /* up to here the class comes from a table */
#define CLASS_LINEAR  128	     /* up to here classes are CLASS_STEP apart */
#define CLASS_STEP    16
#define CLASS_PARTS   8		     /* classes of a doubling, from there on    */
#define CLASS_OF(n)                                                                                \
	((n) <= 8 ? 0 : (n) <= CLASS_LINEAR ? ((n) + 15) / 16 : CLASS_LARGER(n, (n) - 1))
/* m = n - 1 is in [2^e, 2^(e+1)): eight classes, selected by the next three bits. */
#define CLASS_LARGER(n, m)                                                                         \
	(9 + ((m) >= 512 ? 16 : (m) >= 256 ? 8 : 0) +                                              \
	 (((m) >> ((m) >= 512 ? 6 : (m) >= 256 ? 5 : 4)) & 7))

/* class_small[(size + 7) / 8] is CLASS_SMALL times the class of a size up to SLOT_SMALL. */
#define CLASS_SMALL 4
INTERNAL_EXTERN const uint8_t class_small[SLOT_SMALL / 8 + 1];

/* The class of a size from 129 bytes to SLOT_MAX, as in CLASS_LARGER. */
static inline unsigned class_larger(size_t size)
{
	size_t m = size - 1;
	unsigned e = bits_highest(m);

	return 9 + (e - 7) * 8 + (unsigned)((m >> (e - 3)) & 7);
}

/* The class of a size up to SLOT_MAX, and the slot size of a class. */
INTERNAL unsigned class_of(size_t size);
INTERNAL size_t class_size(unsigned class);

/* The smallest class of at least `size` whose slots are all aligned; CLASSES if there is none. */
INTERNAL unsigned class_aligned(size_t size, size_t alignment);

/*
 * Units of a slab: one (32 KiB) for the two smallest classes and if `few` slabs
 * of the class are in use (most classes of most programs), else two or more, for
 * four slots.  Above SLOT_LARGE a slab is one slot, so that a large block's memory
 * can be reused for another size at once.  A slab of 2^n units is aligned to its
 * size, and so are its slots if their size is a power of two.
 */
#define SLOT_LARGE UNIT_SIZE
#define CLASS_ONE  (8 + 8 * (UNIT_SHIFT - 7)) /* the class of SLOT_LARGE */
INTERNAL unsigned class_units(unsigned class, bool few);
INTERNAL unsigned class_slots(unsigned class, unsigned units);

/* ceil(2^64 / size): (offset * reciprocal) >> 64 == offset / size, see slab_index. */
static inline uint64_t class_reciprocal(size_t size)
{
	return ~(uint64_t)0 / size + 1;
}

#endif
