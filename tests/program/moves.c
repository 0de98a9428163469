/* SPDX-License-Identifier: MIT */
/*
 * Pages that are moved by a kernel that refuses: before it did anything, or when it has unmapped the
 * target and another thread's mmap has those addresses by the time the caller sees the error.
 */
/* promises: ash_resize, ash_aligned_resize, ash_heap_resize */
#include "ashlar_heap.h"
#include "backend/map.h"
#include "backend/region.h"
#include "backend/retain.h"
#include "heaps/instance.h"
#include "kernel.h"
#include "program/audit.h"
#include "support/blocks.h"
#include "support/wrap.h"
#include "syscall.h"

enum { ENOMEM = 12, FIXED = 2, MAP_FIXED = 0x10, THEIRS = 0xab, OURS = 0x33 };

static bool at_limit;	  /* of mappings: each call that may need one is refused */
static unsigned steal_in; /* the so many-th move from now on loses its target    */
static unsigned fixed;	  /* moves to a place of the caller's so far             */
static unsigned moved;	  /* of them, done                                       */
static char *theirs;	  /* what the other thread got                           */
static size_t their_bytes;

WRAP(long, arch_mremap, (void *old, size_t old_length, size_t length, long flags, void *target))
{
	long r;

	if (at_limit)
		return -ENOMEM;
	if ((flags & FIXED) == 0 || length < CHUNK_SIZE)
		return __real_arch_mremap(old, old_length, length, flags, target);
	fixed++;
	if (steal_in != 0 && --steal_in == 0) {
		CHECK_EQ(arch_munmap(target, length), 0);
		r = arch_mmap(target, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		CHECK(r == (long)target);
		theirs = target;
		their_bytes = length;
		memset(theirs, THEIRS, length);
		return -ENOMEM;
	}
	r = __real_arch_mremap(old, old_length, length, flags, target);
	moved += r == (long)target;
	return r;
}

static void need_moves(void)
{
	char *p = NOT_NULL(pages_reserve(2 * CHUNK_SIZE, CHUNK_SIZE, PAGES_PRIVATE));

	if (pages_remap(p, p + CHUNK_SIZE, CHUNK_SIZE) != PAGES_MOVED)
		rt_skip("the emulator moves no pages");
	CHECK(pages_release(p, 2 * CHUNK_SIZE));
}

/* Nobody but the other thread has these addresses, whatever is asked of the heap. */
static void theirs_stays(void)
{
	static void *p[40];

	CHECK(theirs != NULL);
	for (unsigned round = 0; round < 3; round++) {
		for (size_t i = 0; i < 40; i++) {
			p[i] = i % 2 == 0 ? ash_alloc((i % 8 + 1) * MIB + 1) : ash_zalloc(1, (i % 8 + 1) * MIB + 1);
			CHECK(p[i] != NULL);
			memset(p[i], 1, MIB);
		}
		release_each(p, 40);
		(void)ash_trim(0);
	}
	audit();
	holds((unsigned char *)theirs, their_bytes, THEIRS);
}

/* Nothing was learnt about the kernel at its limit: once there is room again, pages are moved. */
TEST(moves_again_after_the_limit, 20)
{
	char *from = pages_reserve(CHUNK_SIZE, CHUNK_SIZE, PAGES_PRIVATE);
	char *to = pages_reserve(CHUNK_SIZE, CHUNK_SIZE, PAGES_PRIVATE);

	if (rt_under_qemu())
		rt_skip("the emulator moves no pages");
	CHECK(from != NULL && to != NULL);
	memset(from, OURS, CHUNK_SIZE);
	at_limit = true;
	CHECK_EQ(pages_remap(from, to, CHUNK_SIZE), PAGES_STAYED);
	CHECK_EQ(pages_move(from, to, CHUNK_SIZE), PAGES_STAYED);
	holds((unsigned char *)to, CHUNK_SIZE, OURS);
	CHECK_EQ(fixed, 0);
	at_limit = false;
	CHECK_EQ(pages_move(to, from, CHUNK_SIZE), PAGES_MOVED);
	CHECK_EQ(moved, 1);
	holds((unsigned char *)from, CHUNK_SIZE, OURS);
	holds((unsigned char *)to, CHUNK_SIZE, 0);
}

/* A span that grows, with something behind it. */
static unsigned char *hemmed(size_t bytes)
{
	unsigned char *p = ash_alloc(bytes);
	const struct chunk *c = map_find(p);

	CHECK(p != NULL);
	(void)region_claim_at((struct run){c->region, c->index + c->span_chunks}, 1);
	memset(p, OURS, bytes);
	return p;
}

TEST(moves_leave_a_lost_target_alone, 20)
{
	unsigned char *p;

	need_moves();
	p = hemmed(8 * MIB);
	steal_in = 1;
	p = ash_resize(p, 12 * MIB);
	CHECK(p != NULL && (char *)p != theirs);
	holds(p, 8 * MIB, OURS);
	theirs_stays();
	/* It is not tried again, as each try might cost addresses. */
	fixed = 0;
	p = NOT_NULL(ash_resize(hemmed(8 * MIB), 24 * MIB));
	holds(p, 8 * MIB, OURS);
	CHECK_EQ(fixed, 0);
	ash_release(p);
	theirs_stays();
}

/* The same where the source is several mappings and a part of it has moved before. */
TEST(moves_undo_the_half_that_was_moved, 20)
{
	unsigned char *p;

	need_moves();
	p = hemmed(8 * MIB);
	CHECK(pages_huge(p + 4 * MIB, 2 * MIB, true) || pages_huge(p + 4 * MIB, 2 * MIB, false));
	moved = 0;
	steal_in = 2;
	p = NOT_NULL(ash_resize(p, 24 * MIB));
	CHECK_EQ(moved, 1);
	holds(p, 8 * MIB, OURS);
	theirs_stays();
}

TEST(moves_to_an_alignment, 20)
{
	unsigned char *p;

	need_moves();
	p = hemmed(8 * MIB);
	steal_in = 1;
	p = ash_aligned_resize(p, 8 * MIB, 20 * MIB);
	CHECK(p != NULL && (uintptr_t)p % (8 * MIB) == 0);
	holds(p, 8 * MIB, OURS);
	theirs_stays();
}

/* The pages of retained chunks that are lent to a new span. */
TEST(moves_lend_to_no_lost_target, 20)
{
	unsigned char *p, *q;

	need_moves();
	p = hemmed(4 * MIB);
	heap_default.floor = 4 * CHUNK_UNITS; /* so much stays, as after a peak that came again */
	ash_release(p);
	CHECK_EQ(heap_default.dirty, 2 * CHUNK_UNITS);
	moved = 0;
	steal_in = 2;
	q = ash_alloc(10 * MIB);
	CHECK(theirs != NULL && moved == 1);
	CHECK(q != NULL);
	memset(q, OURS, 10 * MIB);
	theirs_stays();
	holds(q, 10 * MIB, OURS);
}

/* A heap that is destroyed leaves them, too. */
TEST(moves_of_a_heap_that_is_destroyed, 20)
{
	struct ash_heap *h = ash_heap_create(NULL);
	unsigned char *p, *behind;
	size_t space;

	CHECK(h != NULL);
	need_moves();
	p = ash_heap_alloc(h, 8 * MIB);
	behind = ash_heap_alloc(h, MIB + 1);
	CHECK(p != NULL && behind != NULL);
	memset(p, OURS, 8 * MIB);
	steal_in = 1;
	p = ash_heap_resize(h, p, 20 * MIB);
	CHECK_EQ(steal_in, 0);
	CHECK(p != NULL);
	holds(p, 8 * MIB, OURS);
	CHECK_EQ(ash_heap_check(h), 0);
	space = rt_address_space();
	ash_heap_destroy(h);
	CHECK(rt_address_space() < space || rt_under_qemu());
	holds((unsigned char *)theirs, their_bytes, THEIRS);
	CHECK_EQ(arch_munmap(theirs, their_bytes), 0);
}

/* Also where the target had been lent pages. */
TEST(moves_lend_to_no_lost_target_of_a_heap, 20)
{
	struct ash_heap *h = ash_heap_create(NULL);
	char *p;

	CHECK(h != NULL);
	need_moves();
	p = ash_heap_alloc(h, 4 * MIB);
	CHECK(p != NULL && ash_heap_alloc(h, MIB + 1) != NULL);
	memset(p, OURS, 4 * MIB);
	heap_of(h)->floor = 4 * CHUNK_UNITS;
	ash_heap_release(h, p);
	CHECK_EQ(heap_of(h)->dirty, 2 * CHUNK_UNITS);
	steal_in = 1;
	p = ash_heap_alloc(h, 10 * MIB);
	CHECK(p != NULL && p != theirs && theirs != NULL);
	memset(p, OURS, 10 * MIB);
	CHECK_EQ(ash_heap_check(h), 0);
	ash_heap_destroy(h);
	holds((unsigned char *)theirs, their_bytes, THEIRS);
	CHECK_EQ(arch_munmap(theirs, their_bytes), 0);
}
