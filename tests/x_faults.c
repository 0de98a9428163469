/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* LDFLAGS: -Wl,--wrap=arch_mmap,--wrap=arch_munmap,--wrap=arch_madvise,--wrap=arch_mremap,--wrap=arch_mincore */
/* clang-format on */
/*
 * One scenario that asks for everything, and a system whose k-th call fails,
 * for each k.  An answer may be NULL only if a call did fail meanwhile; old
 * blocks stay as they were; afterwards all is as if nothing had happened.
 */
#include "ashlar.h"
#include "faults.h"
#include "heap.h"

enum { KEPT_MAX = 200 };
#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static struct kept {
	unsigned char *p;
	size_t size;
	unsigned key;
} kept[KEPT_MAX];
static unsigned kept_count, keys;

static unsigned char pattern(unsigned key, size_t i)
{
	return (unsigned char)(key * 37 + i * 151 + (i >> 12)) | 1;
}

/* Large blocks are looked at here and there: to touch all their pages takes too long. */
static size_t stride(size_t size)
{
	return size > MIB ? 60013 : size > 64 * KIB ? 1021 : 1;
}

static void fill(struct kept *k)
{
	k->key = ++keys;
	for (size_t i = 0; i < k->size; i += stride(k->size))
		k->p[i] = pattern(k->key, i);
}

static void verify(const struct kept *k, size_t upto)
{
	for (size_t i = 0; i < upto; i += stride(k->size))
		CHECK_EQ(k->p[i], pattern(k->key, i));
}

static size_t failed_before;

/* NULL needs a reason; a block is kept, and filled. */
static struct kept *keep(void *p, size_t size)
{
	struct kept *k = &kept[kept_count];

	if (p == NULL) {
		CHECK(faults.failed > failed_before);
		return NULL;
	}
	CHECK(kept_count < KEPT_MAX);
	CHECK(ash_usable_size(p) >= size);
	kept_count++;
	k->p = p;
	k->size = size;
	fill(k);
	return k;
}

static struct kept *get(size_t size)
{
	failed_before = faults.failed;
	return keep(ash_alloc(size), size);
}

static struct kept *get_zero(size_t size)
{
	unsigned char *p;

	failed_before = faults.failed;
	p = ash_zalloc(1, size);
	for (size_t i = 0; p != NULL && i < size; i += stride(size))
		CHECK_EQ(p[i], 0);
	return keep(p, size);
}

static void get_aligned(size_t alignment, size_t size)
{
	void *p;

	failed_before = faults.failed;
	p = ash_aligned_alloc(alignment, size);
	CHECK_EQ((uintptr_t)p & (alignment - 1), 0);
	(void)keep(p, size);
}

static void resize(struct kept *k, size_t size)
{
	void *p;

	if (k == NULL)
		return;
	failed_before = faults.failed;
	p = ash_resize(k->p, size);
	if (p == NULL) {
		CHECK(faults.failed > failed_before);
		verify(k, k->size);
		return;
	}
	k->p = p;
	/* What was looked at before can be looked at now. */
	for (size_t i = 0; i < (size < k->size ? size : k->size); i += stride(k->size))
		CHECK_EQ(k->p[i], pattern(k->key, i));
	k->size = size;
	fill(k);
}

static void drop(unsigned i)
{
	verify(&kept[i], kept[i].size);
	ash_release(kept[i].p);
	kept[i] = kept[--kept_count];
}

/* ---- the scenario ---- */

static const size_t sizes[] = {1, 16, 100, 1000, 5000, 30000, 40000, 200000, MIB};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static void all_sizes(__attribute__((unused)) void *argument)
{
	for (unsigned i = 0; i < SIZES; i++) {
		(void)get(sizes[i]);
		(void)get_zero(sizes[i]);
	}
	(void)get(MIB + 1);
	(void)get_zero(3 * MIB);
}

static void spans(void)
{
	struct kept *last, *early = get(2 * MIB);

	(void)get(6 * MIB);
	(void)get_zero(9 * MIB);
	last = get(MIB + 4096);
	resize(last, 3 * MIB);
	resize(last, 11 * MIB);
	resize(early, 7 * MIB);
	resize(early, 35 * MIB);
	resize(early, 2 * MIB);
	resize(early, 100);
	resize(early, 5000);
	resize(early, MIB + 1);
	early = get(100);
	resize(early, 40 * MIB);
	resize(early, 700000);
}

static void aligned(void)
{
	size_t largest = rt_under_qemu() ? 64 * MIB : 1024 * MIB; /* 6 ms a GiB there */

	for (size_t alignment = 4 * KIB; alignment <= largest; alignment *= 4) {
		get_aligned(alignment, 1000);
		get_aligned(alignment, 3000000);
	}
}

/* Threads by the runtime need memory, too, which is not what is tested. */
static void thread_body(__attribute__((unused)) void *argument)
{
	faults.armed = true;
	all_sizes(NULL);
	ash_thread_detach();
	ash_thread_detach();
	(void)get(100);
}

static void other_thread(void)
{
	struct rt_thread *thread;

	faults.armed = false;
	thread = rt_thread_start(thread_body, NULL);
	CHECK(thread != NULL);
	rt_thread_join(thread); /* detaches, armed */
	faults.armed = true;
}

static void scenario(void)
{
	all_sizes(NULL);
	spans();
	aligned();
	for (unsigned i = 0; i < kept_count; i++)
		drop(i);
	(void)ash_trim(4 * MIB);
	other_thread();
	for (unsigned i = 0; i < kept_count; i += 2)
		drop(i);
	(void)ash_trim(0);
	ash_thread_detach();
	all_sizes(NULL);
	for (unsigned i = 0; i < kept_count; i += 2)
		drop(i);
	(void)ash_trim(0);
	(void)get_zero(40 * MIB);
	(void)get_zero(5 * MIB);
}

static void audit(size_t blocks)
{
	struct ash_stats st;

	CHECK_EQ(ash_check(), 0);
	ash_stats(&st);
	CHECK_EQ(st.blocks, blocks);
	/* The counters are hints, but nothing races here. */
	CHECK_EQ(heap_default.reserved * CHUNK_SIZE, st.reserved);
	CHECK_EQ(heap_default.dirty * UNIT_SIZE, st.dirty);
}

/* In a child: the scenario with these failures, then the same system in good health. */
static void run(__attribute__((unused)) void *argument)
{
	faults.armed = true;
	scenario();
	faults.armed = false;
	audit(kept_count);
	for (unsigned i = 0; i < kept_count; i++)
		verify(&kept[i], kept[i].size);
	failed_before = faults.failed = 0; /* from now on NULL has no excuse */
	all_sizes(NULL);
	audit(kept_count);
	while (kept_count > 0)
		drop(kept_count - 1);
	audit(0);
	(void)ash_trim(0);
	audit(0);
	all_sizes(NULL);
	spans();
	audit(kept_count);
}

static void count_calls(void *calls)
{
	faults.armed = true;
	scenario();
	rt_fprint(2, "%zu", faults.calls);
	(void)calls;
}

static size_t scenario_calls(void)
{
	char text[64];
	size_t calls = 0;

	CHECK_EQ(rt_run_child(count_calls, NULL, text, sizeof(text)), 0);
	for (const char *c = text; *c != '\0'; c++)
		calls = calls * 10 + (size_t)(*c - '0');
	CHECK(calls > 50 && calls < 5000);
	return calls;
}

/* step: of each so many calls one is tried; QEMU takes long for one round. */
static void fail_each(size_t count, size_t step)
{
	size_t calls = scenario_calls();
	char text[512];

	for (size_t k = 1; k <= calls; k += step) {
		int status;

		faults.fail_at = k;
		faults.fail_count = count;
		status = rt_run_child(run, NULL, text, sizeof(text));
		if (status != 0 || text[0] != '\0')
			rt_print("     call %zu of %zu fails: status %d %s\n", k, calls, status,
				 text);
		CHECK_EQ(status, 0);
		CHECK_EQ(text[0], 0);
	}
}

TEST(faults_none, 60)
{
	run(NULL);
}

TEST(faults_one_call, 60)
{
	fail_each(1, rt_under_qemu() ? 3 : 1);
}

TEST(faults_two_calls, 60)
{
	fail_each(2, rt_under_qemu() ? 11 : 3);
}

TEST(faults_all_calls_from_there, 60)
{
	fail_each(SIZE_MAX / 2, rt_under_qemu() ? 11 : 2);
}

/* ---- an odd system: each mapping comes back at some odd page ---- */

TEST(faults_odd_addresses, 60)
{
	faults.odd = true;
	run(NULL);
}

TEST(faults_odd_addresses_one_call, 60)
{
	faults.odd = true;
	fail_each(1, rt_under_qemu() ? 13 : 2);
}

/* Where munmap never works nothing can be cut to size, nor given back. */
TEST(faults_no_munmap, 60)
{
	faults.munmap_error = -FAULT_ENOMEM;
	run(NULL);
}

TEST(faults_no_munmap_odd_addresses, 60)
{
	faults.munmap_error = -FAULT_ENOMEM;
	faults.odd = true;
	run(NULL);
}

static void no_move(long error, bool unmaps)
{
	faults.mremap_error = error;
	faults.mremap_unmaps = unmaps;
	run(NULL);
}

TEST(faults_no_mremap, 60)
{
	no_move(-FAULT_EINVAL, false);
}

TEST(faults_no_memory_for_mremap, 60)
{
	no_move(-FAULT_ENOMEM, false);
}

/* As Linux did before 6.17 when the source was several mappings. */
TEST(faults_mremap_unmaps_target, 60)
{
	no_move(-FAULT_EFAULT, true);
}

/* ---- what must work although something fails ---- */

/* No record for the thread: its blocks come from slabs that nobody owns. */
static void without_record(__attribute__((unused)) void *argument)
{
	struct kept *a, *b;

	failed_before = faults.failed = 0;
	faults.fail_at = 1;
	faults.fail_count = SIZE_MAX / 2;
	faults.calls = 0;
	faults.armed = true;
	a = keep(ash_alloc(100), 100);
	b = keep(ash_zalloc(10, 10), 100);
	faults.armed = false;
	CHECK(faults.failed > 0);
	CHECK(a != NULL && b != NULL);
	/* The next call gets it. */
	CHECK(get(100) != NULL);
}

TEST(faults_no_owner_record, 10)
{
	struct rt_thread *thread;
	struct ash_stats st;

	CHECK(get(100) != NULL);
	thread = rt_thread_start(without_record, NULL);
	CHECK(thread != NULL);
	rt_thread_join(thread);
	ash_stats(&st);
	CHECK_EQ(st.owners, 2);
	audit(kept_count);
	while (kept_count > 0)
		drop(kept_count - 1);
	audit(0);
}

/* Requests that cannot be met leave nothing behind. */
TEST(faults_hopeless_requests, 60)
{
	size_t space, grown;

	CHECK(get(100) != NULL);
	faults.mmap_most = 4 * MIB;
	(void)ash_alloc(100 * MIB);
	space = rt_address_space();
	for (unsigned shift = 22; shift < 63; shift++)
		for (size_t i = 0; i < 20; i++) {
			size_t size = ((size_t)1 << shift) + i * ((size_t)1 << (shift - 5));

			CHECK(ash_alloc(size + 4 * MIB) == NULL);
			CHECK(ash_zalloc(size / 64 + MIB, 64) == NULL);
			CHECK(ash_aligned_alloc(64 * MIB, size) == NULL);
			CHECK(ash_resize(kept[0].p, size + 4 * MIB) == NULL);
		}
	grown = rt_address_space() - space;
	/* Under QEMU the figure is the emulator's: it translates new code meanwhile. */
	CHECK(grown <= (rt_under_qemu() ? 64 * MIB : MIB));
	audit(1);
	faults.mmap_most = 0;
	CHECK(get(100 * MIB) != NULL);
	audit(2);
}

/* The same, but by the system's own limit of addresses. */
TEST(faults_hopeless_addresses, 60)
{
	size_t space, grown;

	CHECK(get(100) != NULL);
	space = rt_address_space();
	for (unsigned shift = 47; shift < 63; shift++)
		for (size_t i = 0; i < 20; i++) {
			size_t size = ((size_t)1 << shift) + i * ((size_t)1 << (shift - 5));

			CHECK(ash_alloc(size) == NULL);
			CHECK(ash_zalloc(size / 64, 64) == NULL);
			CHECK(ash_resize(kept[0].p, size) == NULL);
		}
	grown = rt_address_space() - space;
	CHECK(grown <= (rt_under_qemu() ? 64 * MIB : MIB));
	audit(1);
}

int main(int argc, char **argv, __attribute__((unused)) char **envp)
{
	return rt_run_tests(argc, argv);
}
