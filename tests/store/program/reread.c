/* SPDX-License-Identifier: MIT */
/*
 * Attaching to a file that is read otherwise than in one go: reads that are short, that fail
 * once, and a file that changes between two reads.
 */
/* promises: ash_heap_attach_file */

#include "heaps/instance.h"
#include "store/file/store.h"
#include "support/blocks.h"
#include "support/wrap.h"
#include "syscall.h"

enum { CAPACITY = 8 << 20, BLOCKS = 40, EIO = 5 };

static size_t most = SIZE_MAX; /* bytes that a read gives */
static size_t reads, fails_at, head_reads;
static long failure;
static bool changes; /* the head, from its second reading on */

WRAP(long, arch_pread64, (long fd, void *bytes, size_t length, long offset))
{
	long n;

	if (++reads == fails_at)
		return failure;
	n = __real_arch_pread64(fd, bytes, length < most ? length : most, offset);
	/* A word of the head that is read again where it is used. */
	if (changes && n == sizeof(uint64_t) && offset == offsetof(struct store, records_used) && ++head_reads > 0)
		*(uint64_t *)bytes = (uint64_t)1 << 40;
	return n;
}

static int made(void)
{
	int fd = (int)arch_memfd_create("reread", 0);
	ash_heap *heap = NOT_NULL(ash_heap_create_file(fd, CAPACITY, NULL));

	for (size_t i = 0; i < BLOCKS; i++)
		CHECK(ash_heap_alloc(heap, i < 20 ? 300 : 3000) != NULL);
	ash_heap_thread_detach(heap);
	ash_heap_destroy(heap);
	reads = 0;
	return fd;
}

static bool attaches(int fd, enum ash_attach *why)
{
	ash_heap *heap = ash_heap_attach_file(fd, why);

	if (heap == NULL)
		return false;
	CHECK_EQ(*why, ASH_ATTACHED);
	CHECK_EQ(stats_of(heap).blocks, BLOCKS);
	CHECK_EQ(ash_heap_check(heap), 0);
	ash_heap_destroy(heap);
	return true;
}

/* What one read did not give the next one gives, and not a byte more is written. */
TEST(reread_after_short_reads, 20)
{
	static const size_t lengths[] = {7, 100, 1000, 4096};
	enum ash_attach why;
	int fd = made();

	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		most = lengths[i];
		CHECK(attaches(fd, &why));
	}
}

/*
 * One read fails: there is a heap or a reason, and one that fails when words are compared
 * for the first time (a heap that others change looks wrong then) is no reason.
 */
TEST(reread_after_a_failure, 20)
{
	size_t all, k, refused = 0;
	enum ash_attach why;
	int fd = made();

	CHECK(attaches(fd, &why));
	all = reads;
	failure = -EIO;
	for (k = 1; k <= all; k++) {
		reads = 0;
		fails_at = k;
		if (!attaches(fd, &why)) {
			CHECK(why != ASH_ATTACHED);
			refused++;
		}
	}
	rt_print("     %zu reads, %zu of them are needed\n", all, refused);
	/* Before it and after: the claim, head and region, the census. */
	CHECK(all > 12 && refused <= 4);
}

TEST(reread_of_a_head_that_changes, 20)
{
	enum ash_attach why;
	int fd = made();

	changes = true;
	CHECK(!attaches(fd, &why));
	CHECK_EQ(why, ASH_ATTACH_NO_HEAP);
	CHECK(head_reads >= 1);
	changes = false;
	CHECK(attaches(fd, &why));
}
