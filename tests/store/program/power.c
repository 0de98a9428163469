/* SPDX-License-Identifier: MIT */
/*
 * Power fails: of each page of a heap's file the disk has any version since the page was
 * last made durable, whatever the others have.
 *
 *   page 0   v0 ---- v1 | ---- v2 ---- v3        | = msync has returned
 *   page 7   v0 ------- | -------- v1            a file: v2 or v3 of page 0, v0 or v1 of 7, ...
 *
 * A worker allocates, releases, syncs and attaches again.  A copy of each page is kept when it
 * changed, after each operation and before each msync returns.  Again and again files are
 * made of such versions, as the next start of the system would find them, and attached:
 * what is not refused as torn is of the moment of the last seal, with exactly its blocks.
 *
 * The table at the end is of the same files without the seal: what the image check alone
 * would have done.
 */
/* promises: ash_heap_sync, ash_heap_seal, ash_heap_break_seal, ash_heap_vouch_file */

#include "heaps/instance.h"
#include "pages.h"
#include "store/file/store.h"
#include "store/program/power_blocks.h"
#include "store/program/power_pages.h"
#include "store/recover/builders.h"
#include "support/wrap.h"
#include "syscall.h"

enum { CAPACITY = 6 << 20 };

static int fd;
static ash_heap *heap;
static unsigned each; /* files for each moment */
static bool failing;   /* msync reports errors */

enum outcome { SEALED_RIGHT = 1, OUT_REFUSED, OUT_RIGHT, OUT_WRONG, OUT_LINE, OUT_SIGNAL, OUTCOMES };
static unsigned count[OUTCOMES];

/* ---- a file, and who attaches to it ---- */

/* Of a view: also of a torn file each block that is told lies in it. */
static int is_outside(void *view, const void *p, size_t size, UNUSED const struct ash_heap_owner *owner)
{
	uint64_t at = ash_heap_view_offset(view, p);

	return at == 0 || at + size > bytes;
}

static bool as_sealed;

static void attacher(void *made)
{
	int copy = (int)(long)made;
	ash_heap_view *view;
	enum ash_attach why;
	ash_heap *h;

	file = NULL;
	rt_timer(10000000);
	if (pages_mapped(base))
		store_leave((struct store *)(void *)base); /* the worker's, whose records are not ours */
	view = ash_heap_view_file(copy, &why);
	CHECK(view != NULL && why == (as_sealed ? ASH_ATTACHED : ASH_ATTACH_TORN));
	CHECK(!as_sealed || ash_heap_view_check(view));
	CHECK_EQ(ash_heap_view_walk(view, is_outside, view), 0);
	ash_heap_view_close(view);
	h = ash_heap_attach_file(copy, &why);
	if (as_sealed) {
		CHECK(h != NULL);
		CHECK(is_right(h, book->sealed, book->sealed_count, true));
		book->checked = true;
		rt_exit(SEALED_RIGHT);
	}
	CHECK(h == NULL && why == ASH_ATTACH_TORN);
	book->checked = true;
	/* Without the seal. */
	CHECK(ash_heap_vouch_file(copy));
	h = ash_heap_attach_file(copy, &why);
	if (h == NULL)
		rt_exit(OUT_REFUSED);
	rt_exit(is_right(h, book->block, book->count, false) ? OUT_RIGHT : OUT_WRONG);
}

static void power_fails(unsigned how)
{
	int copy = (int)arch_memfd_create("after", 0), status;
	char text[512];
	size_t page;

	CHECK_EQ(arch_ftruncate(copy, (long)bytes), 0);
	for (page = 0; page < bytes / 4096; page++) {
		uint32_t v = latest[page] == 0 ? 0 : choose(page, how);
		char now[4096];

		if (page == 0) {
			struct store *s = (void *)now;

			CHECK(v != 0);
			memcpy(now, version[v].bytes, 4096);
			as_sealed = seal_state(s->seal) == SEAL_WHOLE;
			s->seal ^= (uint64_t)1 << SEAL_BOOT; /* of an earlier start of the system */
			CHECK_EQ(arch_pwrite64(copy, now, 4096, 0), 4096);
			continue;
		}
		/* A file that says so is of the moment of the seal, to the page. */
		if (as_sealed)
			CHECK_EQ(v, at_seal[page]);
		if (v != 0)
			CHECK_EQ(arch_pwrite64(copy, version[v].bytes, 4096, (long)page * 4096), 4096);
	}
	book->checked = false;
	status = rt_run_child(attacher, (void *)(long)copy, text, sizeof text); /* NOLINT */
	arch_close(copy);
	CHECK(book->checked);
	count[status < OUTCOMES ? status
	      : rt_strstr(text, "ashlar: ") == text ? OUT_LINE
						    : OUT_SIGNAL]++;
}

static void moment(void)
{
	unsigned i;

	for (i = 0; i < each; i++)
		power_fails((unsigned)rt_below(&dice, 4));
}

/* What was stored before the call is durable afterwards; power may fail before and after. */
WRAP(long, arch_msync, (void *address, size_t length, long flags))
{
	size_t from = (size_t)((char *)address - base) / 4096, page;

	if (failing)
		return -5;
	if (file == NULL)
		return __real_arch_msync(address, length, flags);
	CHECK(flags == 4 && length % 4096 == 0);
	keep_all();
	if (length == bytes)
		memcpy(at_seal, latest, sizeof latest); /* if there will be a seal, it is of this moment */
	moment();
	for (page = from; page < from + length / 4096; page++)
		floor_of[page] = latest[page];
	moment();
	return 0;
}

/* ---- the worker ---- */

static void release_one(void)
{
	unsigned i = (unsigned)rt_below(&dice, book->count);

	ash_heap_release(heap, book->block[i].p);
	book->block[i] = book->block[--book->count];
}

static void operation(void)
{
	struct block *b = &book->block[book->count];

	if (book->count > 0 && (book->count == BLOCKS - 1 || rt_below(&dice, 5) < 2)) {
		release_one();
		return;
	}
	b->size = rt_below(&dice, 40) == 0 ? 1 + rt_below(&dice, 1200000) : 1 + rt_below(&dice, 2000);
	b->key = (unsigned)rt_next(&dice);
	b->p = ash_heap_alloc(heap, b->size);
	if (b->p == NULL)
		return;
	fill(b);
	book->count++;
}

static void sync(void)
{
	struct books *now = book;

	memcpy(now->sealed, now->block, sizeof now->block);
	now->sealed_count = now->count;
	CHECK_EQ(ash_heap_sync(heap), ASH_SYNC_SEALED);
}

static void worker(unsigned operations)
{
	unsigned i, k;

	for (i = 0; i < operations; i++) {
		for (k = 0; k < 6; k++)
			operation();
		keep_all();
		if (i % 4 == 3)
			moment();
		if (i % 5 == 4)
			sync();
		if (i % 10 == 9) {
			/* The program starts again; before it attaches, power may fail, too. */
			ash_heap_destroy(heap);
			heap = NULL;
			moment();
			heap = NOT_NULL(ash_heap_attach_file(fd, NULL));
		}
	}
}

static void set_up(void)
{
	fd = (int)arch_memfd_create("power", 0);
	heap = NOT_NULL(ash_heap_create_file(fd, CAPACITY, NULL));
	base = (char *)store_of(heap_of(heap));
	bytes = store_of(heap_of(heap))->bytes;
	CHECK(bytes / 4096 <= PAGES);
	if (store_of(heap_of(heap))->seal >> SEAL_BOOT == 0)
		rt_skip("the start of the system is unknown without /proc");
}

TEST(power_pages_of_different_moments, 300)
{
	static const char *const name[OUTCOMES] = {
		"", "of the seal, and right", "refused by the image check", "attached, and right",
		"attached, and wrong", "misuse was reported", "a signal",
	};
	unsigned i, all = 0;
	long at;

	book = NOT_NULL(rt_map_shared(sizeof *book));
	version = NOT_NULL(rt_map(VERSIONS * sizeof *version));
	rt_seed(&dice, rt_test_seed());
	set_up();
	at = arch_mmap(NULL, bytes, 1, 1, fd, 0);
	CHECK(at > 0);
	file = (const char *)at; /* NOLINT */
	keep_all();
	memcpy(floor_of, latest, sizeof latest);
	each = rt_under_qemu() ? 1 : 2;
	worker(rt_in_full() ? 200 : rt_under_qemu() ? 10 : 30);
	for (i = SEALED_RIGHT; i < OUTCOMES; i++)
		all += count[i];
	rt_print("     %u files of pages of different moments, %u sealed; the others were refused as torn\n",
		 all, count[SEALED_RIGHT]);
	for (i = OUT_REFUSED; i < OUTCOMES; i++)
		rt_print("     without the seal: %4u %s\n", count[i], name[i]);
	CHECK(count[SEALED_RIGHT] > 0 && all > 2 * count[SEALED_RIGHT]);
}

/* The disk reports an error: no seal, and none is broken without the file saying so. */
TEST(power_errors_of_the_disk, 10)
{
	enum ash_attach why;

	set_up();
	CHECK(ash_heap_alloc(heap, 100) != NULL);
	failing = true;
	CHECK_EQ(ash_heap_sync(heap), ASH_SYNC_FAILED);
	CHECK_EQ(ash_heap_seal(heap), 0);
	failing = false;
	CHECK_EQ(ash_heap_sync(heap), ASH_SYNC_SEALED);
	failing = true;
	CHECK_EQ(ash_heap_sync(heap), ASH_SYNC_FAILED);
	CHECK(!ash_heap_break_seal(heap));
	CHECK(ash_heap_alloc(heap, 100) != NULL); /* goes on, and the next one tries again */
	CHECK_EQ(seal_state(store_of(heap_of(heap))->seal), SEAL_BREAKING);
	CHECK_EQ(ash_heap_sync(heap), ASH_SYNC_FAILED);
	failing = false;
	CHECK_EQ(ash_heap_sync(heap), ASH_SYNC_SEALED);
	ash_heap_destroy(heap);
	failing = true;
	CHECK(ash_heap_attach_file(fd, &why) == NULL);
	CHECK_EQ(why, ASH_ATTACH_NO_MEMORY);
	failing = false;
	CHECK(ash_heap_attach_file(fd, &why) != NULL);
}
