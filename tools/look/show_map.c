/* SPDX-License-Identifier: MIT */
/*
 * The address map in the terminal: a row a chunk, a character a unit.
 *
 *   1 ... 9, #    a unit of a slab, in tenths of its slots that are taken; # all
 *   0             a slab without a block
 *   :             free, and not known to be given back
 *   .             free
 *   =             a large block
 */
#include "show.h"

/* Colours by class: what is near in size is near in colour. */
static unsigned colour_of(const struct slab *s)
{
	static const unsigned char colours[] = {39, 38, 37, 36, 35, 34, 70, 106, 142, 178, 172, 166, 160, 161, 162, 163};

	return colours[s->class / 8 % sizeof colours];
}

static void show_units(const struct picture *p, const struct chunk *c, bool colours)
{
	const struct slab *of[UNITS] = {NULL};
	unsigned i, u, colour, last = 0;

	for (i = 0; i < c->slab_count; i++) {
		const struct slab *s = &p->slabs[c->first_slab + i];

		for (u = 0; u < s->units; u++)
			of[s->unit + u] = s;
	}
	for (u = 0; u < UNITS; u++) {
		const struct slab *s = of[u];
		char sign = (c->units >> u & 1) == 0 ? '?' : (c->clean >> u & 1) != 0 ? '.' : ':';

		if (s != NULL)
			sign = s->taken == s->slots ? '#'
			       : s->taken == 0	    ? '0'
						    : (char)('1' + s->taken * 9ull / s->slots);
		colour = s == NULL ? 0 : colour_of(s);
		if (colours && colour != last) {
			if (colour == 0)
				out("\033[0m");
			else
				out("\033[38;5;%um", colour);
		}
		last = colour;
		out("%c", sign);
	}
	if (colours)
		out("\033[0m");
}

static void show_run(const struct region *r, uint64_t from, uint64_t to)
{
	uint64_t i, dirty = 0;

	for (i = from; i < to; i++)
		dirty += !bit_is_set(r->clean, i);
	out("%12s  %lu free chunks%s\n", "", (unsigned long)(to - from),
	    dirty > 0 ? ", some retained" : "");
}

static void show_region(const struct picture *p, const struct region *r, bool colours)
{
	const struct layout *l = picture_layout(p, &p->heaps[r->heap]);
	const struct chunk *c = p->chunks + r->first_chunk, *end = c + r->chunk_count;
	uint64_t i = 0, from;

	out("region 0x%lx: %s%s\n", (unsigned long)r->base, bytes_text(r->all * l->chunk),
	    r->remote == 0 ? ", for large blocks" : "");
	while (i < r->chunks) {
		for (from = i; i < r->chunks && bit_is_set(r->free, i); i++)
			;
		if (i > from)
			show_run(r, from, i);
		if (i >= r->chunks)
			break;
		while (c < end && c->base < r->base + i * l->chunk)
			c++;
		if (c < end && c->base == r->base + i * l->chunk) {
			out("%12lx  ", (unsigned long)c->base);
			if (c->kind == CHUNK_SPAN) {
				out("%s= %s in %lu chunks%s\n", colours ? "\033[1m" : "",
				    bytes_text(c->span_bytes), (unsigned long)c->span_chunks,
				    colours ? "\033[0m" : "");
				i += c->span_chunks;
				continue;
			}
			show_units(p, c, colours);
			out(p->resident_known ? "  %s resident\n" : "\n", bytes_text(c->resident));
		} else {
			out("%12lx  being taken or given back\n", (unsigned long)(r->base + i * l->chunk));
		}
		i++;
	}
}

void show_map(const struct picture *p)
{
	bool colours = rt_columns(1) > 0;
	size_t i;

	out("\na character a unit: 0-9, # how full its slab is; : retained; . free; ? being changed\n");
	for (i = 0; i < p->region_count; i++)
		show_region(p, &p->regions[i], colours);
}
