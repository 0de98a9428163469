/* SPDX-License-Identifier: MIT */
/*
 * The scenario, and a system whose k-th call fails, for each k; afterwards all
 * is as if nothing had happened.  Then systems that are odd in other ways.
 */
/* promises: ash_alloc, ash_aligned_alloc, ash_resize, ash_zalloc */
#include "program/scenario.h"

/* In a child: the scenario with these failures, then the same system in good health. */
static void run(UNUSED void *argument)
{
	faults.armed = true;
	scenario();
	faults.armed = false;
	audit_blocks(kept_count);
	for (unsigned i = 0; i < kept_count; i++)
		verify(&kept[i], kept[i].size);
	failed_before = faults.failed = 0; /* from now on NULL has no excuse */
	all_sizes(NULL);
	audit_blocks(kept_count);
	while (kept_count > 0)
		drop(kept_count - 1);
	audit_blocks(0);
	(void)ash_trim(0);
	audit_blocks(0);
	all_sizes(NULL);
	spans();
	audit_blocks(kept_count);
}

static void count_calls(UNUSED void *argument)
{
	faults.armed = true;
	scenario();
	rt_fprint(2, "%zu", faults.calls);
}

static void fail_each(size_t count, size_t step)
{
	faults_at_each_call(run, count_calls, count, step);
}

TEST_CALL(faults_none, 60, run(NULL));
TEST_CALL(faults_one_call, 60, fail_each(1, rt_under_qemu() ? 11 : rt_in_full() ? 1 : 3));
TEST_CALL(faults_two_calls, 60, fail_each(2, rt_under_qemu() ? 23 : rt_in_full() ? 3 : 11));
TEST_CALL(faults_all_calls_from_there, 60, fail_each(SIZE_MAX / 2, rt_under_qemu() ? 23 : rt_in_full() ? 2 : 7));

/* ---- systems that are odd in other ways ---- */

/* Each mapping comes back at some odd page. */
TEST(faults_odd_addresses_one_call, 60)
{
	faults.odd = true;
	fail_each(1, rt_under_qemu() ? 29 : rt_in_full() ? 3 : 10);
}

static void run_with(struct faults some)
{
	faults = some;
	run(NULL);
}

TEST_CALL(faults_odd_addresses, 60, run_with((struct faults){.odd = true}));

/* Where munmap never works nothing can be cut to size, nor given back. */
TEST_CALL(faults_no_munmap, 60, run_with((struct faults){.munmap_error = -FAULT_ENOMEM}));
TEST_CALL(faults_no_munmap_odd_addresses, 60, run_with((struct faults){.munmap_error = -FAULT_ENOMEM, .odd = true}));

/* Contents are copied, and where they were nothing can be given back. */
TEST_CALL(faults_no_munmap_no_mremap, 60,
	  run_with((struct faults){.munmap_error = -FAULT_ENOMEM, .mremap_error = -FAULT_EINVAL}));
TEST_CALL(faults_no_mremap, 60, run_with((struct faults){.mremap_error = -FAULT_EINVAL}));
TEST_CALL(faults_no_memory_for_mremap, 60, run_with((struct faults){.mremap_error = -FAULT_ENOMEM}));

/* As Linux did before 6.17 when the source was several mappings. */
TEST_CALL(faults_mremap_unmaps_target, 60,
	  run_with((struct faults){.mremap_error = -FAULT_EFAULT, .mremap_unmaps = true}));

/* ---- what must work although something fails ---- */

/* No record for the thread: its blocks come from unowned slabs. */
static void without_record(UNUSED void *argument)
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
	CHECK(get(100) != NULL);
	rt_in_thread(without_record, NULL);
	CHECK_EQ(stats_now().owners, 2);
	audit_blocks(kept_count);
	while (kept_count > 0)
		drop(kept_count - 1);
	audit_blocks(0);
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
			CHECK(ash_aligned_alloc(64 * MIB, size + 4 * MIB) == NULL);
			CHECK(ash_resize(kept[0].p, size + 4 * MIB) == NULL);
		}
	grown = rt_address_space() - space;
	/* Under QEMU the figure is the emulator's: it translates new code meanwhile. */
	CHECK(grown <= (rt_under_qemu() ? 64 * MIB : MIB));
	audit_blocks(1);
	faults.mmap_most = 0;
	CHECK(get(100 * MIB) != NULL);
	audit_blocks(2);
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
	audit_blocks(1);
}
