/* SPDX-License-Identifier: MIT */
/* Huge pages that were set aside (vm.nr_hugepages, hugetlbfs): heaps in such memory of the caller; files are refused. */
/* promises: ash_heap_create_in, ash_heap_create_file */
#include "ashlar_heap.h"
#include "rt.h"
#include "syscall.h"

enum { BYTES = 8 << 20, HELD = 500, SHARED = 0x01, PRIVATE = 0x02, HUGE_ANONYMOUS = 0x40020 };
enum { READ_WRITE_CREATE = 0102 };

static char *reserved(long sharing)
{
	long r = arch_mmap(NULL, BYTES, 3, sharing | HUGE_ANONYMOUS, -1, 0);

	if (r < 0)
		rt_skip("no huge pages are set aside");
	return (char *)r; /* NOLINT: an address */
}

static void work(ash_heap *h)
{
	static unsigned char *p[HELD];
	static size_t size[HELD];
	struct rt_random r;

	rt_seed(&r, rt_test_seed());
	for (unsigned n = 0; n < 20000; n++) {
		unsigned i = (unsigned)rt_below(&r, HELD);

		if (p[i] == NULL) {
			size[i] = 1 + rt_below(&r, 20000);
			p[i] = ash_heap_alloc(h, size[i]);
			if (p[i] != NULL)
				memset(p[i], (int)i, size[i]);
			continue;
		}
		CHECK(p[i][0] == (unsigned char)i && p[i][size[i] - 1] == (unsigned char)i);
		ash_heap_release(h, p[i]);
		p[i] = NULL;
	}
	for (unsigned i = 0; i < HELD; i++) {
		ash_heap_release(h, p[i]);
		p[i] = NULL;
	}
	CHECK_EQ(ash_heap_trim(h, 0), 0);
	CHECK_EQ(ash_heap_check(h), 0);
}

TEST(reserved_pages_hold_a_heap, 30)
{
	char *memory = reserved(PRIVATE);
	ash_heap *h = ash_heap_create_in(memory, BYTES);
	char *p;

	CHECK(h != NULL);
	work(h);
	p = ash_heap_zalloc(h, 1, BYTES / 2);
	CHECK(p != NULL);
	for (size_t i = 0; i < BYTES / 2; i++)
		CHECK_EQ(p[i], 0);
	ash_heap_destroy(h);
	CHECK_EQ(arch_munmap(memory, BYTES), 0);
}

/* Parent and child work in it at once. */
TEST(reserved_pages_are_shared, 30)
{
	char *memory = reserved(SHARED);
	ash_heap *h = ash_heap_create_in(memory, BYTES);
	struct ash_statistics st;
	long pid;

	CHECK(h != NULL);
	pid = rt_fork();
	CHECK(pid >= 0);
	work(h);
	if (pid == 0)
		rt_exit(0);
	CHECK_EQ(rt_wait(pid), 0);
	ash_heap_stats(h, &st);
	CHECK_EQ(st.blocks, 0);
	ash_heap_destroy(h);
}

/* The default heap where a block asks for huge pages and the machine's are set aside. */
TEST(reserved_pages_leave_the_heap_alone, 30)
{
	char *p;

	(void)reserved(PRIVATE);
	p = ash_alloc(64 * MIB);
	CHECK(p != NULL);
	memset(p, 1, 64 * MIB);
	ash_release(p);
	CHECK_EQ(ash_check(), 0);
}

TEST(reserved_file_is_refused, 10)
{
	const struct ash_heap_options allocated = {.allocate = true};
	enum ash_attach why;
	long fd;

	(void)reserved(PRIVATE);
	fd = arch_open("/huge/heap", READ_WRITE_CREATE, 0600);
	if (fd < 0)
		rt_skip("hugetlbfs is not mounted");
	CHECK(ash_heap_create_file((int)fd, 16 * MIB, NULL) == NULL);
	CHECK(ash_heap_create_file((int)fd, 16 * MIB, &allocated) == NULL);
	CHECK(ash_heap_attach_file((int)fd, &why) == NULL && why != ASH_ATTACHED);
	(void)arch_close(fd);
	CHECK_EQ(ash_check(), 0);
}
