/* SPDX-License-Identifier: MIT */
/*
 * Addresses beyond the 47 bits that the address map has: kernels with five levels of pages give them to who
 * asks for one (x86_64: la57).
 */
/* promises: ash_heap_create_in, ash_find, ash_heap_of, ash_heap_create_shared */
#include "ashlar_heap.h"
#include "ashlar_start.h"
#include "rt.h"
#include "syscall.h"

enum { BYTES = 4 << 20, THREAD_FLAGS = 0x3d0f00, FUTEX_WAIT = 0 };

static const int bits[] = {48, 51, 55};
enum { PLACES = sizeof(bits) / sizeof(bits[0]) };

static char *memory_at(int bit)
{
	uint64_t at = (uint64_t)1 << bit;
	long r = arch_mmap((void *)at, BYTES, 3, 0x22, -1, 0); /* NOLINT: an address */

	if (r < 0 || (uint64_t)r >> 47 == 0)
		rt_skip("this kernel has no addresses beyond 47 bits");
	return (char *)r; /* NOLINT: an address */
}

/* Nothing there is Ashlar's, and asking reads nothing. */
TEST(beyond_is_foreign, 10)
{
	struct ash_block b;

	ash_release(ash_alloc(100));
	for (unsigned i = 0; i < PLACES; i++) {
		char *p = memory_at(bits[i]);

		CHECK_EQ(ash_find(p, &b), ASH_FOREIGN);
		CHECK(ash_heap_of(p) == NULL);
		CHECK_EQ(arch_munmap(p, BYTES), 0);
		CHECK_EQ(ash_find(p, &b), ASH_FOREIGN);
	}
}

static void use(ash_heap *h, const char *memory)
{
	char *p[64];

	for (unsigned i = 0; i < 64; i++) {
		p[i] = ash_heap_alloc(h, 100 + i * 200);
		CHECK(p[i] >= memory && p[i] < memory + BYTES);
		memset(p[i], (int)i, 100 + i * 200);
		CHECK(ash_heap_of(p[i]) == h);
	}
	for (unsigned i = 0; i < 64; i++) {
		CHECK_EQ((unsigned char)p[i][99 + i * 200], i);
		if (i % 2 == 0)
			ash_heap_release(h, p[i]);
		else
			ash_release(p[i]);
	}
	CHECK_EQ(ash_heap_check(h), 0);
}

/* A heap in the caller's memory needs no map: it works at any address. */
TEST(beyond_heap_in_memory, 10)
{
	for (unsigned i = 0; i < PLACES; i++) {
		char *memory = memory_at(bits[i]);
		ash_heap *h = ash_heap_create_in(memory, BYTES);

		CHECK(h != NULL);
		use(h, memory);
		ash_heap_destroy(h);
		CHECK_EQ(arch_munmap(memory, BYTES), 0);
	}
}

/* Shared heaps need the map: such an address is refused. */
TEST(beyond_shared_heap_is_refused, 10)
{
	for (unsigned i = 0; i < PLACES; i++) {
		const struct ash_heap_options o = {.address = (uintptr_t)1 << bits[i]};

		(void)memory_at(bits[i]);
		CHECK(ash_heap_create_shared(16 * MIB, &o) == NULL);
	}
	CHECK_EQ(ash_check(), 0);
}

/* Private mappings stay below without a wish: many of them. */
TEST(beyond_own_memory_stays_below, 10)
{
	(void)memory_at(48);
	for (unsigned i = 0; i < 200; i++) {
		char *p = ash_alloc((size_t)1 << (10 + i % 20));

		CHECK(p != NULL && (uintptr_t)p >> 47 == 0);
		*p = 1;
	}
	CHECK_EQ(ash_check(), 0);
}

/* ---- a thread whose stack and thread-local storage are there ---- */

static _Atomic int running;

static void body(__attribute__((unused)) void *argument)
{
	void *p[300];

	CHECK((uintptr_t)p >> 47 != 0);
	for (unsigned round = 0; round < 10; round++) {
		for (unsigned i = 0; i < 300; i++) {
			p[i] = ash_alloc(i * 40 + 1);
			CHECK(p[i] != NULL);
			memset(p[i], (int)i, i * 40 + 1);
		}
		for (unsigned i = 0; i < 300; i++) {
			CHECK_EQ(*((unsigned char *)p[i] + i * 40), i % 256);
			ash_release(p[i]);
		}
	}
	ash_thread_detach();
	running = 2;
	for (;;)
		arch_exit(0);
}

TEST(beyond_thread, 30)
{
	struct ash_statistics st;

	for (unsigned i = 0; i < PLACES; i++) {
		char *memory = memory_at(bits[i]);
		int tid = 0;

		running = 1;
		CHECK(ashlar_tls_size() < BYTES / 2);
		CHECK(arch_clone(THREAD_FLAGS, memory + BYTES, &tid, &tid, ashlar_tls_init(memory), body, NULL) > 0);
		while (running != 2)
			rt_yield();
	}
	CHECK_EQ(ash_check(), 0);
	ash_stats(&st);
	CHECK_EQ(st.blocks, 0);
}
