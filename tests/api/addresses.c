/* SPDX-License-Identifier: MIT */
/* Address space: the ranges that huge blocks leave behind, requests that are refused, blocks under a limit. */
/* promises: ash_alloc, ash_resize, ash_release */
#include "ashlar_heap.h"
#include "support/blocks.h"
#include "support/resident.h"

/* A block of any size costs little, and less than 0.5 MiB stays. */
TEST(addresses_huge_block_leaves_little, 10)
{
	const struct ash_heap_options sparse = {.sparse = true};
	ash_heap *heap = NOT_NULL(ash_heap_create(&sparse));
	struct ash_block found;
	size_t before;

	ash_heap_release(heap, ash_heap_alloc(heap, 2 * MIB));
	before = rt_anonymous();
	/* QEMU 7.2 keeps a record of each page that is mapped: 2^46 bytes exhaust the machine. */
	for (unsigned power = 31; power <= (rt_under_qemu() ? 34 : 46); power++) {
		size_t size = ((size_t)1 << power) - 3 * MIB;
		char *p = ash_heap_alloc(heap, size);

		if (p == NULL) /* QEMU, a limit, vm.overcommit_memory = 2 */
			rt_skip("this kernel has no addresses for it");
		p[0] = p[size - 1] = 1;
		for (size_t at = 1; at < size; at = at * 2 + 12345) {
			CHECK_EQ(ash_find(p + at, &found), ASH_TAKEN);
			CHECK(found.start == p && found.offset == at && found.size >= size && found.heap == heap);
		}
		CHECK_EQ(ash_find(p + size - 1, &found), ASH_TAKEN);
		CHECK(ash_heap_of(p + size / 2) == heap);
		CHECK_EQ(ash_heap_check(heap), 0);
		ash_heap_release(heap, p);
		CHECK(ash_find(p + size / 2, &found) == ASH_FOREIGN);
		CHECK_EQ(ash_heap_check(heap), 0);
	}
	if (!rt_under_qemu())
		CHECK(rt_anonymous() <= before + MIB); /* pages of the map's root, by where the kernel put the blocks: 200 to 560 KiB */
	ash_heap_destroy(heap);
}

/* Grows and shrinks where it is or elsewhere, with its contents. */
TEST(addresses_huge_block_is_resized, 10)
{
	const size_t gib = (size_t)1 << 30;
	char *p = ash_zalloc(1, gib + 5 * MIB), *q = NULL;
	size_t size = gib + 5 * MIB;

	if (p == NULL)
		rt_skip("the kernel does not promise a GiB");
	memcpy(p + gib - 2, "abcde", 5);
	for (unsigned i = 0; i < 6; i++) {
		size = i % 2 == 0 ? size + 200 * MIB + 4096 : size - 150 * MIB - 8192;
		if (i == 3)
			q = ash_alloc(gib); /* perhaps in the way */
		p = promised(ash_resize(p, size));
		CHECK(ash_usable_size(p) >= size && ash_usable_size(p) < size + 65536);
		CHECK(memcmp(p + gib - 2, "abcde", 5) == 0);
		p[size - 1] = 1;
		CHECK_EQ(ash_check(), 0);
	}
	CHECK(ash_expand(p, gib + 4096) != 0);
	p = ash_resize(p, 40 * MIB); /* to a usual region's size */
	CHECK(p != NULL && ash_usable_size(p) == 40 * MIB);
	p = NOT_NULL(ash_resize(p, 100));
	ash_release(p);
	ash_release(q);
	CHECK_EQ(ash_check(), 0);
}

/* In its place: memory that it gives up goes, memory that it gets back reads zero; the figures are equal again. */
TEST(addresses_huge_block_in_its_place, 10)
{
	const size_t gib = (size_t)1 << 30, more = 64 * MIB;
	unsigned char *p = ash_alloc(gib + more);
	struct ash_statistics before, after;
	struct ash_block found;
	size_t resident;

	if (p == NULL)
		rt_skip("the kernel does not promise a GiB");
	p[0] = 7;
	memset(p + gib, 1, 32 * MIB);
	ash_stats(&before);
	resident = rt_anonymous();
	CHECK_EQ(ash_expand(p, gib), gib);
	CHECK_EQ(ash_usable_size(p), gib);
	if (figures())
		CHECK(rt_anonymous() + 31 * MIB < resident);
	CHECK(ash_find(p + gib, &found) != ASH_TAKEN && ash_check() == 0);
	if (ash_expand(p, gib + more) == 0)
		rt_skip("something lies behind it");
	CHECK_EQ(ash_usable_size(p), gib + more);
	CHECK(ash_find(p + gib + more - 1, &found) == ASH_TAKEN && found.start == (char *)p);
	CHECK(p[0] == 7 && p[gib] == 0 && p[gib + 32 * MIB - 1] == 0);
	p[gib + more - 1] = 1;
	ash_stats(&after);
	CHECK_EQ(memcmp(&before, &after, sizeof before), 0);
	CHECK_EQ(ash_check(), 0);
	ash_release(p);
	CHECK_EQ(ash_check(), 0);
}

/* As by malloc elsewhere; only a heap that is said to be sparse has it. */
TEST(addresses_more_than_is_promised, 10)
{
	const struct ash_heap_options sparse = {.sparse = true};
	ash_heap *heap = ash_heap_create(&sparse);
	void *p;

	if (rt_under_qemu())
		rt_skip("QEMU 7.2 keeps a record of each page that is mapped");
	if (!setting_has(OVERCOMMIT, "0"))
		rt_skip("vm.overcommit_memory is not 0");
	for (unsigned power = 44; power <= 46; power++) {
		CHECK(ash_alloc((size_t)1 << power) == NULL);
		CHECK(ash_zalloc(1, (size_t)1 << power) == NULL);
		p = NOT_NULL(ash_heap_zalloc(heap, 1, (size_t)1 << power));
		ash_heap_release(heap, p);
	}
	ash_heap_destroy(heap);
}

/* Blocks that are chained through themselves. */
static size_t fill(void **list, size_t size)
{
	size_t n = 0;
	void **p;

	while ((p = ash_alloc(size)) != NULL) {
		*p = *list;
		*list = p;
		n++;
	}
	return n * size;
}

static void empty(void **list)
{
	void **p;

	while ((p = *list) != NULL) {
		*list = *p;
		ash_release(p);
	}
}

struct limited {
	size_t limit, size, again;
	bool data; /* RLIMIT_DATA instead of RLIMIT_AS */
};

/* At least 92 % of what glibc has; `of` is that: all whole blocks but for one MiB. */
static bool most_of(size_t bytes, size_t limit, size_t size)
{
	return bytes >= (limit - MIB) / size * size / 100 * 92;
}

static size_t in_use(bool data)
{
	return data ? rt_data() : rt_address_space();
}

/* So many bytes more from now on.  Returns those before. */
static size_t limit_to(bool data, size_t bytes)
{
	size_t first = in_use(data);

	if (data && setting_has(OVERCOMMIT, "2"))
		rt_skip("that the kernel promises no more is found before the limit of data");
	if (rt_under_qemu() || !(data ? rt_limit_data : rt_limit_address_space)(first + bytes))
		rt_skip("a limit of addresses has no effect under QEMU");
	return first;
}

static void use_up(const void *argument)
{
	const struct limited *l = argument;
	void *list = NULL;
	size_t bytes, first;

	if (l->size > 32 * KIB && l->size < 2 * MIB)
		needs_pages_of_4k();
	if (l->limit > 100000000 && l->size > 32 * KIB && l->size < MIB && !rt_in_full())
		rt_skip("thousands of records are passed for each block, which takes seconds: make test-long");
	ash_release(ash_alloc(1));
	first = limit_to(l->data, l->limit);
	bytes = fill(&list, l->size);
	rt_print("     %zu KiB in blocks of %zu B", bytes / KIB, l->size);
	CHECK(most_of(bytes, l->limit, l->size));
	CHECK_EQ(ash_check(), 0);
	empty(&list);
	/* For a thread's stack. */
	CHECK(in_use(l->data) < first + l->limit - 8 * MIB);
	bytes = fill(&list, l->again);
	rt_print(", then %zu KiB of %zu B\n", bytes / KIB, l->again);
	/* The records of slabs stay, a 29th of them. */
	CHECK(most_of(bytes, l->limit - l->limit / 25, l->again));
	empty(&list);
	CHECK_EQ(ash_check(), 0);
}

/* A block above 32 KiB has just its pages then, and keeps its contents when it is resized. */
TEST(addresses_under_a_limit_just_the_pages, 10)
{
	const size_t pages = 296 * KIB;
	void *list = NULL, *block;

	needs_pages_of_4k();
	if (rt_under_qemu() || !rt_limit_address_space(rt_address_space() + 100000000))
		rt_skip("a limit of addresses has no effect under QEMU");
	(void)fill(&list, 300000);
	CHECK(ash_usable_size(list) >= 300000 && ash_usable_size(list) <= pages);
	CHECK(ash_usable_size(list) < ash_good_size(300000));
	block = *(void **)list;
	empty((void **)block); /* room for a copy */
	*(void **)block = NULL;
	((char *)list)[299999] = 7;
	list = ash_resize(list, ash_good_size(300000));
	CHECK(list != NULL && ash_usable_size(list) >= ash_good_size(300000));
	CHECK_EQ(((char *)list)[299999], 7);
	ash_release_sized(block, 300000);
	ash_release(list);
	CHECK_EQ(ash_check(), 0);
}

#define LIMITED_BY(id, bytes, first, second, data)                                                 \
	static const struct limited limited_##id = {bytes, first, second, data};                   \
	RT_ENTRY(id, "addresses_under_a_limit_" #id, use_up, &limited_##id, 20)
#define LIMITED(id, bytes, first, second) LIMITED_BY(id, bytes, first, second, false)

LIMITED(100mb_1000, 100000000, 1000, 20000000);
LIMITED(100mb_40000, 100000000, 40000, 2098000);
LIMITED(100mb_5000, 100000000, 5000, 100000);
LIMITED(100mb_300000, 100000000, 300000, 1049000);
LIMITED(100mb_1049000, 100000000, 1049000, 300000);
LIMITED(100mb_2098000, 100000000, 2098000, 40000);
LIMITED(100mb_20000000, 100000000, 20000000, 1000);
LIMITED_BY(100mb_40000_data, 100000000, 40000, 2098000, true);
LIMITED_BY(100mb_1049000_data, 100000000, 1049000, 300000, true);
LIMITED(gib_5000, (size_t)1 << 30, 5000, 1000);
LIMITED(gib_20000, (size_t)1 << 30, 20000, 300000);
LIMITED(gib_40000, (size_t)1 << 30, 40000, 2098000);
LIMITED(gib_100000, (size_t)1 << 30, 100000, 5000);
LIMITED(gib_20mb, (size_t)1 << 30, 20000000, 1000);
LIMITED(gib_2100k, (size_t)1 << 30, 2100 * KIB, 33000000);
LIMITED(gib_33mb, (size_t)1 << 30, 33000000, 2100 * KIB);
LIMITED(gib_64m, (size_t)1 << 30, 64 * MIB, 150000000);
LIMITED(gib_150mb, (size_t)1 << 30, 150000000, 64 * MIB);

/* Free memory goes back before a block is refused that is larger than all of it. */
static void gives_way(bool data)
{
	static void *p[7000];
	struct ash_statistics st;

	alloc_each(p, 7000, 5000);
	release_each(p, 7000);
	ash_stats(&st);
	rt_print("     %zu KiB reserved\n", st.reserved / KIB);
	CHECK(st.reserved >= 8 * MIB);
	(void)limit_to(data, 4 * MIB);
	ash_release(NOT_NULL(ash_alloc(st.reserved + 2 * MIB)));
	CHECK_EQ(ash_check(), 0);
}

TEST_CALL(addresses_free_ones_give_way, 10, gives_way(false));
TEST_CALL(addresses_free_data_gives_way, 10, gives_way(true));
