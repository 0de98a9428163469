/* SPDX-License-Identifier: MIT */
/* What a slab of each class holds: its units, but for less than a slot. */
#include "base/class.h"
#include "rt.h"

TEST(class_slabs_are_used, 10)
{
	for (unsigned class = 0; class < CLASSES; class++)
		for (int few = 0; few < 2; few++) {
			size_t size = class_size(class);
			unsigned units = class_units(class, few != 0), slots = class_slots(class, units);

			CHECK(slots > 0 && slots <= SLAB_SLOTS && slots * size <= units * UNIT_SIZE);
			if (size == 8) /* as many as a slab can have fill half a unit */
				CHECK(units == 1 && slots == SLAB_SLOTS);
			else if (size <= SLOT_LARGE)
				CHECK(units * UNIT_SIZE - slots * size < size);
			else
				CHECK(slots == (few != 0 || size % UNIT_SIZE == 0 ? 1 : LARGE_PACKED) &&
				      units * UNIT_SIZE - slots * size < UNIT_SIZE && units <= CHUNK_UNITS / 2);
			if (size <= SLOT_LARGE && !few && size > 16)
				CHECK(slots >= 4 && (units == 2 || units / 2 * UNIT_SIZE < 4 * size));
		}
}
