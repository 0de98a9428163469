/* SPDX-License-Identifier: MIT */
/*
 * libashlar-field.a on a CPU of 32 bits, without any runtime; tests/check/field.sh has the
 * start, the three system calls and the threads.
 */
#include <stddef.h>
#include <stdint.h>

#include "ashlar_heap.h"

void say(const char *text, size_t length);
_Noreturn void leave(int status);
void pause_here(void);
void thread_start(void (*body)(void *), void *argument, void *stack_top);
_Noreturn void begin(void);

static void check(bool right, const char *what)
{
	size_t n = 0;

	if (right)
		return;
	while (what[n] != '\0')
		n++;
	say(what, n);
	say("\n", 1);
	leave(1);
}
#define TEXT(x)	 #x
#define LINE(x)	 TEXT(x)
#define CHECK(x) check((x), "line " LINE(__LINE__) ": " #x)

static uint32_t next(uint32_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 17;
	*random ^= *random << 5;
	return *random;
}

/* Random blocks, each filled with a byte of its own, which must still be there at its end. */
enum { BLOCKS = 64, THREADS = 3 };
static ash_heap *heap;

static void work(uint32_t random, unsigned rounds)
{
	struct {
		unsigned char *p;
		size_t size;
	} block[BLOCKS] = {{NULL, 0}};
	unsigned char key = (unsigned char)random;
	size_t i;

	while (rounds-- > 0) {
		size_t b = next(&random) % BLOCKS, size = next(&random) % 400;
		unsigned char *p = block[b].p;

		if (p == NULL) {
			p = rounds % 8 == 0   ? ash_heap_aligned_alloc(heap, 64, size)
			    : rounds % 8 == 1 ? ash_heap_zalloc(heap, size, 1)
					      : ash_heap_alloc(heap, size);
			for (i = 0; rounds % 8 == 1 && p != NULL && i < size; i++)
				CHECK(p[i] == 0);
		} else if (rounds % 2 == 0) {
			unsigned char *moved = ash_heap_resize(heap, p, size);

			p = moved != NULL ? moved : p;
			if (moved == NULL)
				size = block[b].size;
		} else {
			for (i = 0; i < block[b].size; i++)
				CHECK(p[i] == (unsigned char)(key + b));
			ash_heap_release(heap, p);
			p = NULL;
		}
		block[b].p = p;
		block[b].size = size;
		for (i = 0; p != NULL && i < size; i++)
			p[i] = (unsigned char)(key + b);
	}
	for (i = 0; i < BLOCKS; i++)
		ash_heap_release(heap, block[i].p);
}

static unsigned ended;

static void thread(void *seed)
{
	work((uint32_t)(uintptr_t)seed, 20000);
	__atomic_fetch_add(&ended, 1, __ATOMIC_RELEASE);
}

static int count(void *context, void *block, size_t size, const struct ash_heap_owner *owner)
{
	(void)block, (void)size, (void)owner;
	++*(unsigned *)context;
	return 0;
}

/* The line of misuse, which must be this one; then the program ends well. */
static char expected[] = "ashlar: ash_heap_release(0x";
static bool misusing;

void ash_on_misuse(const char *line)
{
	static const char fault[] = "): interior pointer, 112-byte block at 0x";
	size_t i, k;

	CHECK(misusing);
	for (i = 0; expected[i] != '\0'; i++)
		CHECK(line[i] == expected[i]);
	while (line[i] != ')')
		i++;
	for (k = 0; fault[k] != '\0'; k++)
		CHECK(line[i + k] == fault[k]);
	say("ok\n", 3);
	leave(0);
}

void begin(void)
{
	static char memory[64 << 10] __attribute__((aligned(16))), stack[THREADS][16 << 10] __attribute__((aligned(16)));
	struct ash_statistics st;
	unsigned blocks = 0, i;
	char *p;

	CHECK(sizeof(void *) == 4);
	CHECK(ash_heap_create_in(memory, 1023) == NULL);
	CHECK(ash_heap_create_in(memory + 3, 1024) != NULL);
	heap = ash_heap_create_in(memory + 1, sizeof memory - 1);
	ash_heap_stats(heap, &st);
	CHECK(st.reserved >= sizeof memory / 40 * 39 - 256);
	CHECK(ash_heap_alloc(heap, st.reserved + 1) == NULL);
	CHECK(ash_heap_alloc(heap, SIZE_MAX) == NULL && ash_heap_zalloc(heap, 65537, 65537) == NULL);
	while ((p = ash_heap_alloc(heap, 16)) != NULL) {
		CHECK((uintptr_t)p % 16 == 0);
		blocks++;
	}
	CHECK(blocks == st.reserved / 16);
	blocks = 0;
	CHECK(ash_heap_walk(heap, count, &blocks) == 0 && blocks == st.reserved / 16);
	CHECK(ash_heap_check(heap) == 0);

	/* The example of tools/RECIPES.md. */
	heap = ash_heap_create_in(memory, 20 << 10);
	for (blocks = 0; ash_heap_alloc(heap, 100) != NULL; blocks++)
		;
	CHECK(blocks == 178);

	heap = ash_heap_create_in(memory, sizeof memory);
	work(7, 50000);
	for (i = 0; i < THREADS; i++)
		thread_start(thread, (void *)(uintptr_t)(i + 11), stack[i] + sizeof stack[i]);
	while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) < THREADS) {
		CHECK(ash_heap_check(heap) == 0);
		pause_here();
	}
	ash_heap_stats(heap, &st);
	CHECK(st.blocks == 0 && st.dirty == st.reserved);
	p = ash_heap_alloc(heap, st.reserved);
	CHECK(p != NULL && ash_heap_check(heap) == 0);
	ash_heap_release(heap, p);

	p = ash_heap_alloc(heap, 100);
	misusing = true;
	ash_heap_release(heap, p + 32);
	leave(2);
}
