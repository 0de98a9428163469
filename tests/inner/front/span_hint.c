/* SPDX-License-Identifier: MIT */
/* The map's hint of a span's unit names a slab record that seems to have a slot there. */
#include "backend/map.h"
#include "inner/slots.h"

TEST(hint_of_a_span_is_no_size, 10)
{
	void *spans[SPANS];
	size_t seen = 0;

	spans_over_slabs(spans);
	for (size_t i = 0; i < SPANS; i++) {
		struct slab *s = map_guess_slab(spans[i]), was;

		if (s != NULL && s->base == spans[i]) {
			was = *s;
			s->slots = SLAB_SLOTS;
			s->owner = OWNER_UNOWNED;
			s->free[0] = 0;
			CHECK_EQ(ash_usable_size(spans[i]), CHUNK_SIZE);
			*s = was;
			seen++;
		}
		ash_release(spans[i]);
	}
	CHECK(seen > 0 && ash_check() == 0);
}
