/* SPDX-License-Identifier: MIT */
/* Views of heaps in files: what they say, while the heap is in use and when no process may attach. */
/* promises: ash_heap_view_at, ash_heap_view_check, ash_heap_view_close, ash_heap_view_file, ash_heap_view_find */
/* promises: ash_heap_offset, ash_heap_pointer, ash_heap_view_offset, ash_heap_view_pointer, ash_heap_view_walk */
#include "store/inner/view_subject.h"
#include "store/data/view.h"
#include "store/recover/builders.h"
#include "syscall.h"

enum { SIGSEGV_ = 11 };

static int reader(void)
{
	char path[64];
	long it;

	rt_format(path, sizeof path, "/proc/self/fd/%d", viewed_fd);
	it = arch_open(path, 0, 0);
	if (it < 0)
		rt_skip("no /proc");
	return (int)it;
}

static int visit(UNUSED void *context, const void *p, size_t size,
		 const struct ash_heap_owner *owner)
{
	uint64_t offset = ash_heap_view_offset(viewed, p);
	unsigned i;

	CHECK(offset != 0);
	for (i = 0; i < VIEWED; i++)
		if (viewed_block[i].p != NULL &&
		    (char *)viewed_block[i].p == (char *)store_of(heap_of(viewed_heap)) + offset)
			break;
	CHECK(i < VIEWED && size >= viewed_block[i].size);
	CHECK(ash_heap_view_at(viewed, viewed_block[i].p) == p);
	CHECK(memcmp(p, viewed_block[i].p, viewed_block[i].size) == 0);
	CHECK_EQ(owner->id, 1);
	CHECK(owner->live && owner->pid > 0);
	viewed_block[i].seen++;
	return 0;
}

TEST(view_of_a_heap_in_use, 20)
{
	enum ash_attach why = ASH_ATTACH_TAKEN;
	struct ash_block b, own;
	const char *last;
	unsigned i;

	viewed_make();
	viewed = NOT_NULL(ash_heap_view_file(reader(), &why));
	CHECK_EQ(why, ASH_ATTACHED);
	CHECK(ash_heap_view_check(viewed));
	CHECK_EQ(ash_heap_view_walk(viewed, visit, NULL), 0);
	for (i = 0; i < VIEWED; i++) {
		CHECK_EQ(viewed_block[i].seen, viewed_block[i].p != NULL);
		if (viewed_block[i].p == NULL)
			continue;
		last = viewed_block[i].p + viewed_block[i].size - 1;
		(void)ash_find(last, &own);
		CHECK_EQ(ash_heap_view_find(viewed, ash_heap_view_at(viewed, last), &b), ASH_TAKEN);
		CHECK(b.start == ash_heap_view_at(viewed, viewed_block[i].p));
		CHECK(b.size == own.size && b.row == own.row && b.owner == own.owner);
		CHECK_EQ(b.offset, viewed_block[i].size - 1);
	}
	CHECK(ash_heap_view_root(viewed) == ash_heap_view_at(viewed, viewed_block[1].p));
	/* Changes are seen. */
	ash_heap_release(viewed_heap, viewed_block[7].p);
	CHECK_EQ(ash_heap_view_find(viewed, ash_heap_view_at(viewed, viewed_block[7].p), &b), ASH_UNUSED);
	ash_heap_release(viewed_heap, viewed_block[1].p);
	CHECK_EQ(ash_heap_view_find(viewed, ash_heap_view_at(viewed, viewed_block[1].p), &b), ASH_FREE);
	CHECK_EQ(b.owner, 0);
	/* What is no block. */
	CHECK_EQ(ash_heap_view_find(viewed, &why, &b), ASH_FOREIGN);
	CHECK(b.start == NULL);
	CHECK_EQ(ash_heap_view_find(viewed, viewed->at, &b), ASH_RECORDS);
	CHECK_EQ(ash_heap_view_find(viewed, viewed->at + viewed->bytes - 1, &b), ASH_UNUSED);
	CHECK(ash_heap_view_at(viewed, &why) == NULL && ash_heap_view_at(viewed, NULL) == NULL);
	ash_heap_view_close(viewed);
	ash_heap_view_close(NULL);
}

TEST(view_offsets, 10)
{
	static char memory[1 << 16];
	ash_heap *arena = ash_heap_create_in(memory, sizeof memory), *own = ash_heap_create(NULL);
	struct store *s;
	uint64_t offset;

	viewed_make();
	s = store_of(heap_of(viewed_heap));
	viewed = NOT_NULL(ash_heap_view_file(viewed_fd, NULL));
	offset = ash_heap_offset(viewed_heap, viewed_block[1].p);
	CHECK(offset > 0 && ash_heap_pointer(viewed_heap, offset) == viewed_block[1].p);
	CHECK(ash_heap_view_pointer(viewed, offset) == ash_heap_view_at(viewed, viewed_block[1].p));
	CHECK(ash_heap_view_offset(viewed, ash_heap_view_at(viewed, viewed_block[1].p)) == offset);
	CHECK(ash_heap_offset(viewed_heap, NULL) == 0 && ash_heap_offset(viewed_heap, &s) == 0);
	CHECK(ash_heap_offset(viewed_heap, (char *)s + s->bytes) == 0);
	CHECK(ash_heap_offset(viewed_heap, (char *)s + s->bytes - 1) == s->bytes - 1);
	CHECK(ash_heap_pointer(viewed_heap, 0) == NULL && ash_heap_pointer(viewed_heap, s->bytes) == NULL);
	CHECK(ash_heap_view_pointer(viewed, 0) == NULL && ash_heap_view_pointer(viewed, s->bytes) == NULL);
	CHECK(ash_heap_view_offset(viewed, NULL) == 0);
	CHECK(ash_heap_offset(own, ash_heap_alloc(own, 9)) == 0 && ash_heap_pointer(own, 64) == NULL);
	CHECK(ash_heap_offset(arena, ash_heap_alloc(arena, 9)) == 0);
	CHECK(ash_heap_pointer(arena, 64) == NULL);
}

static int count(void *blocks, UNUSED const void *p, UNUSED size_t size, UNUSED const struct ash_heap_owner *owner)
{
	++*(unsigned *)blocks;
	return 0;
}

static void word_put(size_t at, uint64_t word)
{
	CHECK_EQ(arch_pwrite64(viewed_fd, &word, sizeof word, (long)at), sizeof word);
}

/* Where no process may attach, a view is given; where there is no heap, none. */
TEST(view_of_what_is_refused, 10)
{
	enum ash_attach why = ASH_ATTACHED;
	unsigned blocks = 0;
	uint64_t word;

	viewed_make();
	word = store_of(heap_of(viewed_heap))->seal;
	/* Taken: the heap is attached here already. */
	CHECK(ash_heap_attach_file(viewed_fd, &why) == NULL && why == ASH_ATTACH_TAKEN);
	CHECK(ash_heap_view_file(viewed_fd, NULL) != NULL);
	ash_heap_destroy(viewed_heap);
	word_put(offsetof(struct store, world), ~UINT64_C(0));
	CHECK(ash_heap_attach_file(viewed_fd, &why) == NULL && why == ASH_ATTACH_NAMESPACE);
	CHECK(ash_heap_view_file(viewed_fd, &why) != NULL && why == ASH_ATTACHED);
	if (word >> SEAL_BOOT != 0) {
		word_put(offsetof(struct store, seal), word ^ (uint64_t)1 << SEAL_BOOT);
		viewed = ash_heap_view_file(reader(), &why);
		CHECK(viewed != NULL && why == ASH_ATTACH_TORN);
		(void)ash_heap_view_walk(viewed, count, &blocks);
		CHECK_EQ(blocks, VIEWED - (VIEWED + 2) / 3);
		/* A damaged file is told by the check, not by a signal. */
		CHECK(ash_heap_view_check(viewed));
		word_put(offsetof(struct store, records_used), ~UINT64_C(0));
		CHECK(!ash_heap_view_check(viewed));
	}
	word_put(offsetof(struct store, format), 1);
	CHECK(ash_heap_view_file(viewed_fd, &why) == NULL && why == ASH_ATTACH_NO_HEAP);
	CHECK(ash_heap_view_file((int)arch_memfd_create("none", 0), &why) == NULL);
	CHECK_EQ(why, ASH_ATTACH_NO_HEAP);
	CHECK(ash_heap_view_file(-1, NULL) == NULL);
}

static void writes(UNUSED void *none)
{
	*(volatile char *)(uintptr_t)ash_heap_view_at(viewed, viewed_block[1].p) = 1;
}

TEST(view_is_read_only, 10)
{
	char text[256];

	viewed_make();
	viewed = ash_heap_view_file(viewed_fd, NULL);
	CHECK_EQ(rt_run_child(writes, NULL, text, sizeof text), 1000 + SIGSEGV_);
}
