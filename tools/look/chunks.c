/* SPDX-License-Identifier: MIT */
/* The chunks of a region that are in use: of slabs, and of large blocks. */
#include "view.h"

enum { BATCH = 64, DAMAGED_MAX = 100000 };

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

/* What cannot be in the header of a chunk of this kind; NULL: nothing. */
static const char *chunk_fault(const struct view *v, uint64_t kind)
{
	const struct layout *l = v->l;
	uint64_t chunks = member(l, v->header, ASH_chunk_span_chunks);

	if (member(l, v->header, ASH_chunk_base) != v->base ||
	    member(l, v->header, ASH_chunk_region) != v->r->at ||
	    member(l, v->header, ASH_chunk_index) != v->index)
		return "the place of a chunk";
	if (kind == l->field[ASH_chunk_slabs])
		return v->r->remote == 0 ? "a chunk of slabs in a region for spans" : NULL;
	if (chunks == 0 || chunks > v->r->all - v->index ||
	    member(l, v->header, ASH_chunk_span_bytes) > chunks * l->chunk)
		return "the size of a span";
	return NULL;
}

static void read_header(struct view *v)
{
	struct rt_piece piece = {v->header, v->at, v->l->field[ASH_chunk_bytes]};

	source_pieces(v->p->source, &piece, 1);
}

static void read_slab_chunk(struct view *v)
{
	uint64_t hash = 0, before = 1;
	unsigned tries = 0;
	struct chunk *c;

	while (!view_slabs(v) && tries++ < TRIES && hash != before) {
		before = hash;
		hash = view_hash(v);
		memcpy(v->header, v->again, v->l->field[ASH_chunk_bytes]);
		if (member(v->l, v->header, ASH_chunk_kind) != v->l->field[ASH_chunk_slabs])
			return;
	}
	c = add_chunk(v, CHUNK_SLABS);
	if (c == NULL)
		return;
	view_add(v, c, hash == before);
	v->p->restless += tries > TRIES;
	v->p->chunk_count++;
}

/* The chunk whose header was read.  Returns the chunks it takes: of a span several. */
static uint64_t read_chunk(struct view *v)
{
	const struct layout *l = v->l;
	const char *fault;
	struct chunk *c;
	unsigned tries;
	uint64_t kind;

	for (tries = 0;; tries++) {
		kind = member(l, v->header, ASH_chunk_kind);
		if (kind != l->field[ASH_chunk_span] && kind != l->field[ASH_chunk_slabs])
			return 1; /* claimed, or being returned */
		fault = chunk_fault(v, kind);
		if (fault == NULL)
			break;
		if (tries == TRIES) {
			picture_damaged(v->p, fault, v->at);
			return 1;
		}
		read_header(v);
	}
	if (kind == l->field[ASH_chunk_slabs]) {
		read_slab_chunk(v);
		return 1;
	}
	c = add_chunk(v, CHUNK_SPAN);
	if (c == NULL)
		return 1;
	c->span_bytes = member(l, v->header, ASH_chunk_span_bytes);
	c->span_chunks = member(l, v->header, ASH_chunk_span_chunks);
	v->p->chunk_count++;
	return c->span_chunks;
}

void chunks_read(struct picture *p, struct region *r)
{
	static struct rt_piece pieces[BATCH];
	static struct view v;
	static char records[2][UNITS * RECORD_MAX], headers[BATCH][RECORD_MAX];
	const struct layout *l = picture_layout(p, &p->heaps[r->heap]);
	uint64_t i, batch[BATCH], skip = 0;
	size_t n, k;

	v.p = p;
	v.l = l;
	v.r = r;
	v.records = records[0];
	v.records_again = records[1];
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
		progress("reading", p->chunks_done + i, p->chunks_all);
	}
	r->chunk_count = (uint32_t)(p->chunk_count - r->first_chunk);
}
