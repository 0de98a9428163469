/* SPDX-License-Identifier: MIT */
/* Words of format 1 that are of one system and one moment: each is computed here as FORMAT.md says, and compared. */
#include "ashlar_heap.h"
#include "kernel.h"
#include "rt.h"
#include "syscall.h"

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);

	return x ^ x >> 32;
}

static uint64_t some(uint64_t n)
{
	return n == 0 ? 1 : n;
}

static uint64_t start_of_system(void)
{
	char text[64];
	long n = rt_read_file("/proc/sys/kernel/random/boot_id", text, sizeof text), i;
	uint64_t h = 0;

	if (n < 36)
		rt_skip("no /proc");
	for (i = 0; i < 36; i++)
		h = mix(h, (unsigned char)text[i]);
	return some(h);
}

/* The n-th field of the process, counted from 1. */
static uint64_t field(unsigned n)
{
	static char text[2048];
	long length = rt_read_file("/proc/self/stat", text, sizeof text - 1), at;
	uint64_t value = 0;

	CHECK(length > 0);
	for (at = length; text[at] != ')'; at--)
		;
	for (at += 2, n -= 3; n > 0; at++)
		n -= text[at] == ' ';
	for (; text[at] >= '0' && text[at] <= '9'; at++)
		value = value * 10 + (uint64_t)(text[at] - '0');
	return value;
}

static uint64_t number_in(const char *path)
{
	char text[64];
	long n = arch_readlink(path, text, sizeof text), i;
	uint64_t number = 0;

	for (i = 0; i < n; i++)
		if (text[i] >= '0' && text[i] <= '9')
			number = number * 10 + (uint64_t)(text[i] - '0');
	return number;
}

static uint64_t life(void)
{
	uint64_t code = field(26), stack = field(28);
	uint64_t image = code <= 1 || stack <= 1 ? 0 : some(mix(mix(0, code), stack) & 0xfff);

	return (uint64_t)arch_getpid() | (field(22) & 0x1fffff) << 22 | some(start_of_system() & 0x3f) << 43 | image << 49 |
	       (field(9) >> 6 & 1) << 61;
}

static uint64_t get(int fd, long at)
{
	uint64_t word;

	CHECK_EQ(arch_pread64(fd, &word, 8, at), 8);
	return word;
}

TEST(format_1_words_of_the_system, 10)
{
	const struct ash_heap_options options = {.allocate = true, .huge = ASH_HUGE_POPULATE, .sparse = true, .retain = 4096};
	uint64_t start = some(start_of_system() >> 32) << 32;
	int fd = (int)arch_memfd_create("made", 0);
	struct arch_stat st;
	ash_heap *heap;

	if (rt_under_qemu())
		rt_skip("QEMU makes up what /proc says of a process");
	heap = NOT_NULL(ash_heap_create_file(fd, 2 << 20, &options));
	CHECK_EQ(arch_fstat(fd, &st), 0);
	CHECK_EQ(get(fd, 0), 0x3230726c68736100);
	CHECK_EQ(get(fd, 8), 1);
	CHECK_EQ(get(fd, 16), life()); /* of this thread, which is the process's first */
	CHECK_EQ(get(fd, 24), number_in("/proc/self/ns/pid") << 32 | number_in("/proc/self/ns/time"));
	CHECK_EQ(get(fd, 88), start | 1 << 2);
	CHECK_EQ(get(fd, 96), (st.device * UINT64_C(0xd1342543de82ef95) ^ st.inode) * UINT64_C(0x9e3779b97f4a7c15));
	CHECK_EQ(get(fd, 392), 2);
	CHECK_EQ(get(fd, 416), 4096);
	CHECK_EQ(get(fd, 424), (uint64_t)1 << 32 | 3);
	CHECK_EQ(get(fd, 0x10000), life());
	ash_heap_release(heap, ash_heap_alloc(heap, 100));
	ash_heap_destroy(heap);
	NOT_NULL(heap = ash_heap_attach_file(fd, NULL));
	CHECK_EQ(get(fd, 392), 3);
	CHECK_EQ(ash_heap_sync(heap), ASH_SYNC_SEALED);
	CHECK_EQ(get(fd, 88), start | 1 << 2 | 3);
	CHECK(ash_heap_break_seal(heap));
	CHECK_EQ(get(fd, 88), start | 2 << 2);
}

/* While it is being made, a file says so by its first word. */
TEST(format_1_half_made, 10)
{
	int fd = (int)arch_memfd_create("half", 0);
	const uint64_t making = 0x65646e616d736100;
	enum ash_attach why;

	CHECK_EQ(arch_ftruncate(fd, 65536), 0);
	CHECK_EQ(arch_pwrite64(fd, &making, 8, 0), 8);
	CHECK(ash_heap_attach_file(fd, &why) == NULL);
	CHECK_EQ(why, ASH_ATTACH_UNFINISHED);
	CHECK(ash_heap_create_file(fd, 2 << 20, NULL) != NULL);
}
