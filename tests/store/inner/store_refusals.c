/* SPDX-License-Identifier: MIT */
/* Heaps in files: what is refused, and what a refusal leaves as it was. */
#include "ashlar_heap.h"
#include "rt.h"

#include "backend/map.h"
#include "heaps/instance.h"
#include "store/file/store.h"
#include "syscall.h"

enum { SEEK_SET = 0, SEEK_CUR = 1, SEEK_END = 2, CAPACITY = 8 << 20 };

static int memfd(void)
{
	int fd = (int)arch_memfd_create("store", 0);

	CHECK(fd >= 0);
	return fd;
}

static long length(int fd)
{
	return arch_lseek(fd, 0, SEEK_END);
}

/* S8: what a failed open() gives is no file, and no heap. */
TEST(store_wants_a_file, 10)
{
	enum ash_attach why = ASH_ATTACHED;
	int pipe[2];

	CHECK(ash_heap_create_file(-1, CAPACITY, NULL) == NULL);
	CHECK(ash_heap_create_file(-2, CAPACITY, NULL) == NULL);
	CHECK(ash_heap_create_file(12345, CAPACITY, NULL) == NULL);
	CHECK(ash_heap_open_file(-1, CAPACITY, NULL, &why) == NULL);
	CHECK_EQ(why, ASH_ATTACH_NO_HEAP);
	CHECK(ash_heap_open_file(-1, CAPACITY, NULL, NULL) == NULL);
	CHECK(ash_heap_attach_file(-1, NULL) == NULL);
	CHECK_EQ(arch_pipe2(pipe, 0), 0);
	CHECK(ash_heap_create_file(pipe[1], CAPACITY, NULL) == NULL);
	CHECK(ash_heap_create_file((int)arch_open("/dev/zero", 2, 0), CAPACITY, NULL) == NULL);
}

/* S7: a creation that cannot be leaves the file as it was. */
TEST(store_failure_leaves_the_file, 10)
{
	struct ash_heap_options options = {0};
	char path[64];
	int fd = memfd(), read_only, write_only;
	ash_heap *h;

	rt_format(path, sizeof path, "/proc/self/fd/%d", fd);
	read_only = (int)arch_open(path, 0, 0);
	write_only = (int)arch_open(path, 1, 0);
	CHECK(read_only >= 0 && write_only >= 0);
	options.address = (uintptr_t)path & ~(CHUNK_SIZE - 1); /* taken */
	CHECK(ash_heap_create_file(fd, CAPACITY, &options) == NULL);
	CHECK_EQ(length(fd), 0);
	options.address = ((size_t)1 << 45) + 4096;
	CHECK(ash_heap_create_file(fd, CAPACITY, &options) == NULL);
	CHECK_EQ(length(fd), 0);
	options.address = (size_t)1 << 50;
	CHECK(ash_heap_create_file(fd, CAPACITY, &options) == NULL);
	CHECK_EQ(length(fd), 0);
	CHECK(ash_heap_create_file(fd, 0, NULL) == NULL);
	CHECK(ash_heap_create_file(fd, SIZE_MAX, NULL) == NULL);
	CHECK(ash_heap_create_file(fd, (size_t)1 << 47, NULL) == NULL);
	CHECK_EQ(length(fd), 0);
	CHECK(ash_heap_create_file(read_only, CAPACITY, NULL) == NULL);
	CHECK(ash_heap_create_file(write_only, CAPACITY, NULL) == NULL);
	CHECK_EQ(length(fd), 0);
	/* And then it can be used. */
	h = ash_heap_create_file(fd, CAPACITY, NULL);
	CHECK(h != NULL && ash_heap_alloc(h, 100) != NULL);
	ash_heap_destroy(h);
}

/* A file of others' is theirs. */
TEST(store_leaves_others_alone, 10)
{
	static const long lengths[] = {1, 100, PAGE_MOST, PAGE_MOST + 1, 3 << 20};
	enum ash_attach why;
	unsigned i, zero;
	char byte;

	for (i = 0; i < 2 * sizeof lengths / sizeof lengths[0]; i++) {
		int fd = memfd();
		long n = lengths[i / 2];

		zero = i % 2;
		if (zero != 0 && n <= (long)PAGE_MOST)
			continue; /* a page of zeros is empty, see open.h */
		CHECK_EQ(arch_ftruncate(fd, n), 0);
		if (zero == 0)
			CHECK_EQ(arch_pwrite64(fd, "x", 1, n - 1), 1);
		CHECK(ash_heap_create_file(fd, CAPACITY, NULL) == NULL);
		CHECK(ash_heap_open_file(fd, CAPACITY, NULL, &why) == NULL);
		CHECK_EQ(why, ASH_ATTACH_NO_HEAP);
		CHECK_EQ(length(fd), n);
		CHECK_EQ(arch_pread64(fd, &byte, 1, n - 1), 1);
		CHECK_EQ(byte, zero ? 0 : 'x');
		arch_close(fd);
	}
}

/* S9: what another layout wrote is not attached to; tests/check/version.sh: each layout has its word. */
TEST(store_of_another_version, 10)
{
	enum ash_attach why = ASH_ATTACHED;
	uint64_t word;
	int fd = memfd();
	ash_heap *h = NOT_NULL(ash_heap_create_file(fd, CAPACITY, NULL));

	CHECK_EQ(store_of(heap_of(h))->format, STORE_FORMAT);
	ash_heap_destroy(h);
	word = STORE_FORMAT + 1;
	CHECK_EQ(arch_pwrite64(fd, &word, 8, offsetof(struct store, format)), 8);
	CHECK(ash_heap_attach_file(fd, &why) == NULL);
	CHECK_EQ(why, ASH_ATTACH_NO_HEAP);
	word = STORE_FORMAT;
	CHECK_EQ(arch_pwrite64(fd, &word, 8, offsetof(struct store, format)), 8);
	CHECK(ash_heap_attach_file(fd, &why) != NULL);
}

static bool is_apart(uintptr_t at)
{
	if (at >= CPU_NARROW_FROM && at < CPU_NARROW_TO)
		return true;
	return at >= CPU_APART_FROM && at < CPU_APART_TO;
}

/* S13: the address is far from where mappings come by themselves. */
TEST(store_stands_apart, 10)
{
	uintptr_t at[4];
	unsigned i, k, same = 0;

	for (i = 0; i < 4; i++) {
		int fd = memfd();
		/* QEMU has a word for each page that is reserved. */
		ash_heap *h = ash_heap_create_file(fd, (size_t)CAPACITY << (i * (rt_under_qemu() ? 2 : 4)), NULL);

		CHECK(h != NULL);
		at[i] = (uintptr_t)store_of(heap_of(h));
		CHECK(is_apart(at[i]));
		ash_heap_destroy(h);
		for (k = 0; k < i; k++)
			same += at[k] == at[i];
	}
	/* By chance two are the same: 1 run in 11 000, or in 250 where addresses have 39 bits. */
	CHECK(same < 2);
}

/* After a heap's end its addresses are free, in the map too. */
TEST(store_that_left_is_in_no_map, 10)
{
	ash_heap *heaps[2] = {ash_heap_create_file(memfd(), CAPACITY, NULL),
			      ash_heap_create_shared(CAPACITY, NULL)};

	for (size_t i = 0; i < 2; i++) {
		char *p = ash_heap_alloc(heaps[i], 3 << 20);

		CHECK(p != NULL && map_find(p) != NULL);
		ash_heap_destroy(heaps[i]);
		CHECK(map_guess(p) == NULL && map_guess(p + CHUNK_SIZE) == NULL);
	}
}
