/* SPDX-License-Identifier: MIT */
/*
 * One scenario that asks for everything, for a system that fails now and then.
 * An answer may be NULL only if a call did fail meanwhile; old blocks stay as
 * they were.
 */
#ifndef TESTS_PROGRAM_SCENARIO_H
#define TESTS_PROGRAM_SCENARIO_H

#include "program/audit.h"
#include "program/faults.h"
#include "support/blocks.h"

enum { KEPT_MAX = 200 };

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

static void all_sizes(UNUSED void *argument)
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
static void thread_body(UNUSED void *argument)
{
	faults.armed = true;
	all_sizes(NULL);
	ash_thread_detach();
	ash_thread_detach();
	(void)get(100);
}

static void other_thread(void)
{
	faults.armed = false;
	rt_in_thread(thread_body, NULL); /* detaches, armed */
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

static void audit_blocks(size_t blocks)
{
	audit();
	CHECK_EQ(stats_now().blocks, blocks);
}

#endif
