/* SPDX-License-Identifier: MIT */
/* The stack that calls on heaps in files use, as ashlar_heap_file.h says: handlers and threads may have little. */
#include "ashlar_heap.h"
#include "pages.h"
#include "rt.h"
#include "support/stack.h"
#include "syscall.h"

static ash_heap *heap;
static ash_heap_view *view;
static int fd;
static void **slots;

static int see(UNUSED void *context, UNUSED void *block, UNUSED size_t size, UNUSED const struct ash_heap_owner *owner)
{
	return 0;
}

static int look(UNUSED void *context, UNUSED const void *block, UNUSED size_t size, UNUSED const struct ash_heap_owner *owner)
{
	return 0;
}

static void blocks(void)
{
	for (size_t size = 1; size < (size_t)5 << 20; size *= 3)
		ash_heap_release(heap, ash_heap_resize(heap, ash_heap_alloc_tagged(heap, size, 1), 2 * size));
}

static void publishes(void)
{
	CHECK_EQ(ash_heap_bind(heap, "name", ash_heap_draft(heap, 100)), ASH_SLOT_DONE);
	CHECK(ash_heap_alloc_into(heap, 100, slots, NULL) != NULL);
	CHECK_EQ(ash_heap_release_from(heap, slots), ASH_SLOT_DONE);
}

static void upkeep(void)
{
	(void)ash_heap_walk(heap, see, NULL);
	CHECK_EQ(ash_heap_check(heap), 0);
	(void)ash_heap_recover(heap);
	(void)ash_heap_trim(heap, 0);
	CHECK(ash_heap_extend(heap, 40 * MIB));
	(void)ash_heap_sync(heap);
}

static void create(void)
{
	static const struct ash_heap_options options = {.limit = 64 * MIB};

	CHECK((heap = ash_heap_create_file(fd, 32 * MIB, &options)) != NULL);
}

DOES(attach, CHECK((heap = ash_heap_attach_file(fd, NULL)) != NULL));

static void views(void)
{
	CHECK((view = ash_heap_view_file(fd, NULL)) != NULL);
	CHECK(ash_heap_view_check(view));
	(void)ash_heap_view_walk(view, look, NULL);
	ash_heap_view_close(view);
}

/* A process that leaves blocks of all kinds, and ends in the middle. */
static void ends(void)
{
	slots = ash_heap_zalloc(heap, 100, sizeof *slots);
	ash_heap_set_root(heap, slots);
	for (unsigned i = 0; i < 3000; i++)
		(void)ash_heap_alloc_into(heap, i % 500 == 0 ? 2 * MIB : i, &slots[i % 100], NULL);
	(void)ash_heap_draft_tagged(heap, 100, 7);
	rt_exit(0);
}

TEST(stack_of_calls_on_files, 20)
{
	size_t creating, attaching, looking, most, n;

	fd = (int)arch_memfd_create("stack", 0);
	creating = stack_of(create);
	IN_CHILD
		ends();
	looking = stack_of(views);
	ash_heap_destroy(heap);
	attaching = stack_of(attach);
	slots = ash_heap_root(heap);
	for (n = 0; n < 100; n++)
		(void)ash_heap_release_from(heap, &slots[n]);
	most = stack_of(blocks);
	n = stack_of(publishes);
	most = n > most ? n : most;
	n = stack_of(upkeep);
	most = n > most ? n : most;
	rt_print("     %zu bytes to create, %zu to attach, %zu to look, %zu for other calls\n", creating, attaching,
		 looking, most);
	CHECK(creating <= 12288 && attaching <= 20480 && looking <= 20480);
	CHECK(most <= (PAGE_MOST > 4096 ? 12288 : 6144));
}
