/* SPDX-License-Identifier: MIT */
/* The heap is three times as large as the memory: most of it is on a disk (boots/swap). */
/* promises: ash_alloc, ash_release, ash_trim, ash_check */
#include "ashlar.h"
#include "kernel.h"
#include "rt.h"
#include "syscall.h"

enum { O_READ_WRITE = 2, HEADER = 1024 };

struct block {
	struct block *next;
	size_t words;
	uint64_t word[];
};

/* The bytes in a line of /proc/meminfo. */
static size_t memory(const char *line)
{
	size_t kib = rt_number_of("/proc/meminfo", line);

	CHECK(kib != SIZE_MAX);
	return kib * KIB;
}

static size_t swapped(void)
{
	return memory("SwapTotal:") - memory("SwapFree:");
}

/* As mkswap. */
static void swap_on(const char *path)
{
	const size_t page = rt_auxv(AT_PAGESZ);
	const long disk = arch_open(path, O_READ_WRITE, 0);
	uint32_t *header;
	char *first;
	long size;

	if (disk < 0)
		rt_skip("no disk to swap to");
	size = arch_lseek(disk, 0, SEEK_END);
	first = NOT_NULL(rt_map(page));
	header = (void *)(first + HEADER);
	header[0] = 1;
	header[1] = (uint32_t)((size_t)size / page - 1);
	memcpy(first + page - 10, "SWAPSPACE2", 10);
	CHECK_EQ(arch_pwrite64(disk, first, page, 0), page);
	CHECK_EQ(arch_fsync(disk), 0);
	(void)arch_close(disk);
	CHECK_EQ(arch_swapon(path, 0), 0);
}

static void fill(struct block *b)
{
	for (size_t i = 0; i < b->words; i++)
		b->word[i] = ((uintptr_t)b ^ i) * 0x9e3779b97f4a7c15u;
}

static void check(const struct block *b)
{
	for (size_t i = 0; i < b->words; i++)
		CHECK_EQ(b->word[i], ((uintptr_t)b ^ i) * 0x9e3779b97f4a7c15u);
}

static struct block *all;
static struct rt_random dice;

/* Takes blocks of 16 bytes to 64 KiB, now and then of 2 MiB. */
static void take(size_t bytes)
{
	while (bytes > 0) {
		size_t size = rt_below(&dice, 500) == 0 ? 2 * MIB : (size_t)16 << rt_below(&dice, 13);
		struct block *b;

		size += rt_below(&dice, size) / 8 * 8;
		b = NOT_NULL(ash_alloc(size));
		b->next = all;
		b->words = (size - sizeof(*b)) / 8;
		fill(b);
		all = b;
		bytes -= size < bytes ? size : bytes;
	}
}

/* Checks all blocks, and releases one in `part`; returns the bytes of these. */
static size_t release_part(unsigned part)
{
	struct block **at = &all, *b;
	size_t bytes = 0;

	while ((b = *at) != NULL) {
		check(b);
		if (rt_below(&dice, part) != 0) {
			at = &b->next;
			continue;
		}
		*at = b->next;
		bytes += b->words * 8 + sizeof(*b);
		ash_release(b);
	}
	return bytes;
}

TEST(swapped_heap, 1500)
{
	size_t ram = memory("MemTotal:"), most, end;
	struct ash_statistics st;

	swap_on("/dev/vda");
	CHECK(memory("SwapTotal:") > 3 * ram);
	rt_seed(&dice, rt_test_seed());
	take(3 * ram);
	most = swapped();
	CHECK_EQ(ash_check(), 0);
	take(release_part(2)); /* as much again in the holes of those */
	CHECK_EQ(ash_check(), 0);
	(void)release_part(1);
	CHECK(all == NULL);
	(void)ash_trim(0);
	end = swapped();
	ash_stats(&st);
	rt_print("     %zu MiB of memory; swapped: %zu MiB of 3 x as much, %zu MiB when all was released\n", ram / MIB,
		 most / MIB, end / MIB);
	CHECK_EQ(st.blocks, 0);
	CHECK_EQ(ash_check(), 0);
	CHECK(most > ram + ram / 2);
	/* What is given back leaves the disk, too. */
	CHECK(end < ram / 4);
}
