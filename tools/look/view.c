/* SPDX-License-Identifier: MIT */
#include "view.h"

enum { GAP = 2 }; /* units: nearer records are read by one piece */

static uint64_t record_at(const struct view *v, unsigned unit)
{
	return v->at +
	       v->l->field[v->place[unit] == 2 ? ASH_record_unowned : ASH_record_owned] +
	       (uint64_t)unit * v->l->field[ASH_slab_bytes];
}

static char *record_of(const struct view *v, unsigned unit)
{
	return v->records + unit * (size_t)v->l->field[ASH_slab_bytes];
}

/* Where slabs begin, by the header; returns their number. */
static unsigned find_slabs(struct view *v)
{
	const struct layout *l = v->l;
	unsigned u, n = 0;

	for (u = 0; u < UNITS; u++) {
		uint64_t head = element(l, v->header, ASH_chunk_head, u);
		uint64_t step = (uint64_t)u * l->field[ASH_slab_bytes];

		v->place[u] = head == l->field[ASH_record_owned] + step     ? 1
			      : head == l->field[ASH_record_unowned] + step ? 2
									    : 0;
		n += v->place[u] != 0;
	}
	return n;
}

/* Adds a piece for each run of records: nearby ones by one piece.  to: records, or _again. */
static size_t add_records(const struct view *v, char *to, struct rt_piece *pieces, size_t n)
{
	size_t bytes = v->l->field[ASH_slab_bytes];
	unsigned u, first = UNITS, last = 0;

	for (u = 0; u <= UNITS; u++) {
		if (u < UNITS && v->place[u] == 0)
			continue;
		if (first < UNITS &&
		    (u == UNITS || u - last > GAP || v->place[u] != v->place[last])) {
			pieces[n++] = (struct rt_piece){to + first * bytes, record_at(v, first),
							(last - first + 1) * bytes};
			first = UNITS;
		}
		if (first == UNITS)
			first = u;
		last = u;
	}
	return n;
}

static const char *slab_fault(const struct view *v, unsigned u, const char *record)
{
	const struct layout *l = v->l;
	uint64_t slots = member(l, record, ASH_slab_slots), class = member(l, record, ASH_slab_class);
	uint64_t bytes = member(l, record, ASH_slab_slot_size), units = member(l, record, ASH_slab_units);
	uint64_t groups = member(l, record, ASH_slab_groups);
	uint64_t base = member(l, record, ASH_slab_base) - (v->base + u * l->unit);

	/* What no slot fills of the last page is before the slots, except in heaps that processes share. */
	if ((base != 0 && base != -(slots * bytes) % 4096) ||
	    member(l, record, ASH_slab_chunk) != v->at || member(l, record, ASH_slab_unit) != u)
		return "the place of a slab";
	if (units == 0 || u + units > UNITS)
		return "the units of a slab";
	if (class >= l->field[ASH_classes] || bytes != l->class_bytes[class])
		return "the class of a slab";
	if (slots == 0 || slots > units * l->unit / bytes || groups > l->field[ASH_groups_max] ||
	    groups != (slots + 63) / 64)
		return "the slots of a slab";
	if (member(l, record, ASH_slab_remote) !=
	    v->r->remote + (v->index * UNITS + u) * v->r->remote_stride)
		return "the remote words of a slab";
	if ((v->place[u] == 2) !=
	    ((member(l, record, ASH_slab_owner) & l->field[ASH_owner_unowned]) != 0))
		return "the owner of a slab";
	return NULL;
}

/* Words from one slab's to the next: as they are, if they are near; else as many as can be used. */
static size_t remote_words(const struct view *v)
{
	return v->r->remote_stride <= NEAR ? v->r->remote_stride / sizeof(uint64_t) : GROUPS_MAX;
}

static uint64_t *remote_of(struct view *v, unsigned unit)
{
	return v->remote + unit * remote_words(v);
}

/* Remote words of a slab lie apart: one piece each, or one for those of a chunk if they are near. */
static size_t add_remotes(struct view *v, struct rt_piece *pieces, size_t n)
{
	uint64_t first = v->r->remote + v->index * UNITS * v->r->remote_stride;
	size_t used = v->l->field[ASH_groups_max] * sizeof(uint64_t);
	unsigned u, low = 0, high = UNITS - 1;

	if (v->r->remote_stride > NEAR || v->r->remote_stride % sizeof(uint64_t) != 0) {
		for (u = 0; u < UNITS; u++)
			if (v->place[u] != 0)
				pieces[n++] = (struct rt_piece){remote_of(v, u), first + u * v->r->remote_stride, used};
		return n;
	}
	while (v->place[low] == 0)
		low++;
	while (v->place[high] == 0)
		high--;
	pieces[n++] = (struct rt_piece){remote_of(v, low), first + low * v->r->remote_stride,
					(high - low) * v->r->remote_stride + used};
	return n;
}

/* The header says the same about slabs as before, and what must not change in records has not. */
static bool is_same(const struct view *v)
{
	static const enum ash_field constants[] = {ASH_slab_base,   ASH_slab_slots, ASH_slab_slot_size,
						   ASH_slab_groups, ASH_slab_class, ASH_slab_units};
	const struct layout *l = v->l;
	/* The other flags of the owner come and go. */
	uint64_t flags = l->field[ASH_owner_flags] &
			 ~(l->field[ASH_owner_unowned] | l->field[ASH_owner_changing]);
	unsigned u, i;

	if (member(l, v->header, ASH_chunk_kind) != member(l, v->again, ASH_chunk_kind))
		return false;
	for (u = 0; u < UNITS; u++) {
		const char *record = record_of(v, u);
		const char *again = v->records_again + (record - v->records);

		if (element(l, v->header, ASH_chunk_head, u) != element(l, v->again, ASH_chunk_head, u))
			return false;
		if (v->place[u] == 0)
			continue;
		if (((member(l, record, ASH_slab_owner) ^ member(l, again, ASH_slab_owner)) & ~flags) != 0)
			return false;
		for (i = 0; i < sizeof constants / sizeof constants[0]; i++)
			if (member(l, record, constants[i]) != member(l, again, constants[i]))
				return false;
	}
	return true;
}

/* Of each slab, and of slabs that overlap.  Returns the number of faults. */
static unsigned find_faults(struct view *v)
{
	uint64_t used = member(v->l, v->header, ASH_chunk_units), mask;
	unsigned u, units, n = 0;

	for (u = 0; u < UNITS; u++) {
		v->fault[u] = NULL;
		if (v->place[u] == 0)
			continue;
		v->fault[u] = slab_fault(v, u, record_of(v, u));
		if (v->fault[u] == NULL) {
			units = (unsigned)member(v->l, record_of(v, u), ASH_slab_units);
			mask = (units == UNITS ? ~UINT64_C(0) : (UINT64_C(1) << units) - 1) << u;
			if ((used & mask) != 0)
				v->fault[u] = "two slabs overlap, or a slab's unit is free:";
			used |= mask;
		}
		n += v->fault[u] != NULL;
	}
	return n;
}

bool view_slabs(struct view *v)
{
	static struct rt_piece pieces[3 * UNITS + 1];
	size_t n = 0;

	if (find_slabs(v) > 0) {
		n = add_remotes(v, pieces, n);
		n = add_records(v, v->records, pieces, n);
		n = add_records(v, v->records_again, pieces, n);
	}
	pieces[n++] = (struct rt_piece){v->again, v->at, v->l->field[ASH_chunk_bytes]};
	source_pieces(v->p->source, pieces, n);
	return find_faults(v) == 0 && is_same(v);
}

uint64_t view_hash(const struct view *v)
{
	uint64_t hash = 14695981039346656037u; /* FNV-1a */
	unsigned u, i;

	for (i = 0; i < v->l->field[ASH_chunk_bytes]; i++)
		hash = (hash ^ (unsigned char)v->again[i]) * 1099511628211u;
	for (u = 0; u < UNITS; u++)
		for (i = 0; v->place[u] != 0 && i < ASH_MEMBER_OFFSET(v->l->field[ASH_slab_free]); i++)
			hash = (hash ^ (unsigned char)record_of(v, u)[i]) * 1099511628211u;
	return hash;
}

static void add_slab(struct view *v, unsigned u, struct chunk *c)
{
	const struct layout *l = v->l;
	const char *record = record_of(v, u);
	uint64_t owner = member(l, record, ASH_slab_owner), *words;
	struct picture *p = v->p;
	struct slab *s;
	unsigned g;

	if (!ROOM(p, slab, 1) || !ROOM(p, word, 2 * GROUPS_MAX))
		return;
	s = &p->slabs[p->slab_count++];
	*s = (struct slab){.base = member(l, record, ASH_slab_base),
			   .slot_bytes = (uint32_t)member(l, record, ASH_slab_slot_size),
			   .slots = (uint32_t)member(l, record, ASH_slab_slots),
			   .chunk = (uint32_t)p->chunk_count,
			   .owner_index = UINT32_MAX,
			   .words = p->word_count,
			   .class = (uint16_t)member(l, record, ASH_slab_class),
			   .unit = (uint8_t)u,
			   .units = (uint8_t)member(l, record, ASH_slab_units),
			   .groups = (uint8_t)member(l, record, ASH_slab_groups)};
	if (v->place[u] == 2) {
		s->flags = SLAB_UNOWNED;
		if ((owner & l->field[ASH_owner_changing]) != 0)
			s->flags |= SLAB_CHANGING;
	} else {
		struct owner *o = owner_find(p, owner & ~(uint64_t)l->field[ASH_owner_flags]);

		s->owner = owner & ~(uint64_t)l->field[ASH_owner_flags];
		if (o != NULL)
			s->owner_index = (uint32_t)(o - p->owners);
		else
			s->flags = SLAB_NO_OWNER;
	}
	words = p->words + p->word_count;
	p->word_count += 2 * (size_t)s->groups;
	for (g = 0; g < s->groups; g++) {
		uint64_t mask = group_mask(s, g), free = element(l, record, ASH_slab_free, g);
		uint64_t remote = v->place[u] == 2 ? 0 : remote_of(v, u)[g];

		/* The thread that makes or unmakes an unowned slab holds slots that are no blocks. */
		if ((s->flags & SLAB_CHANGING) != 0)
			free = ~UINT64_C(0);
		words[2 * g] = mask & ~(free | remote);
		words[2 * g + 1] = mask & remote & ~free;
		s->taken += count_bits(words[2 * g]);
		s->released += count_bits(words[2 * g + 1]);
	}
	c->slab_count++;
}

void view_add(struct view *v, struct chunk *c, bool damaged)
{
	unsigned u;

	for (u = 0; u < UNITS; u++)
		if (v->place[u] != 0 && v->fault[u] == NULL)
			add_slab(v, u, c);
		else if (v->place[u] != 0 && damaged)
			picture_damaged(v->p, v->fault[u], record_at(v, u));
}
