/* SPDX-License-Identifier: MIT */
/* Which records are rebuilt when a process attaches (store/file/open.h), and what the kernel says of a mapping (mapping.h). */
#include "store/file/open.h"

#include "heaps/instance.h"
#include "store/process/mapping.h"
#include "process.h"
#include "rt.h"
#include "store/process/share.h"
#include "heaps/seats.h"
#include "syscall.h"

enum { CAPACITY = 8 << 20, PROT_BOTH = 3, MAP_SHARED_AT = 0x100001 };

static int fd;
static ash_heap *heap;
static struct store *s;

static uint64_t here(const void *p)
{
	return mapping_at(process_thread(), process_thread(), (uintptr_t)p);
}

TEST(reattach_mappings, 10)
{
	char *at = (char *)((uintptr_t)1 << 45); /* NOLINT: an address that is free */
	int one = (int)arch_memfd_create("one", 0), other = (int)arch_memfd_create("other", 0);
	uint64_t mine, thread = process_thread();
	long pid;

	CHECK(arch_ftruncate(one, 1 << 21) == 0 && arch_ftruncate(other, 1 << 21) == 0);
	CHECK_EQ(arch_mmap(at, 1 << 21, PROT_BOTH, MAP_SHARED_AT, one, 0), (long)(uintptr_t)at);
	mine = here(at);
	if (mine <= MAPPING_NONE)
		rt_skip("mappings cannot be read, or are an emulator's");
	CHECK_EQ(here(at + 4096), MAPPING_NONE);
	CHECK_EQ(here(at), mine);
	/* Split, so that the line has another end. */
	CHECK_EQ(arch_mprotect(at + (1 << 20), 4096, 1), 0);
	CHECK_EQ(here(at), mine);
	pid = rt_fork();
	if (pid == 0) {
		CHECK(here(at) == mine && mapping_at(thread, thread, (uintptr_t)at) == mine);
		CHECK_EQ(arch_munmap(at, 1 << 21), 0);
		CHECK_EQ(here(at), MAPPING_NONE);
		CHECK_EQ(arch_mmap(at, 1 << 21, PROT_BOTH, MAP_SHARED_AT, other, 0), (long)(uintptr_t)at);
		CHECK(here(at) > MAPPING_NONE && here(at) != mine);
		/* Another part of the same file is not the same mapping. */
		CHECK_EQ(arch_munmap(at, 1 << 21), 0);
		CHECK_EQ(arch_mmap(at, 1 << 20, PROT_BOTH, MAP_SHARED_AT, one, 1 << 20), (long)(uintptr_t)at);
		CHECK(here(at) > MAPPING_NONE && here(at) != mine);
		rt_exit(0);
	}
	CHECK_EQ(rt_wait(pid), 0);
	/* A thread that is no more, and a process that does not have the thread. */
	CHECK_EQ(mapping_at((uint64_t)pid, (uint64_t)pid, (uintptr_t)at), MAPPING_UNKNOWN);
	CHECK_EQ(mapping_at((uint64_t)arch_getppid(), thread, (uintptr_t)at), MAPPING_UNKNOWN);
}

DOES(takes_a_record, CHECK(ash_heap_alloc(heap, 300) != NULL && ash_heap_alloc(heap, 3000) != NULL));

/* Two processes, one of them beside the other, leave their records vacant, with slabs.  The one that is taken last. */
static struct owner *leave_vacant(void)
{
	struct owner *o, *last = NULL;
	long pid = rt_fork();

	if (pid == 0) {
		takes_a_record();
		pid = rt_fork();
		if (pid == 0)
			takes_a_record();
		else
			CHECK_EQ(rt_wait(pid), 0);
		ash_heap_thread_detach(heap);
		rt_exit(0);
	}
	CHECK_EQ(rt_wait(pid), 0);
	for (o = s->heap.owners; o != NULL; o = o->next)
		if (o->state == OWNER_VACANT)
			last = NOT_NULL(o);
	return last;
}

static void open_heap(void)
{
	fd = (int)arch_memfd_create("heap", 0);
	heap = ash_heap_create_file(fd, CAPACITY, NULL);
	CHECK(heap != NULL && ash_heap_alloc(heap, 100) != NULL);
	s = store_of(heap_of(heap));
}

/* A process attaches.  Returns how much it changed the count of the record o. */
static uint64_t attaches(const struct owner *o, uint64_t before)
{
	uint64_t *told = rt_map_shared(4096);
	IN_CHILD {
		if (heap != NULL)
			ash_heap_destroy(heap);
		heap = NOT_NULL(ash_heap_attach_file(fd, NULL));
		*told = o->building;
		CHECK(ash_heap_check(heap) == 0 && ash_heap_alloc(heap, 300) != NULL);
	}
	return *told - before;
}

TEST(reattach_beside_the_living, 10)
{
	struct owner *o;

	open_heap();
	if (here(s) <= MAPPING_NONE)
		rt_skip("mappings cannot be read, or are an emulator's");
	o = leave_vacant();
	CHECK_EQ(attaches(o, o->building), 0); /* this process rebuilt it, or was there first */
	ash_heap_thread_detach(heap);
	CHECK(attaches(o, o->building) > 0);
}

/* A state of the file that is written back when the process that it names lives, and has left it. */
TEST(reattach_to_what_was_written_back, 10)
{
	static struct bin right[CLASSES];
	struct owner *o;
	size_t bytes, n;
	char *image;
	void *at;

	open_heap();
	at = s;
	o = leave_vacant();
	bytes = s->bytes;
	image = rt_map_shared(bytes);
	memcpy(right, o->bins, sizeof right);
	memset(o->bins, 0x5b, sizeof right);
	memcpy(image, s, bytes);
	memcpy(o->bins, right, sizeof right);
	ash_heap_destroy(heap);
	heap = NULL;
	for (n = 0; n < bytes; n += 4096)
		CHECK_EQ(arch_pwrite64(fd, image + n, 4096, (long)n), 4096);
	CHECK(attaches(o, ((const struct owner *)(void *)(image + ((char *)o - (char *)at)))->building) > 0);
}
