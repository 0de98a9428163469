/* SPDX-License-Identifier: MIT */
/* The file of a heap that grows and shrinks, and new capacity in processes that were not told. */
#include "ashlar_heap.h"
#include "pages.h"
#include "rt.h"
#include "store/process/share.h"
#include "syscall.h"

enum { BLOCKS = 4000 };

static const struct ash_heap_options options = {.limit = 256 * MIB};

/* What the two processes tell each other. */
static struct {
	_Atomic uint32_t full, extended;
	void *block[BLOCKS + 1];
} *told;

static void turn_wait(_Atomic uint32_t *word)
{
	while (*word == 0)
		(void)arch_futex(word, 0, 0, NULL, NULL, 0); /* wait while it is 0 */
}

static void turn_give(_Atomic uint32_t *word)
{
	*word = 1;
	(void)arch_futex(word, 1, INT32_MAX, NULL, NULL, 0); /* wake */
}

static ash_heap *make(int *fd)
{
	ash_heap *h;

	*fd = (int)arch_memfd_create("extend", 0);
	told = NOT_NULL(pages_reserve(sizeof *told, PAGE_LEAST, PAGES_SHARED));
	h = NOT_NULL(ash_heap_create_file(*fd, 4 * MIB, &options));
	return h;
}

/* A process that attached before, and has found the heap full. */
static void other(int fd, ash_heap *h)
{
	struct ash_block found;
	char *p;

	ash_heap_destroy(h);
	CHECK((h = ash_heap_attach_file(fd, NULL)) != NULL);
	while (ash_heap_alloc(h, 100) != NULL)
		;
	CHECK(ash_heap_alloc(h, 8 * MIB) == NULL);
	turn_give(&told->full);
	turn_wait(&told->extended);
	CHECK((p = ash_heap_zalloc(h, 1, 8 * MIB)) != NULL);
	CHECK(p[0] == 0 && p[8 * MIB - 1] == 0);
	CHECK(ash_find(p + 5 * MIB, &found) == ASH_TAKEN && found.start == p && ash_heap_of(p) == h);
	CHECK(ash_heap_alloc(h, 100) != NULL);
	CHECK(ash_heap_extend(h, 128 * MIB)); /* and the other way round */
	told->block[0] = p;
	rt_exit(0);
}

TEST(extend_is_for_all_at_once, 20)
{
	int fd;
	ash_heap *h = make(&fd);
	long pid = rt_fork();
	void *p;

	if (pid == 0)
		other(fd, h);
	turn_wait(&told->full);
	CHECK(ash_heap_alloc(h, 60 * MIB) == NULL);
	CHECK(ash_heap_extend(h, 16 * MIB));
	turn_give(&told->extended);
	CHECK_EQ(rt_wait(pid), 0);
	CHECK((p = ash_heap_alloc(h, 100 * MIB)) != NULL);
	CHECK_EQ(ash_heap_usable_size(h, told->block[0]), 8 * MIB);
	CHECK_EQ(ash_heap_check(h), 0);
}

/* ---- the file ---- */

struct file {
	size_t length, disk;
};

static struct file file_now(int fd)
{
	struct arch_stat st;

	CHECK_EQ(arch_fstat(fd, &st), 0);
	return (struct file){(size_t)st.length, (size_t)st.blocks * 512};
}

/* Slots, spans and memory that was added meanwhile, all written, by a process that ends. */
static void use(ash_heap *h)
{
	size_t i, size;

	CHECK(ash_heap_extend(h, 200 * MIB));
	for (i = 0; i <= BLOCKS; i++) {
		size = i == BLOCKS ? 40 * MIB : i % 100 == 0 ? 300000 : 3000;
		CHECK((told->block[i] = ash_heap_alloc(h, size)) != NULL);
		memset(told->block[i], 1, size);
	}
	rt_exit(0);
}

static void file_shrinks(int fd, ash_heap *h)
{
	struct file before, full, after;
	size_t i;
	long pid;

	before = file_now(fd);
	CHECK((pid = rt_fork()) >= 0);
	if (pid == 0)
		use(h);
	CHECK_EQ(rt_wait(pid), 0);
	full = file_now(fd);
	CHECK(full.disk - before.disk > 60 * MIB);
	for (i = 0; i <= BLOCKS; i++)
		ash_heap_release(h, told->block[i]);
	(void)ash_heap_recover(h);
	CHECK(ash_heap_trim(h, 0) > 0);
	after = file_now(fd);
	rt_print("     %zu KiB of disk, %zu in use, %zu after the trim; %zu MiB long\n", before.disk / 1024,
		 full.disk / 1024, after.disk / 1024, after.length / MIB);
	/* What stays is records: 3.3 % of what was in use, and the other process's. */
	CHECK(after.disk < before.disk + 5 * MIB);
	CHECK_EQ(full.length, before.length);
	CHECK_EQ(after.length, before.length);
	CHECK_EQ(ash_heap_check(h), 0);
}

TEST(extend_file_shrinks_by_trim, 20)
{
	int fd;
	ash_heap *h = make(&fd);

	if (rt_under_qemu())
		rt_skip("emulators keep what is trimmed");
	file_shrinks(fd, h);
	/* The memory that it gave back is there again, and reads zero. */
	file_shrinks(fd, h);
}
