/* SPDX-License-Identifier: MIT */
/*
 * Which pages are resident: /proc/PID/pagemap, a word a page.  Pages are those of this kernel,
 * which is the target's, too; the descriptor names the largest that its CPU may have.
 */
#include <ashlar.h>

#include "picture.h"

#define PRESENT (UINT64_C(1) << 63)
#define SWAPPED (UINT64_C(1) << 62)

enum { BATCH_CHUNKS = 32 };

struct pagemap {
	struct picture *p;
	const struct layout *l;
	int fd;
	uint64_t *words;
	size_t page; /* bytes, of the kernel */
};

/* Reads the words of so many chunks from the address; false: it cannot be read. */
static bool read_words(struct pagemap *m, uint64_t base, uint64_t chunks)
{
	size_t bytes = chunks * (m->l->chunk / m->page) * sizeof(uint64_t);

	return rt_read_at(m->fd, m->words, bytes, base / m->page * sizeof(uint64_t)) ==
	       (int64_t)bytes;
}

/* Counts the pages of chunk i of those read; of each unit, if `pages`. */
static uint64_t count_chunk(struct pagemap *m, uint64_t i, uint8_t *pages)
{
	size_t per_chunk = m->l->chunk / m->page, k, u;
	const uint64_t *words = m->words + i * per_chunk;
	unsigned unit[UNITS] = {0};
	uint64_t n = 0;

	for (k = 0; k < per_chunk; k++) {
		bool there = (words[k] & PRESENT) != 0;

		n += there;
		for (u = 0; u < m->page; u += m->p->piece)
			unit[(k * m->page + u) / m->l->unit] += there;
		m->p->swapped += (words[k] & SWAPPED) != 0 ? m->page : 0;
	}
	for (k = 0; pages != NULL && k < UNITS; k++)
		pages[k] = (uint8_t)(unit[k] > 255 ? 255 : unit[k]);
	return n * m->page;
}

static bool read_region(struct pagemap *m, struct region *r)
{
	struct chunk *c = m->p->chunks + r->first_chunk, *end = c + r->chunk_count, *span = NULL;
	uint64_t i, k, n;

	for (i = 0; i < r->all; i += n) {
		n = r->all - i < BATCH_CHUNKS ? r->all - i : BATCH_CHUNKS;
		/* A run that was never used has no page. */
		for (k = 0; k < n && i + k < r->chunks && bit_is_set(r->free, i + k) && bit_is_set(r->clean, i + k);)
			k++;
		if (k == n)
			continue;
		if (!read_words(m, r->base + i * m->l->chunk, n))
			return false;
		for (k = 0; k < n; k++) {
			uint64_t base = r->base + (i + k) * m->l->chunk;

			if (span != NULL && base - span->base >= span->span_chunks * m->l->chunk)
				span = NULL;
			if (c < end && c->base == base) {
				c->resident = count_chunk(m, k, c->pages);
				span = c->kind == CHUNK_SPAN ? c : NULL;
				c++;
			} else if (span != NULL) {
				span->resident += count_chunk(m, k, NULL);
			} else {
				r->resident_free += count_chunk(m, k, NULL);
			}
		}
		progress("counting resident pages", i, r->all);
	}
	return true;
}

void resident_read(struct picture *p)
{
	struct pagemap m = {.p = p};
	char path[64];
	size_t i;

	p->resident_known = false;
	if (p->source->kind != SOURCE_PROCESS || p->module_count == 0)
		return;
	m.page = rt_auxv(6 /* AT_PAGESZ */);
	p->piece = m.page < p->modules[0].layout.unit ? m.page : p->modules[0].layout.unit;
	if (p->piece < 4096 || p->modules[0].layout.chunk % m.page != 0)
		return;
	rt_format(path, sizeof path, "/proc/%d/pagemap", p->source->pid);
	m.fd = rt_open(path);
	if (m.fd < 0)
		return;
	m.l = &p->modules[0].layout;
	m.words = ash_alloc(BATCH_CHUNKS * (m.l->chunk / m.page) * sizeof(uint64_t));
	p->resident_known = m.words != NULL;
	for (i = 0; i < p->region_count && p->resident_known; i++) {
		m.l = picture_layout(p, &p->heaps[p->regions[i].heap]);
		/* Another version in the same process may have other sizes. */
		p->resident_known = m.l->chunk == p->modules[0].layout.chunk &&
				    m.l->unit == p->modules[0].layout.unit && read_region(&m, &p->regions[i]);
	}
	progress_end();
	ash_release(m.words);
	rt_close(m.fd);
}
