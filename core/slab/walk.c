/* SPDX-License-Identifier: MIT */
#include "slab/walk.h"

struct slab *walk_next(struct walk *w)
{
	uint32_t offset; /* of the record, from its chunk record */

	do {
		while (++w->unit >= CHUNK_UNITS) {
			/* Go to the next slab chunk; the loop condition increments to its unit 0. */
			w->unit = CHUNK_UNITS;
			while (w->region != NULL && (w->region->remote == NULL ||
						     w->index >= load_relaxed(&w->region->chunks))) {
				w->region = region_next(w->region);
				w->index = 0;
			}
			if (w->region == NULL)
				return NULL;
			if (!SMALL) {
				w->index = region_next_known(w->region, w->index);
				if (w->index >= load_relaxed(&w->region->chunks))
					continue;
			}
			w->chunk = region_chunk(w->region, w->index++);
			/* Without known bits: a record that was never used is not read, that would page it in. */
			if ((SMALL && bits_all(w->region->free, w->index - 1, 1)) || !chunk_is(w->chunk, CHUNK_SLABS))
				continue;
			if (!SMALL)
				chunk_mend(w->region->heap, w->chunk);
			w->unit = ~0u;
		}
		offset = load_acquire(&w->chunk->head[w->unit]); /* pairs with slab_publish */
	} while (!record_begins(offset, w->unit));
	return record_at(w->chunk, offset);
}
