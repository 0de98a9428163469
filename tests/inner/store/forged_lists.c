/* SPDX-License-Identifier: MIT */
/* Files whose lists lie, otherwise than a word at a time: who attaches refuses them, or does not believe the lists. */
#include "inner/store/forged_words.h"
#include "slab/slab.h"

/*
 * A slab on a list is of another class than the list: refused, or not believed, so that no block of the list's
 * class is smaller than it was asked for.
 */
TEST(sound_class_of_a_listed_slab, 10)
{
	static char *p[2000];
	struct slab *at, now;
	unsigned i, n, class;
	ash_heap *h;

	make();
	at = slab_of_block();
	get(at, &now, sizeof now);
	/* A smaller one in as many units: all bits that are set are of its slots. */
	for (class = now.class; class_units(--class, true) != now.units;)
		CHECK(class > 0);
	n = now.class;
	now.class = (uint8_t)class;
	now.slot_size = (uint32_t)class_size(class);
	now.slots = class_slots(class, now.units);
	now.groups = (uint32_t)(now.slots + GROUP_SLOTS - 1) / GROUP_SLOTS;
	now.reciprocal = class_reciprocal(now.slot_size);
	CHECK(now.groups <= SLAB_GROUPS && class_size(n) >= 300 && now.slot_size < class_size(n));
	put(at, &now, sizeof now);
	h = ash_heap_attach_file(fd, NULL);
	if (h == NULL)
		return;
	CHECK_EQ(ash_heap_check(h), 0);
	for (i = 0; i < 2000; i++) {
		p[i] = ash_heap_alloc(h, class_size(n));
		CHECK(p[i] != NULL && ash_heap_usable_size(h, p[i]) >= class_size(n));
		memset(p[i], (int)i, class_size(n));
	}
	for (i = 0; i < 2000; i++) {
		CHECK_EQ((unsigned char)p[i][0], (unsigned char)i);
		CHECK_EQ((unsigned char)p[i][class_size(n) - 1], (unsigned char)i);
	}
	CHECK_EQ(ash_heap_check(h), 0);
}
