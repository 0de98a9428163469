/* SPDX-License-Identifier: MIT */
/*
 * tests/golden/format-1.words is a heap's file of format 1: of each run of equal words that are not 0 a line with
 * offset, length and word.  Each build on each CPU looks at it, and where the heap's addresses can be had, attaches
 * and works in it.  It stays as it is for good.  It was made on x86_64 by
 *
 *	FORMAT_FILE=tests/golden/format-1.words build/tests/all format_1_made
 */
#include "heaps/instance.h"
#include "store/inner/caches.h"
#include "store/inner/format_1.h"
#include "store/recover/builders.h"
#include "store/recover/census.h"

enum { BLOCKS = 12, SPAN = 11, GONE = 3, TAGGED = 4, NAMED = 5, ROOT = 6 };

static const size_t size[BLOCKS] = {8, 24, 24, 100, 128, 1000, 1000, 1000, 5000, 40000, 1, 3300000};
static unsigned seen[BLOCKS];

static uint64_t word_of(unsigned i)
{
	return UINT64_C(0x0101010101010101) * (i + 1);
}

/* A process makes it and dies, with a draft, and with a block that it was just taking. */
static void recipe(int fd)
{
	const struct ash_heap_options options = {.address = (uintptr_t)1 << 45, .layout = "golden", .layout_version = 7};
	ash_heap *heap = NOT_NULL(ash_heap_create_file(fd, CAPACITY, &options));
	uint64_t *p[BLOCKS], word;
	unsigned i;

	for (i = 0; i < BLOCKS; i++) {
		p[i] = i == TAGGED ? ash_heap_alloc_tagged(heap, size[i], 33) : ash_heap_alloc(heap, size[i]);
		word = word_of(i);
		memcpy(NOT_NULL(p[i]), &word, size[i] < 8 ? size[i] : 8);
	}
	ash_heap_release(heap, p[GONE]);
	CHECK_EQ(ash_heap_bind(heap, "name", p[NAMED]), ASH_SLOT_DONE);
	ash_heap_set_root(heap, p[ROOT]);
	memset(NOT_NULL(ash_heap_draft(heap, 200)), 0, 200);
	p[0] = ash_heap_alloc(heap, 300);
	memset(NOT_NULL(p[0]), 0, 300);
	truth_of(heap_of(heap)->owners)->flight = (uint64_t)(uintptr_t)p[0];
}

/* The words that are of one system and one moment become those of a file that another system has sealed. */
static void make_timeless(int fd, size_t bytes)
{
	struct store *s;

	caches_overwrite(fd, bytes, NULL, 1);
	s = NOT_NULL(share_map_anywhere(fd, bytes, true));
	s->claim = s->renewer = s->unlisted = 0;
	s->world = s->file = 1;
	s->seal = seal_with((uint64_t)1 << SEAL_NUMBER, SEAL_WHOLE);
	*(uint64_t *)(void *)((char *)s + CENSUS_AT) = CENSUS_OVER | 77;
	CHECK_EQ(arch_munmap(s, bytes), 0);
}

/* ---- the text ---- */

static void write_text(int fd, const char *path)
{
	int out = (int)arch_open(path, 0101 | 01000, 0644); /* O_WRONLY | O_CREAT | O_TRUNC */
	uint64_t word[512], run = 0, length = 0;
	size_t at, i, n = 0;

	CHECK(out >= 0);
	for (at = 0; arch_pread64(fd, word, sizeof word, (long)at) == sizeof word; at += sizeof word)
		for (i = 0; i < 512; i++) {
			if (length > 0 && word[i] == run) {
				length++;
				continue;
			}
			if (run != 0)
				n += (size_t)rt_format(text + n, TEXT - n, "%lx %lx %lx\n", at + (i - length) * 8, length, run);
			run = word[i];
			length = 1;
		}
	CHECK_EQ(arch_write(out, text, n), (long)n);
}

/* ---- what is in it ---- */

static unsigned unknown;

static int meet(UNUSED void *context, const void *block, size_t bytes, const struct ash_heap_owner *owner)
{
	uint64_t word, mask;
	unsigned i;

	memcpy(&word, block, 8);
	for (i = 0; i < BLOCKS; i++) {
		mask = size[i] < 8 ? ((uint64_t)1 << size[i] * 8) - 1 : ~(uint64_t)0;
		if (i != GONE && word == (word_of(i) & mask))
			break;
	}
	if (i == BLOCKS) {
		unknown++;
		return 0;
	}
	CHECK(bytes >= size[i] && bytes < size[i] * 9 / 8 + 16 + (i == SPAN ? 4096 : 0));
	CHECK(owner->id == 1 && !owner->live && owner->tag == (i == TAGGED ? 33 : 0));
	seen[i]++;
	return 0;
}

static int meet_block(void *context, void *block, size_t bytes, const struct ash_heap_owner *owner)
{
	return meet(context, block, bytes, owner);
}

static void all_were_met(unsigned others)
{
	unsigned i;

	for (i = 0; i < BLOCKS; i++) {
		CHECK_EQ(seen[i], i != GONE);
		seen[i] = 0;
	}
	CHECK_EQ(unknown, others);
	unknown = 0;
}

static void is_viewed(int fd, unsigned others)
{
	enum ash_attach why;
	ash_heap_view *v = NOT_NULL(ash_heap_view_file(fd, &why));
	struct ash_block b;

	CHECK_EQ(why, ASH_ATTACHED);
	CHECK(ash_heap_view_check(v));
	CHECK_EQ(ash_heap_view_walk(v, meet, NULL), 0);
	all_were_met(others);
	CHECK_EQ(*(const uint64_t *)NOT_NULL(ash_heap_view_root(v)), word_of(ROOT));
	CHECK_EQ(*(const uint64_t *)NOT_NULL(ash_heap_view_bound(v, "name")), word_of(NAMED));
	CHECK_EQ(ash_heap_view_find(v, ash_heap_view_root(v), &b), ASH_TAKEN);
	ash_heap_view_close(v);
}

static void is_used(int fd)
{
	const struct ash_heap_options options = {.layout = "golden", .layout_version = 7};
	enum ash_attach why;
	ash_heap *heap;
	void *p[3000];
	unsigned i;

	CHECK(ash_heap_adopt_file(fd));
	heap = ash_heap_open_file(fd, 0, &options, &why);
	CHECK_EQ(why, ASH_ATTACHED);
	CHECK_EQ(ash_heap_check(heap), 0);
	CHECK_EQ(ash_heap_walk(heap, meet_block, NULL), 0);
	all_were_met(0); /* the draft, and what was just taken, went back */
	CHECK_EQ(*(uint64_t *)NOT_NULL(ash_heap_find(heap, "name")), word_of(NAMED));
	for (i = 0; i < 3000; i++)
		p[i] = NOT_NULL(ash_heap_alloc(heap, 1 + i % 600));
	for (i = 0; i < 3000; i++)
		ash_heap_release(heap, p[i]);
	ash_heap_release(heap, ash_heap_root(heap));
	ash_heap_set_root(heap, p[0] = NOT_NULL(ash_heap_alloc(heap, size[ROOT])));
	*(uint64_t *)p[0] = word_of(ROOT);
	CHECK_EQ(ash_heap_check(heap), 0);
	ash_heap_destroy(heap);
}

TEST(format_1_golden, 10)
{
	int fd = golden();

	is_viewed(fd, 2);
	if (life_of_process() == 0)
		rt_skip("no /proc: only viewed");
	IN_CHILD
		is_used(fd);
	/* Now it has other owners, too. */
	CHECK_EQ(((const struct store *)(const void *)NOT_NULL(share_map_anywhere(fd, 4096, true)))->caches, store_caches());
}

/* Today's build still makes such files; with FORMAT_FILE it writes one. */
TEST(format_1_made, 10)
{
	int fd = (int)arch_memfd_create("made", 0);
	const char *path = rt_getenv("FORMAT_FILE");
	size_t bytes = store_bytes(CAPACITY >> CHUNK_SHIFT);

	IN_CHILD {
		recipe(fd);
		rt_exit(0);
	}
	make_timeless(fd, bytes);
	if (path != NULL)
		write_text(fd, path);
	is_viewed(fd, 2);
	if (life_of_process() != 0)
		IN_CHILD
			is_used(fd);
}

/* The sizes and units of the classes are part of the format; the file has some of them only. */
TEST(format_1_classes, 10)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < CLASSES; i++)
		sum = (((sum * 31) + class_size(i)) * 31 + class_units(i, true)) * 31 + class_units(i, false);
	CHECK_EQ(sum, UINT64_C(0x7cc5a1bf4b2ba56c));
}
