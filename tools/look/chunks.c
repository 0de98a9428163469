/* SPDX-License-Identifier: MIT */
/*
 * The chunks of a region, and their slabs.  A chunk is read in this order, and again if its
 * header has changed meanwhile:
 *
 *   header, slab records          where the slabs are, and what
 *   remote words, slab records    in this order: a slot that its owner collects in between
 *                                 is seen as free, never as taken
 *   header                        the same slabs as before
 */
#include <ashlar.h>

#include "picture.h"

enum { BATCH = 64, TRIES = 4, GAP = 2, DAMAGED_MAX = 100000 };

/* One chunk as it is read. */
struct view {
	struct picture *p;
	const struct layout *l;
	const struct region *r;
	uint64_t index, at, base;
	char header[RECORD_MAX], again[RECORD_MAX];
	uint8_t place[UNITS]; /* 0: no slab begins there, 1: an owned one, 2: an unowned one */
	uint64_t remote[UNITS][GROUPS_MAX];
	char *records; /* UNITS of slab_bytes */
	bool restless;
};

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

/* Adds a piece for each run of records: nearby ones by one piece. */
static size_t add_records(const struct view *v, struct rt_piece *pieces, size_t n)
{
	size_t bytes = v->l->field[ASH_slab_bytes];
	unsigned u, first = UNITS, last = 0;

	for (u = 0; u <= UNITS; u++) {
		if (u < UNITS && v->place[u] == 0)
			continue;
		if (first < UNITS &&
		    (u == UNITS || u - last > GAP || v->place[u] != v->place[last])) {
			pieces[n++] = (struct rt_piece){record_of(v, first), record_at(v, first),
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

	if (member(l, record, ASH_slab_base) != v->base + u * l->unit ||
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

/* Remote words of a slab lie apart: one piece each, or one for all where they are near. */
static size_t add_remotes(const struct view *v, struct rt_piece *pieces, size_t n)
{
	unsigned u;

	for (u = 0; u < UNITS; u++) {
		uint64_t groups;

		if (v->place[u] == 0)
			continue;
		groups = member(v->l, record_of(v, u), ASH_slab_groups);
		if (groups > v->l->field[ASH_groups_max])
			groups = v->l->field[ASH_groups_max];
		pieces[n++] = (struct rt_piece){
			(void *)(uintptr_t)v->remote[u],
			v->r->remote + (v->index * UNITS + u) * v->r->remote_stride,
			groups * sizeof(uint64_t)};
	}
	return n;
}

/* The header says the same about slabs as before. */
static bool is_same(const struct view *v)
{
	unsigned u;

	if (member(v->l, v->header, ASH_chunk_kind) != member(v->l, v->again, ASH_chunk_kind))
		return false;
	for (u = 0; u < UNITS; u++)
		if (element(v->l, v->header, ASH_chunk_head, u) !=
		    element(v->l, v->again, ASH_chunk_head, u))
			return false;
	return true;
}

/* Reads the slabs of the chunk whose header was read; false: it has changed. */
static bool read_slabs(struct view *v)
{
	static struct rt_piece pieces[3 * UNITS + 1];
	const struct layout *l = v->l;
	bool changed = false;
	unsigned u;
	size_t n;

	if (find_slabs(v) > 0) {
		n = add_records(v, pieces, 0);
		source_pieces(v->p->source, pieces, n);
		n = add_remotes(v, pieces, 0);
		n = add_records(v, pieces, n);
	} else {
		n = 0;
	}
	pieces[n++] = (struct rt_piece){v->again, v->at, l->field[ASH_chunk_bytes]};
	source_pieces(v->p->source, pieces, n);
	for (u = 0; u < UNITS; u++)
		changed |= v->place[u] != 0 && slab_fault(v, u, record_of(v, u)) != NULL;
	return is_same(v) && !changed;
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
	*s = (struct slab){.base = v->base + u * l->unit,
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
		uint64_t remote = v->place[u] == 2 ? 0 : v->remote[u][g];

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

/* Adds what was read.  Of slabs that overlap or cannot be, those that can. */
static void add_slabs(struct view *v, struct chunk *c)
{
	const struct layout *l = v->l;
	uint64_t used = member(l, v->header, ASH_chunk_units), mask;
	bool still = v->p->source->kind != SOURCE_PROCESS || v->p->source->stopped;
	unsigned u, units;

	c->first_slab = (uint32_t)v->p->slab_count;
	for (u = 0; u < UNITS; u++) {
		const char *record = record_of(v, u), *fault;

		if (v->place[u] == 0)
			continue;
		fault = slab_fault(v, u, record);
		if (fault == NULL) {
			units = (unsigned)member(l, record, ASH_slab_units);
			mask = (units == UNITS ? ~UINT64_C(0) : (UINT64_C(1) << units) - 1) << u;
			if ((used & mask) != 0)
				fault = "two slabs overlap, or a slab's unit is free:";
			used |= mask;
		}
		if (fault == NULL)
			add_slab(v, u, c);
		else if (still)
			picture_damaged(v->p, fault, record_at(v, u));
		else
			v->restless = true;
	}
}

static struct chunk *add_chunk(struct view *v, unsigned kind)
{
	struct picture *p = v->p;
	struct chunk *c;

	if (!ROOM(p, chunk, 1))
		return NULL;
	c = &p->chunks[p->chunk_count];
	memset(c, 0, sizeof *c);
	c->base = v->base;
	c->kind = (uint8_t)kind;
	c->region = (uint32_t)(v->r - p->regions);
	c->first_slab = (uint32_t)p->slab_count;
	c->units = member(v->l, v->header, ASH_chunk_units);
	c->clean = member(v->l, v->header, ASH_chunk_clean);
	return c;
}

/* The chunk whose header was read.  Returns the chunks it takes: of a span several. */
static uint64_t read_chunk(struct view *v)
{
	struct picture *p = v->p;
	const struct layout *l = v->l;
	uint64_t kind = member(l, v->header, ASH_chunk_kind), bytes, chunks;
	struct chunk *c;
	unsigned tries;

	if (kind != l->field[ASH_chunk_span] && kind != l->field[ASH_chunk_slabs])
		return 1; /* claimed, or being returned */
	if (member(l, v->header, ASH_chunk_base) != v->base ||
	    member(l, v->header, ASH_chunk_region) != v->r->at ||
	    member(l, v->header, ASH_chunk_index) != v->index) {
		picture_damaged(p, "a chunk's place", v->at);
		return 1;
	}
	if (kind == l->field[ASH_chunk_span]) {
		chunks = member(l, v->header, ASH_chunk_span_chunks);
		bytes = member(l, v->header, ASH_chunk_span_bytes);
		if (chunks == 0 || chunks > v->r->chunks - v->index || bytes > chunks * l->chunk) {
			picture_damaged(p, "the size of a span", v->at);
			return 1;
		}
		c = add_chunk(v, CHUNK_SPAN);
		if (c == NULL)
			return 1;
		c->span_bytes = bytes;
		c->span_chunks = chunks;
		p->chunk_count++;
		return chunks;
	}
	if (v->r->remote == 0) {
		picture_damaged(p, "a chunk of slabs in a region for spans", v->at);
		return 1;
	}
	v->restless = false;
	for (tries = 0; !read_slabs(v) && tries < TRIES; tries++) {
		memcpy(v->header, v->again, l->field[ASH_chunk_bytes]);
		if (member(l, v->header, ASH_chunk_kind) != l->field[ASH_chunk_slabs])
			return 1;
		if (p->source->kind != SOURCE_PROCESS || p->source->stopped)
			break;
	}
	v->restless |= tries == TRIES;
	c = add_chunk(v, CHUNK_SLABS);
	if (c == NULL)
		return 1;
	add_slabs(v, c);
	p->restless += v->restless;
	p->chunk_count++;
	return 1;
}

void chunks_read(struct picture *p, struct region *r)
{
	static struct rt_piece pieces[BATCH];
	static struct view v;
	static char records[UNITS * RECORD_MAX], headers[BATCH][RECORD_MAX];
	const struct layout *l = picture_layout(p, &p->heaps[r->heap]);
	uint64_t i, batch[BATCH], skip = 0;
	size_t n, k;

	v.p = p;
	v.l = l;
	v.r = r;
	v.records = records;
	r->first_chunk = (uint32_t)p->chunk_count;
	for (i = 0; i < r->chunks && !p->no_memory && p->damaged < DAMAGED_MAX;) {
		/* The record of a free chunk is not read: that would page it in. */
		for (n = 0; n < BATCH && i < r->chunks; i++)
			if (!bit_is_set(r->free, i)) {
				pieces[n] = (struct rt_piece){headers[n], r->records + i * r->stride,
							      l->field[ASH_chunk_bytes]};
				batch[n++] = i;
			}
		source_pieces(p->source, pieces, n);
		for (k = 0; k < n; k++) {
			if (batch[k] < skip)
				continue; /* inside a span */
			v.index = batch[k];
			v.at = pieces[k].from;
			v.base = r->base + v.index * l->chunk;
			memcpy(v.header, headers[k], l->field[ASH_chunk_bytes]);
			skip = v.index + read_chunk(&v);
		}
		progress("reading", i, r->chunks);
	}
	r->chunk_count = (uint32_t)(p->chunk_count - r->first_chunk);
}
