/* SPDX-License-Identifier: MIT */
/*
 * The descriptor tells a reader outside the process where the heaps of a program are, and the members of
 * their structures by offset.  It is for ashlar-look and similar readers; programs do not need it.
 *
 * Each program and library that links Ashlar has one descriptor, the symbol ash_descriptor.  An ELF
 * note, which strip does not remove, locates it: the name of the note is ASH_DESCRIPTOR_NAME, its type
 * ASH_NOTE_TYPE, and its 8 bytes are the distance from them to the descriptor.  A heap in a file has a
 * descriptor in its first page.  The descriptor contains addresses of the process, after relocation, so
 * it must be read from memory, not from the program's file.
 *
 * The bitmaps are the truth of the structures: a slot of a slab is taken if neither slab.free nor
 * slab.remote has its bit.  core/base/layout.h describes the structures.
 */
#ifndef ASHLAR_DESCRIPTOR_H
#define ASHLAR_DESCRIPTOR_H

#include <stddef.h>
#include <stdint.h>

#define ASH_DESCRIPTOR_NAME    "ashlar.heap"
#define ASH_NOTE_TYPE	       1
/* Raised when a field changes its meaning; new fields are added at the end. */
#define ASH_DESCRIPTOR_VERSION 1

/*
 * The fields: NUMBER(name, value); MEMBER(structure, member), the place of a member; ARRAY(structure,
 * member), the place of an array's first element.
 */
#define ASH_DESCRIPTOR_FIELDS(NUMBER, MEMBER, ARRAY)                                               \
	NUMBER(page_size, PAGE_MOST)                                                               \
	NUMBER(address_bits, CPU_ADDRESS_BITS)                                                     \
	NUMBER(chunk_shift, CHUNK_SHIFT)                                                           \
	NUMBER(unit_shift, UNIT_SHIFT)                                                             \
	NUMBER(group_shift, GROUP_SHIFT)                                                           \
	NUMBER(groups_max, SLAB_GROUPS)                                                            \
	NUMBER(map_bits, MAP_BITS)                                                                 \
	/* Size classes: 8; multiples of class_step up to class_linear; then class_parts to a      \
	   doubling up to slot_max. */                                                             \
	NUMBER(classes, CLASSES)                                                                   \
	NUMBER(class_step, CLASS_STEP)                                                             \
	NUMBER(class_linear, CLASS_LINEAR)                                                         \
	NUMBER(class_parts, CLASS_PARTS)                                                           \
	NUMBER(slot_max, SLOT_MAX)                                                                 \
	NUMBER(map_bytes, sizeof(struct map))                                                      \
	NUMBER(map_leaf_bytes, sizeof(struct map_leaf))                                            \
	NUMBER(ash_defaults_bytes, sizeof(struct ash_defaults))                                    \
	NUMBER(heap_bytes, sizeof(struct heap))                                                    \
	NUMBER(region_bytes, sizeof(struct region))                                                \
	NUMBER(chunk_bytes, sizeof(struct chunk))                                                  \
	NUMBER(slab_bytes, sizeof(struct slab))                                                    \
	NUMBER(owner_bytes, sizeof(struct owner))                                                  \
	NUMBER(sharing_shared, PAGES_SHARED)                                                       \
	NUMBER(region_live, REGION_LIVE)                                                           \
	NUMBER(chunk_slabs, CHUNK_SLABS)                                                           \
	NUMBER(chunk_span, CHUNK_SPAN)                                                             \
	/* chunk.head[unit] where a slab begins: these, plus unit * slab_bytes. */                 \
	NUMBER(record_owned, sizeof(struct chunk))                                                 \
	NUMBER(record_unowned, sizeof(struct chunk) + CHUNK_UNITS * sizeof(struct slab))           \
	/* Flags of slab.owner, beside an owner's address. */                                      \
	NUMBER(owner_flags, OWNER_FLAGS)                                                           \
	NUMBER(owner_unowned, OWNER_UNOWNED)                                                       \
	NUMBER(owner_changing, OWNER_CHANGING)                                                     \
	/* owner.state: 0, or flags and, above holder_shift, the holder (base/roll.h). */          \
	NUMBER(holder_held, OWNER_HELD)                                                            \
	NUMBER(holder_guest, OWNER_GUEST)                                                          \
	NUMBER(holder_shift, OWNER_THREAD)                                                         \
	/* In a heap that processes share: the thread's id within the bits above holder_shift. */   \
	NUMBER(life_id, OWNER_SHARED_ID)                                                           \
	ARRAY(map, root)                                                                           \
	ARRAY(map_leaf, chunk)                                                                     \
	MEMBER(heap, regions)                                                                      \
	MEMBER(heap, owners)                                                                       \
	MEMBER(heap, options)                                                                      \
	MEMBER(heap, id)                                                                           \
	MEMBER(heap, sharing)                                                                      \
	MEMBER(heap, dirty)                                                                        \
	MEMBER(heap, reserved)                                                                     \
	MEMBER(heap, refused)                                                                      \
	MEMBER(ash_defaults, cap)                                                                  \
	MEMBER(ash_defaults, retain)                                                               \
	MEMBER(region, next)                                                                       \
	MEMBER(region, heap)                                                                       \
	MEMBER(region, state)                                                                      \
	MEMBER(region, base)                                                                       \
	MEMBER(region, chunks)                                                                     \
	MEMBER(region, capacity)                                                                   \
	MEMBER(region, stride)                                                                     \
	MEMBER(region, records)                                                                    \
	MEMBER(region, remote)                                                                     \
	MEMBER(region, remote_stride)                                                              \
	MEMBER(region, free)                                                                       \
	MEMBER(region, clean)                                                                      \
	MEMBER(region, metadata)                                                                   \
	MEMBER(chunk, kind)                                                                        \
	MEMBER(chunk, base)                                                                        \
	MEMBER(chunk, region)                                                                      \
	MEMBER(chunk, units)                                                                       \
	MEMBER(chunk, clean)                                                                       \
	MEMBER(chunk, index)                                                                       \
	MEMBER(chunk, span_chunks)                                                                 \
	MEMBER(chunk, span_bytes)                                                                  \
	ARRAY(chunk, head)                                                                         \
	MEMBER(slab, owner)                                                                        \
	MEMBER(slab, base)                                                                         \
	MEMBER(slab, slots)                                                                        \
	MEMBER(slab, remote)                                                                       \
	MEMBER(slab, chunk)                                                                        \
	MEMBER(slab, slot_size)                                                                    \
	MEMBER(slab, groups)                                                                       \
	MEMBER(slab, class)                                                                        \
	MEMBER(slab, unit)                                                                         \
	MEMBER(slab, units)                                                                        \
	ARRAY(slab, free)                                                                          \
	MEMBER(owner, next)                                                                        \
	MEMBER(owner, heap)                                                                        \
	MEMBER(owner, state)                                                                       \
	MEMBER(owner, identity)

/* The field of a member: its bytes (1, 2, 4 or 8) above its offset in the structure. */
#define ASH_MEMBER_SHIFT	24
#define ASH_MEMBER_OFFSET(field) ((field) & ((UINT32_C(1) << ASH_MEMBER_SHIFT) - 1))
#define ASH_MEMBER_BYTES(field)	((field) >> ASH_MEMBER_SHIFT)

#define ASH_FIELD_NUMBER(name, value)	     ASH_##name,
#define ASH_FIELD_MEMBER(structure, member) ASH_##structure##_##member,
enum ash_field { ASH_DESCRIPTOR_FIELDS(ASH_FIELD_NUMBER, ASH_FIELD_MEMBER, ASH_FIELD_MEMBER) ASH_FIELDS };

struct ash_descriptor {
	char name[16];			  /* ASH_DESCRIPTOR_NAME, then 0 */
	uint32_t version, fields;	  /* ASH_DESCRIPTOR_VERSION, ASH_FIELDS */
	char release[16];		  /* ash_version(); empty in a file */
	const void *heap;		  /* the default heap; in a file its one heap */
	const void *map;		  /* the chunks of all heaps; NULL in a file */
	const void *base;		  /* of a file: the address where it is mapped */
	uint64_t length;		  /* of a file: its bytes */
	uint32_t field[(ASH_FIELDS + 1) / 2 * 2];
};

extern const struct ash_descriptor ash_descriptor;

/*
 * Heaps in the caller's memory (ash_heap_create_in): a program that may create such heaps has a list of
 * them, and a second note of the same name and of this type, which locates this descriptor of the list.
 *
 * The list is an array of entries.  An entry is in use if `base` is not 0 and `begin` is above 1.  The
 * record lies at `begin`, aligned to arenas_alignment.  It is the entry's only if the record's `memory`
 * is `begin`, its `sharing` is arenas_sharing, and its `base` is that of the entry.  Of a word, bits 0
 * to 31 and 32 to 63 give two bits to each granule: both are set where a block begins, the lower one
 * alone where it goes on, neither in free memory.
 */
#define ASH_NOTE_ARENAS 2
#define ASH_ARENAS_NAME "ashlar.arenas"

#define ASH_ARENAS_FIELDS(NUMBER, MEMBER, ARRAY)                                                   \
	NUMBER(arenas_max, ASH_HEAPS_IN_MAX)                                                       \
	NUMBER(arena_entry_bytes, sizeof(struct arena_entry))                                      \
	NUMBER(arena_bytes, sizeof(struct arena))                                                  \
	NUMBER(arenas_alignment, CPU_LINE)                                                         \
	NUMBER(arenas_sharing, PAGES_CALLERS)                                                      \
	NUMBER(arenas_granule, GRANULE)                                                            \
	MEMBER(arena_entry, begin)                                                                 \
	MEMBER(arena_entry, end)                                                                   \
	MEMBER(arena_entry, base)                                                                  \
	MEMBER(arena, base)                                                                        \
	MEMBER(arena, granules)                                                                    \
	MEMBER(arena, sharing)                                                                     \
	MEMBER(arena, memory)                                                                      \
	ARRAY(arena, words)

enum ash_arenas_field {
	ASH_ARENAS_FIELDS(ASH_FIELD_NUMBER, ASH_FIELD_MEMBER, ASH_FIELD_MEMBER) ASH_ARENAS_COUNT
};

struct ash_arenas {
	char name[16];		   /* ASH_ARENAS_NAME, then 0 */
	uint32_t version, fields;  /* ASH_DESCRIPTOR_VERSION, ASH_ARENAS_COUNT */
	const void *list;
	uint32_t field[ASH_ARENAS_COUNT];
};

#endif
