/* SPDX-License-Identifier: MIT */
/* How a reader knows a slab of each class; classes_and_indexes.c has the slots of such a slab. */
#include "backend/region.h"
#include "base/class.h"
#include "rt.h"
#include "slab/look.h"

static bool is_slab(unsigned class, size_t size, unsigned units, size_t slots, unsigned unit, bool fills)
{
	struct look l = {.size = size,
			 .slots = slots,
			 .groups = (unsigned)((slots + GROUP_SLOTS - 1) / GROUP_SLOTS),
			 .class = class,
			 .units = units};
	bool is = look_is_slab(&l, unit, fills);

	l.groups++;
	CHECK(!look_is_slab(&l, unit, fills));
	return is;
}

/* Readers of a file believe a slab's geometry if nothing else is possible: each of its numbers decides. */
TEST(class_slabs_are_known, 10)
{
	for (unsigned class = 0; class < CLASSES; class++) {
		size_t size = class_size(class);
		unsigned few = class_units(class, true), many = class_units(class, false), filled = class_filled(class);

		for (unsigned units = 0; units <= CHUNK_UNITS; units++) {
			unsigned slots = units == 0 ? 0 : class_slots(class, units);
			unsigned last = units == 0 || units > CHUNK_UNITS ? 0 : CHUNK_UNITS - units;
			bool is = units == few || units == many;

			CHECK_EQ(is_slab(class, size, units, slots, 0, false), is);
			CHECK_EQ(is_slab(class, size, units, slots, 0, true), is || units == filled);
			if (!is)
				continue;
			CHECK(!is_slab(class, size + 8, units, slots, 0, false));
			CHECK(!is_slab(class, size, units, slots + 1, 0, false));
			CHECK(!is_slab(class, size, units, slots - 1, 0, false));
			CHECK(!is_slab(class, size, units, slots + ((size_t)1 << 47), 0, false));
			for (unsigned unit = 0; unit <= CHUNK_UNITS; unit++)
				CHECK_EQ(is_slab(class, size, units, slots, unit, false),
					 unit <= last && (!class_is_aligned(class) || unit % units == 0));
		}
	}
	CHECK(!is_slab(CLASSES, 16, 1, 1, 0, true));
	CHECK(!is_slab(CLASSES, class_size(CLASSES), class_units(CLASSES, true), 1, 0, true));
}

/* Which large classes have several slots in a slab: of the default heap, locked, and those that waste a part of a unit. */
TEST(class_slabs_packed, 10)
{
	static struct heap other = {.locked = 1};
	const unsigned whole = class_of(2 * UNIT_SIZE), waste = class_of(2 * UNIT_SIZE + 1);

	CHECK(class_size(whole) == 2 * UNIT_SIZE && class_size(waste) % UNIT_SIZE != 0);
	for (unsigned locked = 0; locked < 2; locked++)
		for (unsigned is_short = 0; is_short < 2; is_short++) {
			heap_default.locked = locked;
			region_addresses_short = is_short; /* and spans that are alone may be more */
			CHECK_EQ(slab_packs(&heap_default, waste), locked != 0);
			CHECK(!slab_packs(&heap_default, whole) && !slab_packs(&other, waste));
		}
	CHECK(slab_fills(&heap_default, CLASS_ONE - 1) && !slab_fills(&heap_default, CLASS_ONE));
	CHECK(!slab_fills(&heap_default, CLASS_FILLED) && !slab_fills(&other, CLASS_ONE - 1));
}
