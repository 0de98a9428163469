/* SPDX-License-Identifier: MIT */
/* Every block; and what an address is. */
#include "show.h"

static void blocks_of_slab(const struct picture *p, const struct slab *s)
{
	const char *owner = owner_text(p, s);
	unsigned g;

	for (g = 0; g < s->groups; g++) {
		uint64_t taken = p->words[s->words + 2 * g];

		for (; taken != 0; taken &= taken - 1) {
			uint64_t index = g * 64 + (unsigned)__builtin_ctzll(taken);

			out("0x%012lx %10u  ", (unsigned long)(s->base + index * s->slot_bytes), s->slot_bytes);
			out_name(owner);
			out("\n");
		}
	}
}

/* Blocks of heaps in the program's memory, which may lie in a block of the list above. */
static void blocks_of_arena(const struct arena *a)
{
	uint64_t at, n = 0;

	for (at = 0; arena_next(a, &at, &n); at += n)
		out("0x%012lx %10lu  in 0x%lx\n", (unsigned long)(a->base + at * a->granule),
		    (unsigned long)(n * a->granule), (unsigned long)a->at);
}

void show_blocks(const struct picture *p)
{
	size_t i;
	unsigned k;

	for (i = 0; i < p->chunk_count; i++) {
		const struct chunk *c = &p->chunks[i];

		if (c->kind == CHUNK_SPAN)
			out("0x%012lx %10lu  large\n", (unsigned long)c->base, (unsigned long)c->span_bytes);
		for (k = 0; k < c->slab_count; k++)
			blocks_of_slab(p, &p->slabs[c->first_slab + k]);
	}
	for (i = 0; i < p->arena_count; i++)
		blocks_of_arena(&p->arenas[i]);
}

static bool find_in_arena(const struct arena *a, uint64_t address)
{
	uint64_t at, n = 0, block = 0;

	if (address - a->base >= a->granules * a->granule)
		return false;
	out("0x%lx lies in a heap in the program's memory at 0x%lx, ", (unsigned long)address, (unsigned long)a->at);
	for (at = 0; arena_next(a, &at, &n); at += n) {
		block = a->base + at * a->granule;
		if (address - block < n * a->granule) {
			out("in a block of %lu bytes\n  block   0x%lx, offset %lu in it\n",
			    (unsigned long)(n * a->granule), (unsigned long)block, (unsigned long)(address - block));
			return true;
		}
		if (block > address)
			break;
	}
	out("in no block\n");
	return true;
}

static const char *slot_state(const struct picture *p, const struct slab *s, uint64_t index)
{
	if (bit_is_set(&p->words[s->words + index / 64 * 2], index % 64))
		return "taken";
	if (bit_is_set(&p->words[s->words + index / 64 * 2 + 1], index % 64))
		return "released by another thread, not yet collected";
	return "free";
}

static void find_in_slab(const struct picture *p, const struct slab *s, uint64_t address)
{
	uint64_t index = (address - s->base) / s->slot_bytes, first, i;
	uint64_t slot = s->base + index * s->slot_bytes;
	const char *owner = owner_text(p, s);

	if (index >= s->slots) {
		out("0x%lx lies %s slot of a slab of %u-byte slots at 0x%lx\n",
		    (unsigned long)address, address < s->base ? "before the first" : "behind the last", s->slot_bytes, (unsigned long)s->base);
		return;
	}
	out("0x%lx lies in a slot of %u bytes, which is %s\n", (unsigned long)address, s->slot_bytes,
	    slot_state(p, s, index));
	out("  block   0x%lx, offset %lu in it, %lu bytes up to its end\n", (unsigned long)slot,
	    (unsigned long)(address - slot), (unsigned long)(slot + s->slot_bytes - address));
	out("  slab    0x%lx, slot %lu of %u, %u taken, class %u; owner: ", (unsigned long)s->base,
	    (unsigned long)index, s->slots, s->taken, s->class);
	out_name(owner);
	out("\n");
	first = index > 2 ? index - 2 : 0;
	for (i = first; i < s->slots && i <= index + 2; i++)
		out("  %s 0x%lx %s\n", i == index ? "this   " : i < index ? "before " : "behind ",
		    (unsigned long)(s->base + i * s->slot_bytes), slot_state(p, s, i));
}

static void find_in_chunk(const struct picture *p, const struct chunk *c, uint64_t address,
			  const struct layout *l)
{
	unsigned unit = (unsigned)((address - c->base) / l->unit), k;

	if (c->kind == CHUNK_SPAN) {
		out("0x%lx lies in a large block of %lu bytes", (unsigned long)address,
		    (unsigned long)c->span_bytes);
		out("%s\n  block   0x%lx, offset %lu in it\n",
		    address - c->base >= c->span_bytes ? ", behind its end" : "", (unsigned long)c->base,
		    (unsigned long)(address - c->base));
		return;
	}
	for (k = 0; k < c->slab_count; k++) {
		const struct slab *s = &p->slabs[c->first_slab + k];

		if (unit >= s->unit && unit < (unsigned)s->unit + s->units) {
			find_in_slab(p, s, address);
			return;
		}
	}
	out("0x%lx lies in a unit without a slab, %s\n", (unsigned long)address,
	    (c->units >> unit & 1) != 0 ? "which is free" : "which is being taken or given back");
}

bool show_find(const struct picture *p, uint64_t address)
{
	const struct region *near = NULL;
	const struct arena *arena = NULL;
	uint64_t distance = UINT64_MAX;
	size_t i, k;

	for (i = 0; i < p->arena_count; i++) /* the innermost of those around it */
		if (address - p->arenas[i].at < p->arenas[i].end - p->arenas[i].at &&
		    (arena == NULL || p->arenas[i].end - p->arenas[i].at < arena->end - arena->at))
			arena = &p->arenas[i];
	if (arena != NULL && find_in_arena(arena, address))
		return true;
	for (i = 0; i < p->region_count; i++) {
		const struct region *r = &p->regions[i];
		const struct layout *l = picture_layout(p, &p->heaps[r->heap]);
		uint64_t end = r->base + r->all * l->chunk, away;

		if (address - r->at < r->metadata) {
			out("0x%lx lies in the records of a region\n", (unsigned long)address);
			return true;
		}
		if (address >= r->base && address < end) {
			for (k = 0; k < r->chunk_count; k++) {
				const struct chunk *c = &p->chunks[r->first_chunk + k];
				uint64_t n = c->kind == CHUNK_SPAN ? c->span_chunks : 1;

				if (address - c->base < n * l->chunk) {
					find_in_chunk(p, c, address, l);
					return true;
				}
			}
			out("0x%lx lies in a chunk that is free, or changing\n", (unsigned long)address);
			return true;
		}
		away = address < r->base ? r->base - address : address - end;
		if (away < distance) {
			distance = away;
			near = r;
		}
	}
	out("0x%lx lies in no heap of Ashlar", (unsigned long)address);
	if (near != NULL)
		out("; the next region is at 0x%lx", (unsigned long)near->base);
	out("\n");
	return false;
}
