/* SPDX-License-Identifier: MIT */
/* What recovery has settled: units, chunks and records. */
#include "inner/death/harness.h"

#include "heaps/instance.h"
#include "store/recover/building.h"
#include "slab/look.h"
#include "support/blocks.h"

void settled_units(void)
{
	struct region *r = heap_of(death_heap)->regions;
	size_t i, left = 0;
	unsigned u, n;

	for (i = 0; i < r->chunks; i++) {
		struct chunk *c = region_chunk(r, i);

		if (left > 0) {
			left--;
		} else if (bits_all(r->free, i, 1)) {
			continue;
		} else if (chunk_is(c, CHUNK_SPAN)) {
			left = c->span_chunks - 1;
			CHECK(c->span_bytes <= (size_t)c->span_chunks << CHUNK_SHIFT);
		} else {
			CHECK(chunk_is(c, CHUNK_SLABS));
			n = bits_count(c->units);
			for (u = 0; u < CHUNK_UNITS; u++)
				if (slab_beginning(c, u) != NULL)
					n += slab_beginning(c, u)->units;
			CHECK_EQ(n, CHUNK_UNITS);
		}
	}
	CHECK_EQ(heap_of(death_heap)->dirty << UNIT_SHIFT, stats_of(death_heap).dirty);
}

void settled_records(void)
{
	struct store *s = store_of(heap_of(death_heap));
	struct owner *o;
	uint64_t n = 0;
	unsigned i;

	for (o = s->heap.owners; o != NULL; o = o->next, n++) {
		CHECK_EQ(o->building & 1, 0);
		CHECK_EQ(truth_of(o)->flight, 0);
		CHECK(o->state >> OWNER_THREAD != death_ended);
	}
	CHECK_EQ(n, s->records_used);
	for (i = 0; i < STRANGERS; i++)
		CHECK_EQ(s->strangers[i], 0);
	CHECK_EQ(s->lost, 0);
	CHECK(s->recoverer == 0 || s->recoverer == death_ended);
}
