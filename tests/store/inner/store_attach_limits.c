/* SPDX-License-Identifier: MIT */
/* Which words of a file attaching and vouching take for a heap's, and what of it is read: the limits of each. */
#include "store/file/open.h"
#include "backend/region.h"
#include "heaps/instance.h"
#include "pages.h"
#include "rt.h"
#include "store/file/image.h"
#include "store/recover/builders.h"
#include "syscall.h"
#include "store/process/world.h"

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

/* ---- what is read of an image (store/file/image.h) lies in it, and its number of chunks is one that it can have ---- */

TEST(inner_image_reads_nothing_behind_its_end, 10)
{
	static const char bytes[100] = {1, 2, 3};
	struct image m = {.fd = (int)arch_memfd_create("image", 0)};
	char out[8];

	CHECK_EQ(arch_pwrite64(m.fd, bytes, sizeof bytes, 0), sizeof bytes);
	m.head.base = (void *)((uintptr_t)1 << 40); /* NOLINT: where it would be mapped */
	CHECK(image_get(&m, (char *)m.head.base, out, 3) && out[0] == 1 && out[2] == 3);
	CHECK(image_get(&m, (char *)m.head.base + 92, out, 8) && image_get(&m, (char *)m.head.base + 100, out, 0));
	CHECK(!image_get(&m, (char *)m.head.base + 93, out, 8) && !image_get(&m, (char *)m.head.base + 101, out, 1));
	CHECK(!image_get(&m, (char *)m.head.base - 1, out, 1) && !image_get(&m, NULL, out, 1));
}

TEST(inner_image_of_so_many_chunks, 10)
{
	ash_heap *heap;
	struct store *s;
	struct region *r;
	static struct image m;
	size_t n;

	fd = (int)arch_memfd_create("image", 0);
	heap = NOT_NULL(ash_heap_create_file(fd, 8 * MIB, NULL));
	s = store_of(heap_of(heap));
	r = region_first(&s->heap);
	n = r->chunks;
	m.fd = fd;
	m.head.base = s;
	m.region.capacity = r->capacity;
	CHECK(image_read_chunks(&m) && m.region.chunks == n && !image_has_grown(&m));
	m.region.chunks = n - 1;
	CHECK(image_has_grown(&m) && m.region.chunks == n);
	r->chunks = 0;
	CHECK(!image_read_chunks(&m) && !image_has_grown(&m));
	r->chunks = r->capacity + 1;
	CHECK(!image_read_chunks(&m) && !image_has_grown(&m) && m.region.chunks == n);
	r->chunks = r->capacity;
	CHECK(image_read_chunks(&m) && m.region.chunks == r->capacity);
	r->chunks = n;
	CHECK_EQ(ash_heap_check(heap), 0);
}

/* ---- the claim of a maker (store/file/open.h), and what it leaves when it is given up ---- */

/* Given up, however far it came: the file's first page is as blank as it was. */
TEST(inner_claim_given_up_is_blank, 10)
{
	int file = (int)arch_memfd_create("claim", 0);
	uint64_t *word, mine;
	struct store *s;
	bool half;
	size_t i;

	CHECK(file >= 0);
	CHECK_EQ(arch_ftruncate(file, (long)PAGE_MOST), 0);
	s = (void *)arch_mmap(NULL, PAGE_MOST, 3, 1 /* shared */, file, 0); /* NOLINT: an address */
	word = (void *)s;
	CHECK_EQ(claim_take(s), CLAIM_FREE);
	mine = s->claim;
	CHECK(mine != 0 && s->world == world_now() && claim_look(file, &half) == CLAIM_BUSY && half);
	for (i = 0; i < PAGE_MOST / sizeof *word; i++)
		if (word + i != &s->magic && word + i != &s->claim && word + i != &s->world)
			word[i] = i + 1;
	claim_clear(s);
	CHECK(s->magic == CLAIM_MAKING && s->claim == mine && s->world == world_now());
	s->format = STORE_FORMAT;
	claim_give(s);
	for (i = 0; i < PAGE_MOST / sizeof *word; i++)
		CHECK_EQ(word[i], 0);
	CHECK(claim_look(file, &half) == CLAIM_FREE && !half);
	/* Blank is one page at most, and each word of it. */
	for (i = 4; i < PAGE_MOST / sizeof *word; i += 4096 / sizeof *word - 1) {
		word[i] = 1;
		CHECK_EQ(claim_look(file, &half), CLAIM_FOREIGN);
		word[i] = 0;
	}
	CHECK_EQ(arch_ftruncate(file, (long)PAGE_MOST + 1), 0);
	CHECK_EQ(claim_look(file, &half), CLAIM_FOREIGN);
}
