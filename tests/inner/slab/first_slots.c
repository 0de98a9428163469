/* SPDX-License-Identifier: MIT */
/* Where the slots of a slab begin: the first ones of different classes lie in different sets of the first cache. */
#include "base/class.h"
#include "slab/slab.h"
#include "inner/slots.h"

enum { SETS = SLAB_GAPS / 64 };

TEST(inner_gap_spreads_first_slots, 10)
{
	unsigned sets[SETS] = {0}, most = 0, used = 0;

	for (unsigned class = 0; class < CLASS_ONE; class++) {
		const struct slab *s = place_of(ash_alloc(class_size(class))).slab;
		size_t at = (uintptr_t)s->base % UNIT_SIZE, end = at + s->slots * s->slot_size;

		CHECK_EQ(s->slot_size, class_size(class));
		CHECK(at < SLAB_GAPS && at < s->slot_size);
		CHECK_EQ(at, slab_gap(s));
		/* As aligned as the slot's size is, and to the end of a page. */
		CHECK_EQ(at & (s->slot_size - 1) & ~s->slot_size, 0);
		CHECK(end % SLAB_GAPS == 0 && end <= s->units * UNIT_SIZE);
		sets[at / 64]++;
	}
	for (unsigned i = 0; i < SETS; i++) {
		most = sets[i] > most ? sets[i] : most;
		used += sets[i] != 0;
	}
	rt_print("     first slots of %u classes: in %u sets, at most %u in one\n", (unsigned)CLASS_ONE, used, most);
	CHECK(used >= 12 && most <= 24);
	CHECK_EQ(ash_check(), 0);
}
