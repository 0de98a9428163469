/* SPDX-License-Identifier: MIT */
/* Names and layouts of heaps shared by processes. */
/* promises: ash_heap_bind, ash_heap_find, ash_heap_names, ash_heap_slot, ash_heap_unbind */

#include "heaps/instance.h"
#include "store/data/view.h"
#include "store/file/store.h"
#include "support/blocks.h"
#include "syscall.h"

static ash_heap *heap;

DOES(open_heap, heap = NOT_NULL(ash_heap_create_shared((size_t)32 << 20, NULL)));

/* ---- names ---- */

enum { NAMES = 3000 };

static const char *name_of(unsigned i)
{
	static char text[64];

	(void)rt_format(text, sizeof text, "table/%u", i);
	return text;
}

static unsigned listed;

static int count_name(void *context, const char *name, void *p)
{
	listed += *(unsigned *)p < NAMES && rt_strcmp(name, name_of(*(unsigned *)p)) == 0;
	return context != NULL && listed == 10 ? 17 : 0;
}

static int see(void *context, UNUSED void *block, UNUSED size_t size, UNUSED const struct ash_heap_owner *owner)
{
	++*(unsigned *)context;
	return 0;
}

static void bind_some(unsigned from)
{
	for (unsigned i = from; i < NAMES; i += 2) {
		unsigned *p = ash_heap_draft(heap, sizeof *p);

		*p = i;
		CHECK_EQ(ash_heap_bind(heap, name_of(i), p), ASH_SLOT_DONE);
	}
}

TEST(names_thousands, 20)
{
	long pid;
	unsigned i, seen = 0;
	unsigned *p;

	open_heap();
	CHECK(ash_heap_find(heap, name_of(1)) == NULL);
	CHECK(ash_heap_unbind(heap, name_of(1)) == NULL);
	CHECK_EQ(ash_heap_names(heap, count_name, NULL), 0);
	pid = rt_fork();
	bind_some(pid == 0);
	if (pid == 0)
		rt_exit(0);
	CHECK_EQ(rt_wait(pid), 0);
	for (i = 0; i < NAMES; i++) {
		p = ash_heap_find(heap, name_of(i));
		CHECK(p != NULL && *p == i);
	}
	CHECK_EQ(ash_heap_names(heap, count_name, NULL), 0);
	CHECK_EQ(listed, NAMES);
	listed = 0;
	CHECK_EQ(ash_heap_names(heap, count_name, heap), 17);
	CHECK_EQ(ash_heap_bind(heap, name_of(7), ash_heap_alloc(heap, 8)), ASH_SLOT_CHANGED);
	p = ash_heap_unbind(heap, name_of(7));
	CHECK(p != NULL && *p == 7);
	CHECK(ash_heap_find(heap, name_of(7)) == NULL);
	CHECK_EQ(ash_heap_bind(heap, name_of(7), p), ASH_SLOT_DONE);
	CHECK_EQ(ash_heap_release_from(heap, ash_heap_slot(heap, name_of(8), NULL)), ASH_SLOT_DONE);
	CHECK(ash_heap_find(heap, name_of(8)) == NULL);
	/* A walk shows the program's blocks: those that are bound, and the one that was not. */
	CHECK_EQ(ash_heap_walk(heap, see, &seen), 0);
	CHECK_EQ(seen, NAMES - 1 + 1);
	CHECK_EQ(ash_heap_check(heap), 0);
}

/* A name has room for all of itself: the next block begins where a class is full. */
TEST(names_of_every_length, 10)
{
	char text[ASH_NAME_MAX + 1] = {0};
	unsigned n, *p;

	open_heap();
	for (n = 0; n < ASH_NAME_MAX; n++) {
		text[n] = 'n';
		p = ash_heap_draft(heap, sizeof *p);
		*p = n;
		CHECK_EQ(ash_heap_bind(heap, text, p), ASH_SLOT_DONE);
	}
	for (; n > 0; n--) {
		p = ash_heap_find(heap, text);
		CHECK(p != NULL && *p == n - 1);
		text[n - 1] = '\0';
	}
	CHECK_EQ(ash_heap_check(heap), 0);
}

/*
 * Names that differ in their last byte only, and share a bucket: each has its own slot.  Such pairs are rare,
 * as the last byte decides the bucket but for a carry over half of the hash.
 */
TEST(names_that_differ_in_the_last_byte, 10)
{
	static const char *const pairs[][2] = {
		{"10081028", "1008102G"}, {"13829697", "1382969L"}, {"22442939", "2244293l"}, {"2991971M", "29919716"}};
	void *one, *other;
	unsigned i;

	open_heap();
	for (i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		CHECK_EQ(name_hash(pairs[i][0], 8) % NAME_BUCKETS, name_hash(pairs[i][1], 8) % NAME_BUCKETS);
		one = ash_heap_alloc(heap, 8);
		CHECK_EQ(ash_heap_bind(heap, pairs[i][0], one), ASH_SLOT_DONE);
		CHECK(ash_heap_find(heap, pairs[i][1]) == NULL);
		other = ash_heap_alloc(heap, 8);
		CHECK_EQ(ash_heap_bind(heap, pairs[i][1], other), ASH_SLOT_DONE);
		CHECK(ash_heap_find(heap, pairs[i][0]) == one && ash_heap_find(heap, pairs[i][1]) == other);
	}
}

TEST(names_refused, 10)
{
	char longest[ASH_NAME_MAX + 2];
	enum ash_slot why;
	ash_heap *other = ash_heap_create(NULL);
	void *p;

	open_heap();
	memset(longest, 'x', sizeof longest);
	longest[ASH_NAME_MAX + 1] = '\0';
	CHECK(ash_heap_slot(heap, longest, &why) == NULL && why == ASH_SLOT_BAD_NAME);
	CHECK_EQ(ash_heap_bind(heap, longest, NULL), ASH_SLOT_BAD_NAME);
	CHECK(ash_heap_find(heap, longest) == NULL);
	longest[ASH_NAME_MAX] = '\0';
	CHECK(ash_heap_slot(heap, longest, &why) != NULL && why == ASH_SLOT_DONE);
	CHECK(ash_heap_slot(heap, longest, NULL) == ash_heap_slot(heap, longest, NULL));
	CHECK(ash_heap_slot(other, "a", &why) == NULL && why == ASH_SLOT_OUTSIDE);
	CHECK(ash_heap_find(other, "a") == NULL && ash_heap_unbind(other, "a") == NULL);
	CHECK_EQ(ash_heap_names(other, count_name, NULL), 0);
	/* The root is the slot without a name. */
	p = ash_heap_alloc_into(heap, 100, ash_heap_slot(heap, "", NULL), NULL);
	CHECK(p != NULL && ash_heap_root(heap) == p && ash_heap_find(heap, "") == p);
	ash_heap_set_root(heap, NULL);
	CHECK(ash_heap_find(heap, "") == NULL);
}

/* Many create the directory and the same names at once: each name is there once. */
TEST(names_race, 20)
{
	unsigned k, i, n, seen;
	long pid[4];

	for (n = 0; n < (rt_under_qemu() ? 2 : 20); n++) {
		open_heap();
		for (k = 0; k < 4; k++) {
			pid[k] = rt_fork();
			if (pid[k] != 0)
				continue;
			for (i = 0; i < 50; i++)
				(void)ash_heap_alloc_into(heap, 40, ash_heap_slot(heap, name_of(i), NULL), NULL);
			rt_exit(0);
		}
		for (k = 0; k < 4; k++)
			CHECK_EQ(rt_wait(pid[k]), 0);
		(void)ash_heap_recover(heap);
		seen = 0;
		(void)ash_heap_walk(heap, see, &seen);
		CHECK_EQ(seen, 50);
		CHECK_EQ(stats_of(heap).blocks, 50 + 50 + 1);
		ash_heap_destroy(heap);
	}
}

/* ---- layouts ---- */

static int file_of(const char *layout, uint64_t version)
{
	const struct ash_heap_options options = {.layout = layout, .layout_version = version};
	int fd = (int)arch_memfd_create("layout", 0);
	IN_CHILD
		CHECK(ash_heap_create_file(fd, (size_t)4 << 20, &options) != NULL);
	return fd;
}

static enum ash_attach attach_as(int fd, const char *layout, uint64_t version)
{
	const struct ash_heap_options options = {.layout = layout, .layout_version = version};
	enum ash_attach why;
	ash_heap *h = ash_heap_open_file(fd, 0, &options, &why);

	CHECK((h != NULL) == (why == ASH_ATTACHED));
	ash_heap_destroy(h);
	return why;
}

static uint64_t sum_of_file(int fd)
{
	static char page[1 << 16];
	uint64_t sum = 0;
	long at = 0, n, i;

	for (; (n = arch_pread64(fd, page, sizeof page, at)) > 0; at += n)
		for (i = 0; i < n; i++)
			sum = (sum ^ (unsigned char)page[i]) * UINT64_C(0x100000001b3);
	return sum;
}

TEST(layouts_are_compared, 10)
{
	const struct ash_heap_options other = {.layout = "other"};
	int fd = file_of("orders", 3), plain = file_of(NULL, 0), empty = (int)arch_memfd_create("empty", 0);
	uint64_t before = sum_of_file(fd);
	enum ash_attach why;
	ash_heap *h;

	CHECK_EQ(attach_as(fd, "orders", 4), ASH_ATTACH_LAYOUT);
	CHECK_EQ(attach_as(fd, "order", 3), ASH_ATTACH_LAYOUT);
	CHECK_EQ(attach_as(fd, NULL, 0), ASH_ATTACH_LAYOUT);
	CHECK(ash_heap_open_file(fd, 1 << 20, &other, &why) == NULL && why == ASH_ATTACH_LAYOUT);
	CHECK(ash_heap_open_file(fd, 1 << 20, NULL, &why) == NULL && why == ASH_ATTACH_LAYOUT);
	CHECK_EQ(sum_of_file(fd), before);
	CHECK_EQ(attach_as(fd, "orders", 3), ASH_ATTACHED);
	CHECK_EQ(attach_as(plain, NULL, 0), ASH_ATTACHED);
	CHECK_EQ(attach_as(plain, "orders", 3), ASH_ATTACH_LAYOUT);
	CHECK_EQ(attach_as(empty, "orders", 3), ASH_ATTACH_NO_HEAP);
	CHECK_EQ(sum_of_file(empty), 0); /* nothing was made there */
	h = ash_heap_attach_file(fd, &why);
	CHECK(h != NULL && why == ASH_ATTACHED);
}

/* Of texts that are longer than a heap can have, none is made, and none is the same as another's beginning. */
TEST(layouts_are_not_cut, 10)
{
	char text[80];
	struct ash_heap_options options = {.layout = text};
	int fd = (int)arch_memfd_create("long", 0), full;
	enum ash_attach why;

	memset(text, 'x', sizeof text);
	text[64] = '\0';
	CHECK(ash_heap_create_file(fd, 1 << 20, &options) == NULL);
	CHECK(ash_heap_open_file(fd, 1 << 20, &options, &why) == NULL && why == ASH_ATTACH_LAYOUT);
	CHECK(ash_heap_attach_file(fd, &why) == NULL && why == ASH_ATTACH_NO_HEAP); /* it is empty */
	text[63] = '\0';
	full = file_of(text, 0);
	text[63] = 'x';
	CHECK_EQ(attach_as(full, text, 0), ASH_ATTACH_LAYOUT);
	CHECK(ash_heap_open_file(full, 1 << 20, &options, &why) == NULL && why == ASH_ATTACH_LAYOUT);
	text[62] = text[63] = '\0';
	CHECK_EQ(attach_as(full, text, 0), ASH_ATTACH_LAYOUT);
	text[62] = 'x';
	CHECK_EQ(attach_as(full, text, 0), ASH_ATTACHED);
}
