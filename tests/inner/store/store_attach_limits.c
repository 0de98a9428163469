/* SPDX-License-Identifier: MIT */
/* Which words of a file attaching and vouching take for a heap's (store/file/open.h): the limits of each. */
#include "store/file/open.h"

#include "ashlar_heap.h"
#include "heaps/instance.h"
#include "pages.h"
#include "rt.h"
#include "store/file/image.h"
#include "store/recover/building.h"
#include "syscall.h"

enum { CHUNKS = 4 };

static int fd;

static void write_word(size_t at, uint64_t word)
{
	CHECK_EQ(arch_pwrite64(fd, &word, sizeof word, (long)at), sizeof word);
}

static uint64_t read_word(size_t at)
{
	uint64_t word = 0;

	CHECK_EQ(arch_pread64(fd, &word, sizeof word, (long)at), sizeof word);
	return word;
}

/* What is found with this word there; afterwards it is as before. */
static bool looks_right_with(size_t at, uint64_t word)
{
	uint64_t before = read_word(at);
	enum ash_attach why;
	struct store head;
	bool right;

	write_word(at, word);
	right = store_look(fd, &head, &why);
	write_word(at, before);
	return right;
}

static void make_file(void)
{
	ash_heap *heap;

	fd = (int)arch_memfd_create("look", 0);
	heap = NOT_NULL(ash_heap_create_file(fd, CHUNKS * CHUNK_SIZE, NULL));
	ash_heap_destroy(heap);
}

/* Where the kernel would put the next mapping: the same again if none was left.  QEMU chooses another place each time. */
static uintptr_t next_mapping(void)
{
	long at = arch_mmap(NULL, PAGE_MOST, 3, 0x22, -1, 0);

	CHECK(at > 0);
	CHECK_EQ(arch_munmap((void *)at, PAGE_MOST), 0); /* NOLINT: an address */
	return (uintptr_t)at;
}

TEST(store_look_at_limits, 10)
{
	size_t records = offsetof(struct store, records_used), chunks = REGION_AT + offsetof(struct region, chunks);
	size_t part = REGION_AT + offsetof(struct region, part), id = offsetof(struct store, heap.id);

	unsigned at;

	make_file();
	CHECK(looks_right_with(records, STORE_RECORDS) && !looks_right_with(records, STORE_RECORDS + 1));
	CHECK(looks_right_with(chunks, 1) && looks_right_with(chunks, CHUNKS));
	CHECK(!looks_right_with(chunks, 0) && !looks_right_with(chunks, CHUNKS + 1));
	CHECK(looks_right_with(part, CHUNK_UNITS * ROOM_EACH));
	for (at = 0; at < 64; at += 8) {
		CHECK(!looks_right_with(part, (uint64_t)(CHUNK_UNITS + 1) << at));
		CHECK(!looks_right_with(part, (uint64_t)0xff << at));
	}
	CHECK(looks_right_with(id, 7) && !looks_right_with(id, 6) && !looks_right_with(id, ~(uint64_t)0));
}

/* The check of an image leaves no mapping of its own. */
TEST(store_look_leaves_nothing, 10)
{
	enum ash_attach why;
	struct store head;
	uintptr_t next;

	make_file();
	CHECK(store_look(fd, &head, &why));
	next = next_mapping();
	CHECK(image_check(fd, &head, &why));
	CHECK(rt_under_qemu() || next_mapping() == next);
	head.records_used = STORE_RECORDS + 1;
	(void)image_check(fd, &head, &why);
	CHECK(rt_under_qemu() || next_mapping() == next);
}

TEST(store_vouch_at_limits, 10)
{
	size_t seal = offsetof(struct store, seal), version = offsetof(struct store, format);
	uint64_t torn;
	uintptr_t next;

	make_file();
	torn = seal_with(read_word(seal) ^ (uint64_t)1 << SEAL_BOOT, SEAL_OPEN);
	write_word(seal, torn);
	if (!seal_is_torn(torn))
		rt_skip("the start of the system is not known here");
	/* Not this version's. */
	write_word(version, STORE_FORMAT + 1);
	CHECK(!store_vouch(fd));
	CHECK_EQ(read_word(seal), torn);
	write_word(version, STORE_FORMAT);
	/* Too short to be one, so that it is not vouched for. */
	CHECK_EQ(arch_ftruncate(fd, PAGE_MOST - 1), 0);
	CHECK(!store_vouch(fd));
	CHECK_EQ(read_word(seal), torn);
	CHECK_EQ(arch_ftruncate(fd, PAGE_MOST), 0);
	next = next_mapping();
	CHECK(store_vouch(fd));
	CHECK(!seal_is_torn(read_word(seal)));
	CHECK(rt_under_qemu() || next_mapping() == next);
}
