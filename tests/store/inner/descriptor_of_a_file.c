/* SPDX-License-Identifier: MIT */
#include "ashlar_descriptor.h"
#include "rt.h"
#include "store/file/store.h"

/* A heap in a file has one of its own. */
TEST(descriptor_of_a_file, 2)
{
	static struct store s;
	struct store *base = (struct store *)(uintptr_t)CPU_APART_FROM;

	store_set(&s, base, 3);
	CHECK_EQ((uintptr_t)s.descriptor.base, (uintptr_t)base);
	CHECK_EQ(s.descriptor.length, store_bytes(3));
	CHECK(s.descriptor.heap == &base->heap && s.descriptor.map == NULL);
	CHECK(memcmp(s.descriptor.field, ash_descriptor.field, sizeof s.descriptor.field) == 0);
	CHECK(offsetof(struct store, descriptor) % sizeof(uint64_t) == 0);
}
