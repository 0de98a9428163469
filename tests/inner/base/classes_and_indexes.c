/* SPDX-License-Identifier: MIT */
/* Size classes and slot indexes, against the plain arithmetic they stand for. */
#include "rt.h"
#include "slab/slab.h"

/* The sizes of class.h: 8; 16 ... 128 by sixteens; then eight to a doubling. */
static size_t naive_class_size(unsigned class)
{
	size_t size = 8, step = 8;

	for (unsigned i = 0; i < class; i++) {
		if (i == 1)
			step = 16;
		if (size >= 128 && (size & (size - 1)) == 0)
			step = size / 8;
		size += step;
	}
	return size;
}

TEST(class_sizes, 10)
{
	CHECK_EQ(class_size(CLASSES - 1), SLOT_MAX);
	for (unsigned class = 0; class < CLASSES; class ++) {
		CHECK_EQ(class_size(class), naive_class_size(class));
		CHECK(class == 0 || class_size(class) % 16 == 0);
	}
}

/* Every size up to 1 MiB: the first class that is large enough, and little waste. */
TEST(class_of_every_size, 10)
{
	unsigned class = 0;

	for (size_t size = 0; size <= SLOT_MAX; size++) {
		while (naive_class_size(class) < size)
			class ++;
		CHECK_EQ(class_of(size), class);
		if (size > 16) {
			size_t waste = class_size(class) - size;

			/* 12.5 % of the block, or 15 bytes. */
			CHECK(waste <= 15 || waste * 8 <= class_size(class));
		}
	}
}

static size_t slab_bytes(unsigned class, bool few)
{
	return class_units(class, few) * UNIT_SIZE;
}

/* Where a slab of the class may begin, as a multiple of bytes. */
static size_t slab_start(unsigned class, bool few)
{
	unsigned units = class_units(class, few);

	return (units & (units - 1)) == 0 ? slab_bytes(class, few) : UNIT_SIZE;
}

/* The slots of a slab of each class fill its units, but for less than a slot. */
TEST(class_slabs_are_used, 10)
{
	for (unsigned n = 0; n < 2 * CLASSES; n++) {
		unsigned class = n / 2, units = class_units(class, n % 2);
		bool few = n % 2;
		size_t size = class_size(class), bytes = slab_bytes(class, few), slots = class_slots(class, units);

		CHECK(bytes >= UNIT_SIZE && bytes <= CHUNK_SIZE);
		CHECK(slots > 0 && slots <= SLAB_SLOTS && slots * size <= bytes);
		if (size == 8) /* as many as a slab can have fill half a unit */
			CHECK(units == 1 && slots == SLAB_SLOTS);
		else if (size <= SLOT_LARGE)
			CHECK(bytes - slots * size < size);
		else
			CHECK(slots == (few || size % UNIT_SIZE == 0 ? 1 : LARGE_PACKED) &&
			      bytes - slots * size < UNIT_SIZE && bytes - slots * size < size &&
			      units <= CHUNK_UNITS / 2);
		if (size <= SLOT_LARGE && few)
			CHECK_EQ(units, 1);
		else if (size <= SLOT_LARGE)
			CHECK(slots >= 4 && (size <= 16 || units == 2 || units / 2 * UNIT_SIZE < 4 * size));
		/* Slots whose size is a power of two are aligned to it. */
		if ((size & (size - 1)) == 0)
			CHECK_EQ(slab_start(class, few) % size, 0);
	}
}

TEST(class_aligned_all, 20)
{
	for (size_t alignment = 1; alignment <= 2 * SLOT_MAX; alignment *= 2)
		for (unsigned i = 0; i < 3 * CLASSES; i++) {
			size_t size = class_size(i / 3) + i % 3 - 1;
			unsigned class = 0;

			while (class < CLASSES &&
			       (class_size(class) < size || class_size(class) % alignment != 0 ||
				slab_start(class, true) % alignment != 0 ||
				slab_start(class, false) % alignment != 0))
				class ++;
			CHECK_EQ(class_aligned(size, alignment), class);
		}
	CHECK_EQ(class_aligned(0, 1), 0);
	CHECK_EQ(class_aligned(SLOT_MAX + 1, 1), CLASSES);
	CHECK_EQ(class_aligned(PTRDIFF_MAX, 4096), CLASSES);
}

static void fake_slab(struct slab *s, unsigned class, bool few, char *base)
{
	s->base = base;
	s->slot_size = (uint32_t)class_size(class);
	s->slots = class_slots(class, class_units(class, few));
	s->groups = (uint32_t)((s->slots + GROUP_SLOTS - 1) / GROUP_SLOTS);
	s->reciprocal = class_reciprocal(s->slot_size);
}

/* Every class, every offset of its slab. */
TEST(slab_index_every_offset, 60)
{
	static struct slab s;
	char *base = (char *)0x7f0000200000;

	for (unsigned n = 0; n < 2 * CLASSES; n++) {
		unsigned class = n / 2;
		size_t bytes = slab_bytes(class, n % 2), size = class_size(class);
		size_t index = 0, rest = 0;

		fake_slab(&s, class, n % 2, base);
		for (size_t offset = 0; offset < bytes; offset++, rest++) {
			uint64_t found;
			bool start;

			if (rest == size) {
				rest = 0;
				index++;
			}
			start = slab_index(&s, base + offset, &found);
			CHECK_EQ(start, rest == 0 && index < s.slots);
			if (start)
				CHECK_EQ(found, index);
		}
	}
}

/* Addresses that are not in the slab at all: below, behind, and in another half. */
TEST(slab_index_elsewhere, 30)
{
	static struct slab s;
	struct rt_random random;
	char *base = (char *)0x7f0000200000;

	rt_seed(&random, rt_test_seed());
	for (unsigned class = 0; class < CLASSES; class ++) {
		size_t used;
		uint64_t found;

		fake_slab(&s, class, class % 2, base);
		used = s.slots * s.slot_size;
		for (size_t n = 1; n < 3 * SLAB_SLOTS; n++) {
			CHECK(!slab_index(&s, base - n * s.slot_size, &found));
			CHECK(!slab_index(&s, base + used + (n - 1) * s.slot_size, &found));
		}
		for (unsigned shift = 21; shift < 64; shift++)
			for (size_t n = 0; n < s.slots; n += 7) {
				char *p = base + n * s.slot_size;

				CHECK(!slab_index(&s, (char *)((uintptr_t)p ^ (1ull << shift)),
						  &found));
			}
		for (unsigned n = 0; n < 20000; n++) {
			uint64_t address = rt_next(&random);

			if (address - (uintptr_t)base >= used)
				CHECK(!slab_index(&s, (char *)address, &found));
		}
	}
}

TEST(slab_group_masks, 10)
{
	static struct slab s;

	for (unsigned n = 0; n < 2 * CLASSES; n++) {
		fake_slab(&s, n / 2, n % 2, NULL);
		for (unsigned slot = 0; slot < s.groups * GROUP_SLOTS; slot++)
			CHECK_EQ(slab_group_mask(&s, slot / GROUP_SLOTS) >> (slot % GROUP_SLOTS) &
					 1,
				 slot < s.slots);
	}
}
