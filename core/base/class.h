/* SPDX-License-Identifier: MIT */
/*
 * Size classes: 8; 16, 32 ... 128; then eight to a doubling up to 1 MiB.
 * Rounding up wastes at most 1/9 of a block or 15 bytes, whichever is more.
 * Every class but the first is a multiple of 16.
 * In the default heap a block above 32 KiB gets the rest of its last unit, too (slot_class in front/slot.h).
 *
 *   class   0   1   2  ...   8     9   10  ...  16    17  ...  112
 *   bytes   8  16  32  ... 128   144  160  ... 256   288  ...  1 MiB
 *
 * To change the classes, change together: CLASSES, CLASS_OF, CLASS_LARGER and class_larger (the class of a size),
 * class_size and class_has (class.c), class_is_aligned, class_widest, and the classes that are named below.  The
 * classes are a part of the format of heaps in files: store/file/format.c asserts them, so other classes are another
 * format.  tests/inner/base/classes_and_indexes.c has the rule once more.
 */
#ifndef CORE_CLASS_H
#define CORE_CLASS_H

#include "base/bits.h"
#include "base/layout.h"
#include "internal.h"

#define CLASSES	      113
#define SLOT_MIN      ((size_t)8)
#define SLOT_MAX      ((size_t)1 << 20)
#define SLOT_SMALL    ((size_t)1024) /* up to this size the class comes from a table */
#define CLASS_LINEAR  128	     /* up to this size classes are CLASS_STEP apart */
#define CLASS_STEP    16
#define CLASS_PARTS   8		     /* classes of a doubling, above CLASS_LINEAR */
#define CLASS_OF(n)                                                                                \
	((n) <= 8 ? 0 : (n) <= CLASS_LINEAR ? ((n) + 15) / 16 : CLASS_LARGER(n, (n) - 1))
/* m = n - 1 is in [2^e, 2^(e+1)), which has eight classes, selected by the next three bits. */
#define CLASS_LARGER(n, m)                                                                         \
	(9 + ((m) >= 512 ? 16 : (m) >= 256 ? 8 : 0) +                                              \
	 (((m) >> ((m) >= 512 ? 6 : (m) >= 256 ? 5 : 4)) & 7))

/*
 * class_small[(size + 7) / 8] is CLASS_SMALL times the class of a size up to SLOT_SMALL: in this way the entry times 8 is
 * the distance of the bin in the owner record (BIN_STEP, thread/owner.h).
 */
#define CLASS_SMALL 3
#define CLASS_SMALLS (SLOT_SMALL / 8 + 1)
INTERNAL_EXTERN const uint8_t class_small[CLASS_SMALLS];

/* The entries of the table, one for each eight bytes, computed at compile time. */
#define CLASS_1(i)  CLASS_OF((i) * 8) * CLASS_SMALL
#define CLASS_4(i)  CLASS_1(i), CLASS_1((i) + 1), CLASS_1((i) + 2), CLASS_1((i) + 3)
#define CLASS_16(i) CLASS_4(i), CLASS_4((i) + 4), CLASS_4((i) + 8), CLASS_4((i) + 12)
#define CLASS_64(i) CLASS_16(i), CLASS_16((i) + 16), CLASS_16((i) + 32), CLASS_16((i) + 48)
#define CLASS_TABLE CLASS_64(0), CLASS_64(64), CLASS_1(128)
_Static_assert(CLASS_SMALLS == 129, "the table above");

/* Returns the class of a size from 129 bytes to SLOT_MAX, like CLASS_LARGER. */
static inline unsigned class_larger(size_t size)
{
	size_t m = size - 1;
	unsigned e = bits_highest(m);

	return 9 + (e - 7) * 8 + (unsigned)((m >> (e - 3)) & 7);
}

/* Return the class of a size up to SLOT_MAX, and the slot size of a class. */
INTERNAL unsigned class_of(size_t size);
INTERNAL size_t class_size(unsigned class);

/* Returns the smallest size of a class. */
static inline size_t class_least(unsigned class)
{
	return class > 0 ? class_size(class - 1) + 1 : 0;
}

/* Returns true if all slots of the class have this alignment, a power of two. */
INTERNAL bool class_has(unsigned class, size_t alignment);

/*
 * Returns the smallest class of at least `size` whose slots are all aligned, or CLASSES if there is no such
 * class.
 */
INTERNAL unsigned class_aligned(size_t size, size_t alignment);

/*
 * Return the number of units of a slab, and of slots in it.  `few` says that the record has fewer than two slabs
 * of the class, as is true of most classes of most programs.  A slab of the two smallest classes, and any slab if
 * `few`, has one unit (32 KiB).  Another slab has two units or more, for at least four slots.
 *
 * Above SLOT_LARGE a slab has one slot, so that a large block's memory can be reused for another size at
 * once.  But if not `few`, and one slot would leave a part of its last unit unused, the slab has LARGE_PACKED
 * slots, which share units.
 *
 * While addresses are short, class_filled gives the number of units.  A slab of 2^n units is aligned to its size if one
 * slot, or several slots, fill it exactly.
 */
#define SLOT_LARGE UNIT_SIZE
#define LARGE_PACKED 4 /* larger classes that are no multiple of a unit end below 8 units */
#define CLASS_FILLED (CLASS_ONE - 4 * CLASS_PARTS) /* up to 2 KiB, where slabs leave little unused */
#define CLASS_ONE  (8 + 8 * (UNIT_SHIFT - 7)) /* the class of SLOT_LARGE */
INTERNAL unsigned class_units(unsigned class, bool few);
INTERNAL unsigned class_slots(unsigned class, unsigned units);

/*
 * Returns the number of units that slots of this class, of at least 16 bytes, fill to the last byte: the odd
 * part of the size, 1 to 15.  Slabs of class_units leave up to 6 % unused.
 */
static inline unsigned class_filled(unsigned class)
{
	size_t size = class_size(class);

	return (unsigned)(size / (size & ~(size - 1)));
}

/* Returns true if slots of this class are aligned to their size, which is a power of two. */
static inline bool class_is_aligned(unsigned class)
{
	return class % CLASS_PARTS == 0;
}

/*
 * For a class above SLOT_LARGE, of which a slot takes whole units: returns the largest class with the same number of
 * units.  From 32 to 64 KiB eight classes have the same number of units, from 64 to 128 KiB four, from 128 to 256 KiB
 * two; each larger class has a number of its own.  The slots of the result are aligned to their size only if those of
 * `class` are.
 */
static inline unsigned class_widest(unsigned class)
{
	unsigned doubling = (class - CLASS_ONE - 1) / CLASS_PARTS, wide = ((class - 1) | (CLASS_PARTS - 1) >> doubling) + 1;

	return class < wide && class_is_aligned(wide) ? wide - 1 : wide;
}

/* Returns ceil(2^64 / size), with which (offset * reciprocal) >> 64 == offset / size, see slab_index. */
static inline uint64_t class_reciprocal(size_t size)
{
	return ~(uint64_t)0 / size + 1;
}

/* Like class_slots, without a division: the rounding of the reciprocal is exact for all bytes of a slab. */
static inline unsigned class_slots_by(unsigned units, uint64_t reciprocal)
{
	unsigned slots = (unsigned)((unsigned __int128)reciprocal * (units * UNIT_SIZE) >> 64);

	return slots < SLAB_SLOTS ? slots : SLAB_SLOTS;
}

#endif
