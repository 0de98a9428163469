/* SPDX-License-Identifier: MIT */
/*
 * Heaps in files on a disk that is full: creating and attaching give NULL, never
 * a signal; and what was allocated at once is there.  Also where the file system has no fallocate.
 */
/* promises: ash_heap_create_file, ash_heap_attach_file */
#include "ashlar_heap.h"
#include "rt.h"

#include "heaps/instance.h"
#include "store/file/store.h"
#include "support/wrap.h"
#include "syscall.h"

enum { NEW_MOUNTS = 0x20000, PRIVATE_MOUNTS = 0x44000, RDWR_CREATE = 0102, SEEK_END = 2 };
enum { CAPACITY = 16 << 20, SIGKILL = 9 };

enum { EOPNOTSUPP = 95 };

static const char *const place = "/tmp";
static int ballast;
static bool no_fallocate;

WRAP(long, arch_fallocate, (long fd, long mode, long at, long bytes))
{
	return no_fallocate && fd != ballast ? -EOPNOTSUPP : __real_arch_fallocate(fd, mode, at, bytes);
}

/* A tmpfs of our own, which goes with this process. */
static void disk(const char *size)
{
	if (arch_unshare(NEW_MOUNTS) != 0 ||
	    arch_mount("none", "/", NULL, PRIVATE_MOUNTS, NULL) != 0 ||
	    arch_mount("none", place, "tmpfs", 0, size) != 0)
		rt_skip("no right to mount a tmpfs");
	ballast = (int)arch_open("/tmp/ballast", RDWR_CREATE, 0600);
	CHECK(ballast >= 0);
}

static int file(void)
{
	int fd = (int)arch_open("/tmp/heap", RDWR_CREATE, 0600);

	CHECK(fd >= 0);
	return fd;
}

/* So many pages are left. */
static void leave(long pages)
{
	long at;

	CHECK_EQ(arch_ftruncate(ballast, 0), 0);
	for (at = 0; arch_fallocate(ballast, 0, at, 1 << 20) == 0; at += 1 << 20)
		;
	for (; arch_fallocate(ballast, 0, at, 4096) == 0; at += 4096)
		;
	CHECK(at >= pages * 4096);
	CHECK_EQ(arch_ftruncate(ballast, at - pages * 4096), 0);
}

/* What a child comes to; it has no signal. */
static int in_child(int (*body)(int), int fd)
{
	int status = rt_wait(CHILD(rt_exit(body(fd))));

	if (status >= 1000)
		rt_print("     signal %d\n", status - 1000);
	CHECK(status < 90);
	return status;
}

static int create(int fd)
{
	return ash_heap_create_file(fd, CAPACITY, NULL) != NULL;
}

static int attach(int fd)
{
	enum ash_attach why;
	ash_heap *h = ash_heap_attach_file(fd, &why);

	CHECK(h != NULL || why == ASH_ATTACH_NO_MEMORY);
	return h != NULL;
}

static int attach_and_work(int fd)
{
	ash_heap *h = ash_heap_attach_file(fd, NULL);
	size_t i;

	CHECK(h != NULL);
	for (i = 0; i < 3000; i++)
		ash_heap_release(h, ash_heap_alloc(h, 8 + i * 7 % 5000));
	CHECK(ash_heap_alloc(h, 1000) != NULL && ash_heap_alloc(h, 70000) != NULL);
	return 0;
}

/* With each number of pages that are left, until there is enough. */
static void create_full(void)
{
	long pages;
	bool made = false;

	disk("size=4m");
	for (pages = 0; !made; pages++) {
		int fd;

		CHECK(pages < 200);
		arch_unlink("/tmp/heap");
		fd = file();
		leave(pages);
		made = in_child(create, fd);
		if (!made) {
			CHECK(arch_lseek(fd, 0, SEEK_END) <= (long)PAGE_MOST);
			leave(200);
			CHECK(in_child(create, fd)); /* the same file, and now there is room */
		}
		arch_close(fd);
	}
	rt_print("     created with %ld pages\n", pages - 1);
}

TEST_CALL(full_create, 60, create_full());

TEST(full_create_without_fallocate, 60)
{
	/* The first page has the claim, so it is not filled by zeros. */
	if (rt_under_qemu() && PAGE_MOST > PAGE_LEAST)
		rt_skip("QEMU passes on no advice that makes the first 64 KiB present (MADV_POPULATE_WRITE)");
	no_fallocate = true;
	create_full();
}

/* Holds a record, and lives on. */
static long stay(int fd)
{
	int ends[2];
	char byte;
	long pid;

	CHECK_EQ(arch_pipe2(ends, 0), 0);
	pid = rt_fork();
	if (pid == 0) {
		(void)attach_and_work(fd);
		(void)arch_write(ends[1], "", 1);
		for (;;)
			rt_sleep(1000000000);
	}
	CHECK_EQ(arch_read(ends[0], &byte, 1), 1);
	arch_close(ends[0]);
	arch_close(ends[1]);
	return pid;
}

static long attach_full(bool dead, bool live)
{
	long pages, pid = 0;
	bool attached = false;

	for (pages = 0; !attached; pages++) {
		int fd;

		CHECK(pages < 200);
		arch_unlink("/tmp/heap");
		fd = file();
		leave(900);
		CHECK(in_child(create, fd));
		/* They end without a word, and leave records that attaching takes over. */
		if (dead) {
			(void)in_child(attach_and_work, fd);
			(void)in_child(attach_and_work, fd);
		}
		if (live)
			pid = stay(fd);
		leave(pages);
		attached = in_child(attach, fd);
		leave(200);
		CHECK(in_child(attach, fd));
		if (live) {
			rt_kill(pid, SIGKILL);
			(void)rt_wait(pid);
		}
		arch_close(fd);
	}
	rt_print("     attached with %ld pages\n", pages - 1);
	return pages - 1;
}

TEST(full_attach, 60)
{
	disk("size=4m");
	/* What the first one to attach writes was taken when the heap was made. */
	CHECK_EQ(attach_full(false, false), 0);
}

/* With a record of its own. */
TEST(full_attach_beside, 60)
{
	disk("size=4m");
	(void)attach_full(false, true);
}

TEST(full_attach_after_deaths, 60)
{
	disk("size=4m");
	(void)attach_full(true, false);
	arch_unlink("/tmp/heap");
	(void)attach_full(true, true);
}

TEST(full_attach_without_fallocate, 60)
{
	static char page[2 * PAGE_MOST] __attribute__((aligned(PAGE_MOST)));

	if (rt_under_qemu() || arch_madvise(page, PAGE_MOST, 23) != 0)
		rt_skip("no advice that makes pages present (MADV_POPULATE_WRITE)");
	no_fallocate = true;
	disk("size=4m");
	(void)attach_full(false, true);
}

static int create_whole(int fd)
{
	struct ash_heap_options options = {.allocate = true, .retain = SIZE_MAX};

	return ash_heap_create_file(fd, CAPACITY, &options) != NULL;
}

/* All blocks that there are, and each byte of them. */
static int use_whole(int fd)
{
	ash_heap *h = ash_heap_attach_file(fd, NULL);
	unsigned round;

	CHECK(h != NULL);
	for (round = 0; round < 3; round++) {
		size_t size = round == 0 ? 2 << 20 : round == 1 ? 1000 : 60000, n = 0;
		void **last = NULL, **p;

		while ((p = ash_heap_alloc(h, size)) != NULL) {
			memset(p, 1, size);
			*p = last;
			last = p;
			n++;
		}
		CHECK(n * size > CAPACITY * 3 / 4);
		for (; last != NULL; last = p) {
			p = *last;
			ash_heap_release(h, last);
		}
	}
	CHECK_EQ(ash_heap_check(h), 0);
	return 0;
}

static void allocated_at_once(void)
{
	int fd;

	/* Each of the records that a heap may have for threads begins a page. */
	if (PAGE_MOST > 4096)
		rt_skip("it takes 100 MiB of memory where pages may have 64 KiB");
	disk("size=72m");
	fd = file();
	leave(CAPACITY / 4096);
	CHECK_EQ(in_child(create_whole, fd), 0); /* the records want some, too */
	CHECK(arch_lseek(fd, 0, SEEK_END) <= (long)PAGE_MOST);
	leave(64 << 8);
	CHECK(in_child(create_whole, fd));
	leave(0);
	CHECK_EQ(in_child(use_whole, fd), 0);
}

TEST_CALL(full_allocated_at_once, 60, allocated_at_once());

TEST(full_allocated_at_once_without_fallocate, 60)
{
	no_fallocate = true;
	allocated_at_once();
}
