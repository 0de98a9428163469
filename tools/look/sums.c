/* SPDX-License-Identifier: MIT */
#include "sums.h"

#include <ashlar.h>

static void row_add(struct row *r, const struct picture *p, const struct slab *s,
		    const struct layout *l)
{
	const struct chunk *c = &p->chunks[s->chunk];
	uint32_t below = s->class == 0 ? 0 : l->class_bytes[s->class - 1];
	uint64_t resident = 0;
	unsigned u;

	r->slabs++;
	r->bytes += s->units * l->unit;
	r->slots += s->slots;
	r->taken += s->taken;
	r->released += s->released;
	r->free += s->slots - s->taken - s->released;
	r->empty += s->taken == 0 && s->released == 0;
	r->partly += s->taken > 0 && s->taken < s->slots;
	r->tail += s->units * l->unit - (uint64_t)s->slots * s->slot_bytes;
	r->rounding += (uint64_t)s->taken * (s->slot_bytes - below - 1);
	for (u = 0; u < s->units; u++)
		resident += c->pages[s->unit + u] * p->piece;
	r->resident += resident;
	r->resident_empty += s->taken == 0 && s->released == 0 ? resident : 0;
}

static void sums_slab(struct sums *t, const struct picture *p, const struct slab *s,
		      const struct layout *l)
{
	uint64_t free = s->slots - s->taken - s->released;

	row_add(&t->class[s->class], p, s, l);
	row_add(&t->all, p, s, l);
	row_add(&t->owner[s->owner_index != UINT32_MAX ? s->owner_index
			  : (s->flags & SLAB_UNOWNED) != 0 ? p->owner_count
							   : p->owner_count + 1],
		p, s, l);
	t->block_bytes += (uint64_t)s->taken * s->slot_bytes;
	t->released_bytes += (uint64_t)s->released * s->slot_bytes;
	if (s->taken == 0 && s->released == 0)
		t->empty_bytes += s->units * l->unit;
	else
		t->free_bytes += free * s->slot_bytes;
}

static void sums_chunk(struct sums *t, const struct picture *p, const struct chunk *c)
{
	const struct layout *l = picture_layout(p, &p->heaps[p->regions[c->region].heap]);
	unsigned i;

	t->resident += c->resident;
	if (c->kind == CHUNK_SPAN) {
		t->spans++;
		t->span_bytes += c->span_bytes;
		t->span_space += c->span_chunks * l->chunk;
		t->span_resident += c->resident;
		return;
	}
	t->retained += count_bits(c->units & ~c->clean) * l->unit;
	for (i = 0; i < c->slab_count; i++)
		sums_slab(t, p, &p->slabs[c->first_slab + i], l);
}

static void sums_region(struct sums *t, const struct picture *p, const struct region *r)
{
	const struct layout *l = picture_layout(p, &p->heaps[r->heap]);
	uint64_t i;

	t->reserved += r->all * l->chunk;
	t->metadata += r->metadata;
	t->resident += r->resident_free;
	t->resident_free += r->resident_free;
	for (i = 0; i < (r->chunks + 63) / 64; i++) {
		uint64_t left = r->chunks - i * 64;
		uint64_t mask = left >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << left) - 1;

		t->retained += count_bits(r->free[i] & ~r->clean[i] & mask) * l->chunk;
	}
}

/* ---- what differs between two looks ---- */

static uint64_t slab_changed(const struct picture *a, const struct slab *x, const struct picture *b,
			     const struct slab *y)
{
	uint64_t n = 0;
	unsigned g;

	for (g = 0; g < x->groups; g++) {
		const uint64_t *v = a->words + x->words + 2 * g, *w = b->words + y->words + 2 * g;

		n += count_bits((v[0] ^ w[0]) | (v[1] ^ w[1]));
	}
	return n;
}

/* Two lists of slabs by address: one of them may be empty. */
static void chunk_changed(struct sums *t, const struct picture *a, const struct chunk *c,
			  const struct picture *b, const struct chunk *d)
{
	unsigned i = 0, j = 0, n = c == NULL ? 0 : c->slab_count, m = d == NULL ? 0 : d->slab_count;

	while (i < n || j < m) {
		const struct slab *x = i < n ? &a->slabs[c->first_slab + i] : NULL;
		const struct slab *y = j < m ? &b->slabs[d->first_slab + j] : NULL;

		if (x != NULL && y != NULL && x->base == y->base && x->class == y->class &&
		    x->slots == y->slots) {
			t->class[x->class].changed += slab_changed(a, x, b, y);
			i++;
			j++;
		} else if (y == NULL || (x != NULL && x->base <= y->base)) {
			t->class[x->class].changed += x->slots;
			i++;
		} else {
			t->class[y->class].changed += y->slots;
			j++;
		}
	}
}

/* Chunks of all regions are in the order of addresses. */
static void sums_changed(struct sums *t, const struct picture *a, const struct picture *b)
{
	size_t i = 0, j = 0;

	while (i < a->chunk_count || j < b->chunk_count) {
		const struct chunk *c = i < a->chunk_count ? &a->chunks[i] : NULL;
		const struct chunk *d = j < b->chunk_count ? &b->chunks[j] : NULL;

		if (c != NULL && d != NULL && c->base != d->base) {
			if (c->base < d->base)
				d = NULL;
			else
				c = NULL;
		}
		if (c != NULL && d != NULL && c->kind == CHUNK_SPAN && d->kind == CHUNK_SPAN)
			t->changed_spans += c->span_bytes != d->span_bytes;
		else
			t->changed_spans += (uint64_t)(c != NULL && c->kind == CHUNK_SPAN) +
					    (uint64_t)(d != NULL && d->kind == CHUNK_SPAN);
		chunk_changed(t, a, c, b, d);
		i += c != NULL;
		j += d != NULL;
	}
}

bool sums_make(struct sums *t, const struct picture *p, const struct picture *before)
{
	size_t i;

	memset(t, 0, sizeof *t);
	t->owner = ash_zalloc(p->owner_count + 2, sizeof *t->owner);
	if (t->owner == NULL)
		return false;
	for (i = 0; i < p->region_count; i++)
		sums_region(t, p, &p->regions[i]);
	for (i = 0; i < p->chunk_count; i++)
		sums_chunk(t, p, &p->chunks[i]);
	t->restless = p->restless;
	if (before != NULL) {
		sums_changed(t, before, p);
		for (i = 0; i < CLASSES_MAX; i++)
			t->changed += t->class[i].changed;
		t->apart = p->done - before->done;
		t->restless += before->restless;
	}
	return true;
}

void sums_drop(struct sums *t)
{
	ash_release(t->owner);
	memset(t, 0, sizeof *t);
}
