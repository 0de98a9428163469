/* SPDX-License-Identifier: MIT */
/*
 * libashlar-asan.a: the library, for tests of programs.  AddressSanitizer and valgrind's memcheck are told which
 * memory the default heap has, and which bytes of it are in live blocks: those that were asked for, not those to
 * which a size is rounded up.  The library itself is that of libashlar.a, to the byte: the public calls are renamed
 * to plain_..., and those here stand before them.  See tools/RECIPES.md.
 *
 *   memory reserved    all poisoned     (by the thread that reserves it, before others can take any of it)
 *   block given        the bytes asked for are not
 *   block released     all poisoned     (before the plain call, as another thread may have it next)
 *   memory unmapped    not poisoned     (as others may map it next)
 *
 * MemorySanitizer is told which bytes of blocks nobody has written (shadow.c).
 *
 * ash_resize always moves the block, so that old pointers are found.  There is no quarantine: memory that was
 * released is known as such until it is a block again.  Heaps as objects are not told of.
 */
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_DISABLE_ERROR_REPORTING
#define VALGRIND_ENABLE_ERROR_REPORTING
#define VALGRIND_MALLOCLIKE_BLOCK(p, size, zone, zero)
#define VALGRIND_RESIZEINPLACE_BLOCK(p, old, size, zone)
#define VALGRIND_FREELIKE_BLOCK(p, zone)
#define VALGRIND_MAKE_MEM_NOACCESS(p, size)
#define VALGRIND_CHECK_MEM_IS_ADDRESSABLE(p, size) 0
#define VALGRIND_PRINTF_BACKTRACE(text)
#endif

#include "ashlar.h"
#include "backend/region.h"
#include "pages.h"
#include "shadow.h"

/* The sanitizer's runtime, if the program is linked with it. */
#define WEAK __attribute__((weak))
extern WEAK void __asan_poison_memory_region(const volatile void *, size_t);
extern WEAK void __asan_unpoison_memory_region(const volatile void *, size_t);
extern WEAK void *__asan_region_is_poisoned(void *, size_t);
extern WEAK void __sanitizer_print_stack_trace(void);

/* What the plain call does with free memory is its own affair. */
#define PLAIN(...)                                                                                 \
	do {                                                                                       \
		VALGRIND_DISABLE_ERROR_REPORTING;                                                  \
		__VA_ARGS__;                                                                       \
		VALGRIND_ENABLE_ERROR_REPORTING;                                                   \
	} while (0)

extern void *plain_alloc(size_t size);
extern void *plain_zalloc(size_t count, size_t size);
extern void *plain_aligned_alloc(size_t alignment, size_t size);
extern void *plain_aligned_zalloc(size_t alignment, size_t size);
extern size_t plain_expand(void *p, size_t size);
extern void plain_release(void *p);
extern void plain_release_sized(void *p, size_t size);
extern void plain_release_aligned_sized(void *p, size_t alignment, size_t size);
extern size_t plain_usable_size(const void *p);
extern size_t plain_trim(size_t keep);
extern size_t plain_trim_step(size_t budget);
extern void plain_thread_detach(void);

static void poison(void *p, size_t size)
{
	if (__asan_poison_memory_region != NULL)
		__asan_poison_memory_region(p, size);
	VALGRIND_MAKE_MEM_NOACCESS(p, size);
}

static void unpoison(void *p, size_t size)
{
	if (__asan_unpoison_memory_region != NULL)
		__asan_unpoison_memory_region(p, size);
}

/* ---- misuse ---- */

/* The stack stands above Ashlar's line. */
extern _Noreturn void __real_panic_line(const char *line, size_t length);
_Noreturn void __wrap_panic_line(const char *line, size_t length);
_Noreturn void __wrap_panic_line(const char *line, size_t length)
{
	VALGRIND_ENABLE_ERROR_REPORTING;
	VALGRIND_PRINTF_BACKTRACE("misuse of Ashlar\n");
	if (__sanitizer_print_stack_trace != NULL)
		__sanitizer_print_stack_trace();
	__real_panic_line(line, length);
}

/* ---- memory ---- */

static _Thread_local bool reserves; /* for the default heap's blocks */

extern struct region *__real_region_create(struct heap *h, const struct region_plan *plan);
struct region *__wrap_region_create(struct heap *h, const struct region_plan *plan);
struct region *__wrap_region_create(struct heap *h, const struct region_plan *plan)
{
	struct region *r;

	reserves = h == &heap_default;
	r = __real_region_create(h, plan);
	reserves = false;
	return r;
}

extern void *__real_pages_reserve(size_t bytes, size_t alignment, enum sharing sharing);
void *__wrap_pages_reserve(size_t bytes, size_t alignment, enum sharing sharing);
void *__wrap_pages_reserve(size_t bytes, size_t alignment, enum sharing sharing)
{
	void *p = __real_pages_reserve(bytes, alignment, sharing);

	/* The first of a region is its blocks', the second its records'. */
	if (p != NULL && reserves)
		poison(p, bytes);
	reserves = false;
	return p;
}

extern bool __real_pages_release(void *p, size_t bytes);
bool __wrap_pages_release(void *p, size_t bytes);
bool __wrap_pages_release(void *p, size_t bytes)
{
	unpoison(p, bytes);
	shadow_written(p, bytes);
	return __real_pages_release(p, bytes);
}

extern bool __real_pages_cut(void *p, size_t bytes);
bool __wrap_pages_cut(void *p, size_t bytes);
bool __wrap_pages_cut(void *p, size_t bytes)
{
	unpoison(p, bytes);
	shadow_written(p, bytes);
	return __real_pages_cut(p, bytes);
}

/* ---- blocks ---- */

/* The usable bytes of a live block of the default heap; 0: p is none, which the plain call reports. */
static size_t usable(const void *p)
{
	struct ash_block b = {.place = ASH_FOREIGN};

	PLAIN((void)ash_find(p, &b));
	return b.place == ASH_TAKEN && b.start == p && b.heap == NULL ? b.size : 0;
}

static void *given(void *p, size_t size, bool zero)
{
	if (p == NULL)
		return NULL;
	unpoison(p, size);
	if (shadow_is_there())
		shadow_unwritten(p, usable(p));
	if (zero)
		shadow_written(p, size);
	VALGRIND_MALLOCLIKE_BLOCK(p, size, 0, zero);
	return p;
}

/* The bytes of it that were asked for. */
static size_t asked(void *p, size_t size)
{
	char *end = NULL;

	if (__asan_region_is_poisoned != NULL)
		end = __asan_region_is_poisoned(p, size);
	if (end == NULL)
		PLAIN(end = (char *)VALGRIND_CHECK_MEM_IS_ADDRESSABLE(p, size)); /* NOLINT: an address */
	return end != NULL ? (size_t)(end - (char *)p) : size;
}

static void taken(void *p)
{
	size_t size = p == NULL ? 0 : usable(p);

	if (size == 0)
		return;
	VALGRIND_FREELIKE_BLOCK(p, 0);
	poison(p, size);
	shadow_unwritten(p, size);
}

void *ash_alloc(size_t size)
{
	void *p;

	PLAIN(p = plain_alloc(size));
	return given(p, size, false);
}

void *ash_zalloc(size_t count, size_t size)
{
	void *p;

	PLAIN(p = plain_zalloc(count, size));
	return given(p, count * size, true);
}

void *ash_aligned_alloc(size_t alignment, size_t size)
{
	void *p;

	PLAIN(p = plain_aligned_alloc(alignment, size));
	return given(p, size, false);
}

void *ash_aligned_zalloc(size_t alignment, size_t size)
{
	void *p;

	PLAIN(p = plain_aligned_zalloc(alignment, size));
	return given(p, size, true);
}

void ash_release(void *p)
{
	taken(p);
	PLAIN(plain_release(p));
}

void ash_release_sized(void *p, size_t size)
{
	taken(p);
	PLAIN(plain_release_sized(p, size));
}

void ash_release_aligned_sized(void *p, size_t alignment, size_t size)
{
	taken(p);
	PLAIN(plain_release_aligned_sized(p, alignment, size));
}

extern void *plain_aligned_resize(void *p, size_t alignment, size_t size);
extern void *plain_resize(void *p, size_t size);

/* Moves the block to the new one, if there is one. */
static void *moved(void *p, size_t old, void *new, size_t size)
{
	if (new == NULL)
		return NULL;
	old = asked(p, old);
	shadow_copy(new, p, old < size ? old : size);
	ash_release(p);
	return new;
}

/* Of a block of another heap that was resized the bytes are known no more: all count as written. */
static void *written(void *p)
{
	if (p != NULL)
		shadow_written(p, plain_usable_size(p));
	return p;
}

void *ash_resize(void *p, size_t size)
{
	size_t old = p == NULL ? 0 : usable(p);

	if (old != 0)
		return moved(p, old, ash_alloc(size), size);
	return p == NULL ? ash_alloc(size) : written(plain_resize(p, size)); /* of another heap, or misuse */
}

void *ash_aligned_resize(void *p, size_t alignment, size_t size)
{
	size_t old = p == NULL ? 0 : usable(p);

	if (old != 0)
		return moved(p, old, ash_aligned_alloc(alignment, size), size);
	return p == NULL ? ash_aligned_alloc(alignment, size) : written(plain_aligned_resize(p, alignment, size));
}

/* In its place; had: the bytes that were asked for until now, which memcheck compares. */
static void resized(void *p, size_t had, size_t size)
{
	unpoison(p, size);
	if (size > had)
		shadow_unwritten((char *)p + had, size - had);
	VALGRIND_RESIZEINPLACE_BLOCK(p, had, size, 0);
}

size_t ash_expand(void *p, size_t size)
{
	size_t old = p == NULL ? 0 : usable(p), had, now;

	if (old == 0)
		return plain_expand(p, size);
	size += size == 0; /* to memcheck a block of no bytes is none */
	had = asked(p, old);
	/* Pages behind it may be another thread's afterwards. */
	if (size < old)
		poison((char *)p + size, old - size);
	PLAIN(now = plain_expand(p, size));
	if (now != 0)
		resized(p, had, size);
	return now;
}

/* All of this may be used from now on. */
size_t ash_usable_size(const void *p)
{
	void *block = (void *)(uintptr_t)p; /* NOLINT: an address */
	size_t size;

	PLAIN(size = plain_usable_size(p));
	if (p != NULL && usable(p) != 0)
		resized(block, asked(block, size), size);
	return size;
}

size_t ash_trim(size_t keep)
{
	size_t bytes;

	PLAIN(bytes = plain_trim(keep));
	return bytes;
}

size_t ash_trim_step(size_t budget)
{
	size_t left;

	PLAIN(left = plain_trim_step(budget));
	return left;
}

void ash_thread_detach(void)
{
	PLAIN(plain_thread_detach());
}
