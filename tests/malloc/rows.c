/* SPDX-License-Identifier: MIT */
/* The rows that malloc_info is made of (core/diagnostics/blocks_stats.c): a size class each, and the spans. */
#include "ashlar.h"
#include "base/class.h"
#include "base/layout.h"
#include "rt.h"

void ash_stats_rows(void (*row)(void *to, const struct ash_class *class), void *to);

static struct ash_class rows[CLASSES + 1];
static size_t count;

static void row(void *to, const struct ash_class *class)
{
	CHECK(to == &count && count <= CLASSES);
	rows[count++] = *class;
}

static void look(void)
{
	struct ash_class one;

	count = 0;
	ash_stats_rows(row, &count);
	CHECK_EQ(count, CLASSES + 1);
	for (unsigned i = 0; i <= CLASSES; i++)
		CHECK(ash_stats_class(i, &one) == 1 && memcmp(&one, &rows[i], sizeof one) == 0);
	CHECK(ash_stats_class(CLASSES + 1, &one) == 0 && ash_stats_class(~0u, &one) == 0);
}

TEST(rows_of_classes_and_spans, 10)
{
	struct ash_statistics st;
	size_t blocks = 0, bytes = 0;
	unsigned of_100 = class_of(100), of_3000 = class_of(3000), of_large = class_of(ash_good_size(100000)), i;

	look();
	for (i = 0; i <= CLASSES; i++)
		CHECK(rows[i].slots == 0 && rows[i].taken == 0 && rows[i].bytes == 0);
	for (i = 0; i < 5; i++)
		CHECK(ash_alloc(100) != NULL);
	CHECK(ash_alloc(3000) != NULL && ash_alloc(100000) != NULL && ash_alloc(100000) != NULL);
	CHECK(ash_alloc(5 * MIB) != NULL && ash_alloc(2 * MIB) != NULL);
	look();
	CHECK(rows[of_100].size == 112 && rows[of_100].taken == 5);
	CHECK_EQ(rows[of_100].slots, class_slots(of_100, class_units(of_100, true)));
	CHECK_EQ(rows[of_100].bytes, class_units(of_100, true) * UNIT_SIZE);
	CHECK(rows[of_3000].taken == 1 && rows[of_large].taken == 2 && rows[of_large].slots == 2);
	CHECK(rows[CLASSES].size == 0 && rows[CLASSES].slots == 2 && rows[CLASSES].taken == 2);
	CHECK_EQ(rows[CLASSES].bytes, (3 + 1) * CHUNK_SIZE);
	for (i = 0; i <= CLASSES; i++) {
		blocks += rows[i].taken;
		bytes += i < CLASSES ? rows[i].bytes : 0;
		CHECK_EQ(rows[i].size, i < CLASSES ? class_size(i) : 0);
	}
	ash_stats(&st);
	CHECK(blocks == st.blocks && bytes == st.slabs && rows[CLASSES].bytes == st.spans);
}
