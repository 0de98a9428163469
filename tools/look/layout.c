/* SPDX-License-Identifier: MIT */
#include "layout.h"

/* Where each member lies, from the list of fields. */
#define SKIP(name, value)
#define PLACE(structure, member) {ASH_##structure##_##member, ASH_##structure##_bytes},

static const struct place {
	enum ash_field field, record;
} places[] = {ASH_DESCRIPTOR_FIELDS(SKIP, PLACE, PLACE)};

static bool lies_within(const struct layout *l, enum ash_field field, enum ash_field record,
			size_t count)
{
	uint32_t bytes = ASH_MEMBER_BYTES(l->field[field]);

	return (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) &&
	       ASH_MEMBER_OFFSET(l->field[field]) + bytes * count <= l->field[record];
}

/* Entries of the map's root; numbers_are_sane comes first. */
size_t map_roots(const struct layout *l)
{
	const uint32_t *f = l->field;

	return (size_t)1 << (f[ASH_address_bits] - f[ASH_chunk_shift] - f[ASH_map_bits]);
}

static bool members_lie_within(const struct layout *l)
{
	size_t i;

	for (i = 0; i < sizeof places / sizeof places[0]; i++)
		if (!lies_within(l, places[i].field, places[i].record, 1))
			return false;
	return lies_within(l, ASH_map_root, ASH_map_bytes, map_roots(l)) &&
	       lies_within(l, ASH_map_leaf_chunk, ASH_map_leaf_bytes,
			   (size_t)1 << l->field[ASH_map_bits]) &&
	       lies_within(l, ASH_chunk_head, ASH_chunk_bytes, UNITS) &&
	       lies_within(l, ASH_slab_free, ASH_slab_bytes, l->field[ASH_groups_max]) &&
	       ASH_MEMBER_BYTES(l->field[ASH_slab_free]) == sizeof(uint64_t);
}

static bool numbers_are_sane(const struct layout *l)
{
	const uint32_t *f = l->field;

	return f[ASH_page_size] >= 4096 && f[ASH_page_size] <= 65536 &&
	       (f[ASH_page_size] & (f[ASH_page_size] - 1)) == 0 && f[ASH_address_bits] <= 57 &&
	       f[ASH_chunk_shift] <= 30 && f[ASH_unit_shift] >= 12 &&
	       f[ASH_chunk_shift] == f[ASH_unit_shift] + 6 && f[ASH_group_shift] == 6 &&
	       f[ASH_groups_max] >= 1 && f[ASH_groups_max] <= GROUPS_MAX &&
	       f[ASH_map_bits] <= 16 &&
	       f[ASH_map_bits] + f[ASH_chunk_shift] <= f[ASH_address_bits] &&
	       f[ASH_address_bits] - f[ASH_map_bits] - f[ASH_chunk_shift] <= 16 &&
	       f[ASH_heap_bytes] <= 65536 && f[ASH_region_bytes] <= RECORD_MAX &&
	       f[ASH_chunk_bytes] <= RECORD_MAX && f[ASH_slab_bytes] <= RECORD_MAX &&
	       f[ASH_slab_bytes] > 0 && f[ASH_owner_bytes] <= 1 << 20 &&
	       f[ASH_ash_defaults_bytes] <= RECORD_MAX && f[ASH_map_bytes] <= 1 << 26 &&
	       f[ASH_map_leaf_bytes] <= 1 << 26 && f[ASH_record_owned] <= RECORD_MAX &&
	       f[ASH_record_owned] + UNITS * f[ASH_slab_bytes] <= f[ASH_record_unowned] &&
	       f[ASH_record_unowned] <= 1 << 20 && f[ASH_holder_shift] < 64 &&
	       f[ASH_classes] >= 1 && f[ASH_classes] <= CLASSES_MAX;
}

/* The bytes of each class, by the rule in the list of fields. */
static bool classes_set(struct layout *l)
{
	uint64_t step = l->field[ASH_class_step], parts = l->field[ASH_class_parts], linear;
	unsigned i;

	if (step == 0 || step > 4096 || parts == 0 || parts > 64)
		return false;
	linear = l->field[ASH_class_linear] / step;
	if (linear == 0 || linear > l->field[ASH_classes])
		return false;
	l->class_bytes[0] = 8;
	for (i = 1; i < l->field[ASH_classes]; i++) {
		uint64_t more = i - linear - 1, bytes = i * step;

		if (i > linear) {
			if (more / parts > 24)
				return false;
			bytes = ((parts + 1 + more % parts) * (linear * step / parts)) << (more / parts);
		}
		if (bytes > l->chunk || bytes <= l->class_bytes[i - 1])
			return false;
		l->class_bytes[i] = (uint32_t)bytes;
	}
	return l->class_bytes[i - 1] == l->field[ASH_slot_max];
}

const char *layout_set(struct layout *l, const struct ash_descriptor *d)
{
	if (memcmp(d->name, ASH_DESCRIPTOR_NAME, sizeof ASH_DESCRIPTOR_NAME) != 0)
		return "the note leads to no descriptor";
	if (d->version != ASH_DESCRIPTOR_VERSION || d->fields < ASH_FIELDS)
		return "its descriptor has another version than this ashlar-look";
	memcpy(l->field, d->field, sizeof l->field);
	memcpy(l->release, d->release, sizeof l->release);
	l->release[sizeof l->release - 1] = '\0';
	l->heap = (uintptr_t)d->heap;
	l->map = (uintptr_t)d->map;
	l->base = (uintptr_t)d->base;
	l->length = d->length;
	if (!numbers_are_sane(l) || !members_lie_within(l))
		return "its descriptor is damaged";
	l->chunk = (size_t)1 << l->field[ASH_chunk_shift];
	l->unit = (size_t)1 << l->field[ASH_unit_shift];
	return classes_set(l) ? NULL : "its descriptor is damaged: the size classes";
}
