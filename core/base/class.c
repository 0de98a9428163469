/* SPDX-License-Identifier: MIT */
#include "base/class.h"

INTERNAL const uint8_t class_small[CLASS_SMALLS] = {CLASS_TABLE};

unsigned class_of(size_t size)
{
	return size <= SLOT_SMALL ? class_small[(size + 7) / 8] / CLASS_SMALL : class_larger(size);
}

size_t class_size(unsigned class)
{
	if (class <= 8)
		return class == 0 ? 8 : (size_t)class * 16;
	return (size_t)(9 + ((class - 9) & 7)) << (((class - 9) >> 3) + 4);
}

bool class_has(unsigned class, size_t alignment)
{
	unsigned units = class_units(class, true);
	size_t start = bits_is_power(units) ? units * UNIT_SIZE : UNIT_SIZE;

	return (class_size(class) & (alignment - 1)) == 0 && start >= alignment;
}

unsigned class_aligned(size_t size, size_t alignment)
{
	unsigned class;

	if (size < alignment)
		size = alignment; /* a power of two is itself a class size */
	if (size > SLOT_MAX)
		return CLASSES;
	/* At most eight steps: the next power of two is a multiple and its slabs are aligned. */
	for (class = class_of(size); class < CLASSES && !class_has(class, alignment); class++)
		;
	return class;
}

unsigned class_units(unsigned class, bool few)
{
	size_t size = class_size(class);
	unsigned units = 2;

	if (size > SLOT_LARGE) {
		if (!few && size % UNIT_SIZE != 0)
			size *= LARGE_PACKED;
		return (unsigned)((size + UNIT_SIZE - 1) >> UNIT_SHIFT);
	}
	if (few || size <= 16)
		return 1;
	while (units * UNIT_SIZE < 4 * size)
		units *= 2;
	return units;
}

unsigned class_slots(unsigned class, unsigned units)
{
	return class_slots_by(units, class_reciprocal(class_size(class)));
}
