/* SPDX-License-Identifier: MIT */
/* Heaps shared by processes that get more capacity while others work. */
/* promises: ash_heap_extend */
#include "store/file/store.h"

#include "backend/region.h"
#include "heaps/instance.h"
#include "support/blocks.h"
#include "support/handler_at_step.h"
#include "syscall.h"

enum { CHUNKS = 3, LIMIT = 150 };

static const struct ash_heap_options options = {.limit = LIMIT * CHUNK_SIZE};
static int fd;

static ash_heap *make(void)
{
	ash_heap *h;

	fd = (int)arch_memfd_create("extend", 0);
	h = NOT_NULL(ash_heap_create_file(fd, CHUNKS * CHUNK_SIZE, &options));
	return h;
}

static size_t fill(ash_heap *h)
{
	size_t n = 0;

	while (ash_heap_alloc(h, CHUNK_SIZE) != NULL)
		n++;
	return n;
}

static size_t reserved(ash_heap *h)
{
	return stats_of(h).reserved / CHUNK_SIZE;
}

TEST(extend_up_to_the_limit, 10)
{
	ash_heap *h = make();
	struct ash_block b;
	char *p;

	CHECK_EQ(reserved(h), CHUNKS);
	CHECK(ash_heap_alloc(h, (CHUNKS + 1) * CHUNK_SIZE) == NULL);
	CHECK_EQ(fill(h), CHUNKS);
	CHECK(ash_heap_extend(h, 0) && ash_heap_extend(h, CHUNKS * CHUNK_SIZE));
	CHECK_EQ(fill(h), 0);
	CHECK(ash_heap_extend(h, 70 * CHUNK_SIZE - 1));
	CHECK_EQ(reserved(h), 70);
	CHECK_EQ(region_dirty((struct run){heap_of(h)->regions, CHUNKS}, 70 - CHUNKS), 0);
	CHECK_EQ(ash_heap_check(h), 0);
	/* It reads zero, and is found. */
	p = ash_heap_zalloc(h, 1, 60 * CHUNK_SIZE);
	CHECK(p != NULL && p[0] == 0 && p[60 * CHUNK_SIZE - 1] == 0);
	CHECK_EQ(ash_find(p + 50 * CHUNK_SIZE, &b), ASH_TAKEN);
	CHECK(b.start == p && b.heap == h);
	CHECK_EQ(fill(h), 7);
	/* Beyond the limit nothing changes. */
	CHECK(!ash_heap_extend(h, LIMIT * CHUNK_SIZE + 1) && !ash_heap_extend(h, SIZE_MAX));
	CHECK_EQ(reserved(h), 70);
	CHECK(ash_heap_extend(h, LIMIT * CHUNK_SIZE));
	CHECK_EQ(fill(h), LIMIT - 70);
	CHECK(!ash_heap_extend(h, (LIMIT + 1) * CHUNK_SIZE));
	CHECK_EQ(ash_heap_check(h), 0);
	/* And is there when it is attached again. */
	ash_heap_destroy(h);
	h = ash_heap_attach_file(fd, NULL);
	CHECK(h != NULL && reserved(h) == LIMIT);
	ash_heap_release(h, p);
	CHECK_EQ(fill(h), 60);
	ash_heap_destroy(h);
}

TEST(extend_is_for_shared_heaps, 10)
{
	static char memory[1 << 16];
	ash_heap *h = ash_heap_create_shared(CHUNK_SIZE, &options);

	CHECK(ash_heap_extend(h, 2 * CHUNK_SIZE));
	CHECK_EQ(fill(h), 2);
	CHECK(!ash_heap_extend(ash_heap_create(NULL), CHUNK_SIZE));
	CHECK(!ash_heap_extend(ash_heap_create_in(memory, sizeof memory), CHUNK_SIZE));
	h = ash_heap_create_shared(2 * CHUNK_SIZE, NULL);
	CHECK(!ash_heap_extend(h, 3 * CHUNK_SIZE) && ash_heap_extend(h, 2 * CHUNK_SIZE));
	/* A limit below the capacity is none; without capacity there is no heap. */
	CHECK(ash_heap_create_shared(0, &options) == NULL);
}

/* A call that changes nothing leaves the file sealed. */
TEST(extend_refused_leaves_the_seal, 10)
{
	ash_heap *h = make();
	uint64_t seal;

	CHECK_EQ(ash_heap_sync(h), ASH_SYNC_SEALED);
	seal = ash_heap_seal(h);
	CHECK(seal != 0 && !ash_heap_extend(h, SIZE_MAX) && !ash_heap_extend(h, (LIMIT + 1) * CHUNK_SIZE));
	CHECK(ash_heap_extend(h, CHUNKS * CHUNK_SIZE) && ash_heap_extend(h, 0));
	CHECK_EQ(ash_heap_seal(h), seal);
	CHECK(ash_heap_extend(h, (CHUNKS + 1) * CHUNK_SIZE));
	CHECK_EQ(ash_heap_seal(h), 0);
}

/* A count of chunks that cannot be is refused. */
TEST(extend_forged_count, 10)
{
	static const size_t forged[] = {0, LIMIT + 1, SIZE_MAX, (size_t)1 << 32};
	long at = REGION_AT + offsetof(struct region, chunks);
	size_t n = LIMIT, i;
	enum ash_attach why;

	ash_heap_destroy(make());
	for (i = 0; i < sizeof forged / sizeof forged[0]; i++) {
		CHECK_EQ(arch_pwrite64(fd, &forged[i], 8, at), 8);
		CHECK(ash_heap_attach_file(fd, &why) == NULL && why == ASH_ATTACH_NO_HEAP);
	}
	/* One that can be costs only memory: these chunks are neither free nor in use. */
	CHECK_EQ(arch_pwrite64(fd, &n, 8, at), 8);
	CHECK(ash_heap_attach_file(fd, &why) != NULL);
}

/* Processes that extend and take at the same time get each chunk once, and all of them. */
TEST(extend_by_several_processes, 30)
{
	enum { WORKERS = 4 };
	unsigned long taken, *shared = rt_map_shared(4096);
	ash_heap *h = make();
	unsigned w;

	for (w = 0; w < WORKERS; w++)
		if (rt_fork() == 0) {
			size_t n;

			for (n = CHUNKS + w; n <= LIMIT; n += 1 + w) {
				if (w % 2 == 1) {
					ash_heap_destroy(h);
					h = NOT_NULL(ash_heap_attach_file(fd, NULL));
				}
				CHECK(ash_heap_extend(h, n * CHUNK_SIZE));
				__atomic_fetch_add(shared, fill(h), __ATOMIC_RELAXED);
			}
			rt_exit(0);
		}
	for (w = 0; w < WORKERS; w++) {
		int status;

		CHECK(rt_wait_any(&status) > 0 && status == 0);
	}
	CHECK(ash_heap_extend(h, LIMIT * CHUNK_SIZE));
	taken = *shared + fill(h);
	CHECK_EQ(taken, LIMIT);
	CHECK_EQ(ash_heap_check(h), 0);
}

/*
 * Another thread takes, writes and releases the new chunk, at each instruction of the call: it is not said to be
 * zero afterwards.
 */
static ash_heap *extended;
static bool soiled;

static void soil(void)
{
	char *p = ash_heap_alloc(extended, CHUNK_SIZE);

	soiled |= p != NULL;
	if (p != NULL)
		p[0] = 0x5b;
	ash_heap_release(extended, p);
}

DOES(do_extend, CHECK(ash_heap_extend(extended, (CHUNKS + 1) * CHUNK_SIZE)));

TEST(extend_beside_a_user_of_the_new_chunk, 20)
{
	struct region *r;
	size_t k, times = 0;
	bool more = true;
	char *p;

	extended = make();
	r = region_first(heap_of(extended));
	CHECK_EQ(fill(extended), CHUNKS);
	step_begin(soil);
	for (k = 0; more; k++) {
		soiled = false;
		more = with_act_at(k, do_extend);
		times += soiled;
		p = ash_heap_zalloc(extended, 1, CHUNK_SIZE);
		CHECK(p != NULL && p[0] == 0);
		ash_heap_release(extended, p);
		/* As if the chunk were not there yet. */
		bits_clear(r->free, CHUNKS, 1);
		bits_clear(r->clean, CHUNKS, 1);
		store_relaxed(&r->chunks, (size_t)CHUNKS);
	}
	CHECK(k > 20 && times > 1);
}
