/* SPDX-License-Identifier: MIT */
/* The descriptor tells the layout of the structures, by objects that are there. */
/* promises: ash_version */
#include "ashlar_descriptor.h"
#include "rt.h"
#include "thread/owner.h"

static uint32_t number(enum ash_field field)
{
	return ash_descriptor.field[field];
}

/* The value that a reader finds at the field of the object. */
static uint64_t member(const void *object, enum ash_field field)
{
	uint64_t value = 0;

	CHECK(ASH_MEMBER_BYTES(number(field)) <= sizeof value);
	memcpy(&value, (const char *)object + ASH_MEMBER_OFFSET(number(field)),
	       ASH_MEMBER_BYTES(number(field)));
	return value;
}

/* The members of an object of random bytes, each of which a wrong place or size would show. */
#define MEMBER_IS(object, structure, name)                                                         \
	CHECK_EQ(member(&(object), ASH_##structure##_##name), (uint64_t)(object).name)

static void scramble(void *object, size_t bytes)
{
	struct rt_random r;
	size_t i;

	rt_seed(&r, rt_test_seed());
	for (i = 0; i < bytes; i++)
		((unsigned char *)object)[i] = (unsigned char)rt_next(&r);
}

TEST(descriptor_members, 2)
{
	static struct heap h;
	static struct region r;
	static struct chunk c;
	static struct slab s;
	static struct owner o;
	static struct ash_defaults d;

	scramble(&h, sizeof h);
	scramble(&r, sizeof r);
	scramble(&c, sizeof c);
	scramble(&s, sizeof s);
	scramble(&o, sizeof o);
	scramble(&d, sizeof d);
	MEMBER_IS(h, heap, regions);
	MEMBER_IS(h, heap, owners);
	MEMBER_IS(h, heap, options);
	MEMBER_IS(h, heap, id);
	MEMBER_IS(h, heap, sharing);
	MEMBER_IS(h, heap, dirty);
	MEMBER_IS(h, heap, reserved);
	MEMBER_IS(h, heap, refused);
	MEMBER_IS(d, ash_defaults, cap);
	MEMBER_IS(d, ash_defaults, retain);
	MEMBER_IS(r, region, next);
	MEMBER_IS(r, region, heap);
	MEMBER_IS(r, region, state);
	MEMBER_IS(r, region, base);
	MEMBER_IS(r, region, chunks);
	MEMBER_IS(r, region, capacity);
	MEMBER_IS(r, region, stride);
	MEMBER_IS(r, region, records);
	MEMBER_IS(r, region, remote);
	MEMBER_IS(r, region, remote_stride);
	MEMBER_IS(r, region, free);
	MEMBER_IS(r, region, clean);
	MEMBER_IS(r, region, metadata);
	MEMBER_IS(c, chunk, kind);
	MEMBER_IS(c, chunk, base);
	MEMBER_IS(c, chunk, region);
	MEMBER_IS(c, chunk, units);
	MEMBER_IS(c, chunk, clean);
	MEMBER_IS(c, chunk, index);
	MEMBER_IS(c, chunk, span_chunks);
	MEMBER_IS(c, chunk, span_bytes);
	CHECK_EQ(member(&c, ASH_chunk_head), c.head[0]);
	MEMBER_IS(s, slab, owner);
	MEMBER_IS(s, slab, base);
	MEMBER_IS(s, slab, slots);
	MEMBER_IS(s, slab, remote);
	MEMBER_IS(s, slab, chunk);
	MEMBER_IS(s, slab, slot_size);
	MEMBER_IS(s, slab, groups);
	MEMBER_IS(s, slab, class);
	MEMBER_IS(s, slab, unit);
	MEMBER_IS(s, slab, units);
	CHECK_EQ(member(&s, ASH_slab_free), s.free[0]);
	MEMBER_IS(o, owner, next);
	MEMBER_IS(o, owner, heap);
	MEMBER_IS(o, owner, state);
	MEMBER_IS(o, owner, identity);
}

TEST(descriptor_numbers, 2)
{
	unsigned class;

	CHECK_EQ(ash_descriptor.version, ASH_DESCRIPTOR_VERSION);
	CHECK_EQ(ash_descriptor.fields, ASH_FIELDS);
	CHECK(rt_strcmp(ash_descriptor.name, ASH_DESCRIPTOR_NAME) == 0);
	CHECK(rt_strcmp(ash_descriptor.release, ash_version()) == 0);
	CHECK(ash_descriptor.heap == &heap_default && ash_descriptor.map == &chunk_map);
	CHECK_EQ(number(ASH_record_owned), record_offset(0));
	CHECK_EQ(number(ASH_record_unowned), record_offset_unowned(0));
	CHECK_EQ(number(ASH_slab_bytes), record_offset(1) - record_offset(0));
	CHECK_EQ(member(&chunk_map, ASH_map_root), (uintptr_t)chunk_map.root[0]);
	CHECK_EQ((size_t)1 << number(ASH_map_bits), MAP_SIZE);
	CHECK_EQ((size_t)1 << (number(ASH_address_bits) - number(ASH_chunk_shift) - number(ASH_map_bits)),
		 MAP_ROOT);
	CHECK_EQ(number(ASH_life_id), OWNER_SHARED_ID);
	CHECK_EQ((number(ASH_groups_max) << number(ASH_group_shift)), SLAB_SLOTS);

	/* The rule of the size classes. */
	for (class = 0; class < number(ASH_classes); class++) {
		size_t step = number(ASH_class_step), parts = number(ASH_class_parts);
		size_t linear = number(ASH_class_linear) / step, more = class - linear - 1;
		size_t size = class == 0 ? 8
			      : class <= linear
				      ? class * step
				      : ((parts + 1 + more % parts) * (linear * step / parts)) << (more / parts);

		CHECK_EQ(size, class_size(class));
	}
	CHECK_EQ(class_size(number(ASH_classes) - 1), number(ASH_slot_max));
}
