/* SPDX-License-Identifier: MIT */
/* Blocks that were released, in every state their memory can be in since. */
/* promises: ash_release */
#include "support/misuse.h"

MISUSE_CALL(released, released(bad, block_among(100)));

/* The only block of its slab: the slab may be a spare. */
MISUSE_CALL(released_alone, released(bad, ash_alloc(100)));

/* There is a slot at once for the size that use_resize asks for. */
MISUSE(released_where_it_could_move)
{
	CHECK(ash_alloc(50) != NULL);
	released(bad, block_among(100));
}

MISUSE_CALL(released_of_eight, released(bad, block_among(8)));
MISUSE_CALL(released_of_zero_bytes, released(bad, block_among(0)));

MISUSE(released_zalloc)
{
	CHECK(ash_alloc(60) != NULL);
	released(bad, ash_zalloc(6, 10));
}

MISUSE(released_aligned)
{
	CHECK(ash_aligned_alloc(4096, 100) != NULL);
	released(bad, ash_aligned_alloc(4096, 100));
}

MISUSE(released_by_resize)
{
	char *p = block_among(100);

	CHECK(ash_resize(p, 5000) != p);
	bad_in(bad, p, 0, bad->gone, 112);
}

/* Empty slabs were given back, but a block of another class holds the chunk. */
MISUSE(slab_returned)
{
	char *p = ash_alloc(100);

	CHECK(ash_alloc(1000) != NULL);
	ash_release(p);
	ash_thread_detach();
	bad_alone(bad, p, RETURNED);
}

/* The chunk was given back, too, and waits for another use. */
MISUSE(chunk_returned)
{
	char *p = ash_alloc(100);

	ash_release(p);
	ash_thread_detach();
	bad_alone(bad, p, RETURNED);
}

/* The addresses as well. */
static void unmapped(struct bad *bad, char *p)
{
	ash_release(p);
	ash_trim(0);
	bad_alone(bad, p, FOREIGN);
}

MISUSE_CALL(region_returned, unmapped(bad, ash_alloc(100)));
MISUSE_CALL(span_unmapped, unmapped(bad, ash_alloc(50 * MIB)));
MISUSE_CALL(span_released, released_alone(bad, ash_alloc(5 * MIB), RETURNED));
MISUSE_CALL(span_zalloc_released, released_alone(bad, ash_zalloc(5, MIB), RETURNED));
MISUSE_CALL(span_aligned_released, released_alone(bad, ash_aligned_alloc(16 * MIB, 100), RETURNED));

/* Purged, not unmapped: a span that stays holds the region. */
MISUSE(span_purged)
{
	char *p = ash_alloc((size_t)5 << 20);

	memset(p, 1, (size_t)5 << 20);
	CHECK(ash_alloc(100) != NULL);
	ash_release(p);
	ash_trim(1);
	bad_alone(bad, p, RETURNED);
}

/* Memory that a span gave back when it shrank. */
MISUSE(span_shrunk)
{
	char *p = ash_alloc((size_t)9 << 20);

	CHECK(ash_resize(p, (size_t)3 << 20) == p);
	bad_alone(bad, p + ((size_t)6 << 20), RETURNED);
}

MISUSE(span_moved)
{
	char *p = ash_alloc((size_t)3 << 20), *q;

	q = ash_resize(p, (size_t)200 << 20);
	CHECK(q != NULL && q != p);
	bad_alone(bad, p, RETURNED);
}

/* Became a block of a slab. */
MISUSE(span_became_small)
{
	char *p = ash_alloc((size_t)3 << 20);

	CHECK(ash_resize(p, 1000) != p);
	bad_alone(bad, p, RETURNED);
}

/* A slab where a span was: the old pointer is inside memory of another kind. */
MISUSE(span_became_slabs)
{
	char *p = ash_alloc((size_t)2 << 20), *blocks[16];

	ash_release(p);
	for (int i = 0; i < 16; i++)
		blocks[i] = NOT_NULL(ash_alloc(600000));
	bad_in(bad, blocks[3], 64, "interior pointer", ash_usable_size(blocks[3]));
}
