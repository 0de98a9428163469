/* SPDX-License-Identifier: MIT */
/*
 * For MemorySanitizer, which does not see what the library writes: memory that it hands out as zero, that it copies
 * blocks to, and that it fills with figures was perhaps marked as unwritten when it was something else.  Heaps as objects
 * are told of where they promise contents; blocks of the default heap that nobody wrote are marked besides (annotate.c).
 * Calls with results in memory that are not here (views, `why`) want __msan_unpoison in the program.
 */
#include "shadow.h"

#include "ashlar.h"
#include "ashlar_heap.h"
#include "ashlar_heap_slots.h"
#include "memory.h"

#define WEAK __attribute__((weak))
extern WEAK void __msan_poison(const volatile void *, size_t);
extern WEAK void __msan_unpoison(const volatile void *, size_t);
extern WEAK void *__msan_memcpy(void *, const void *, size_t);

bool shadow_is_there(void)
{
	return __msan_poison != NULL && __msan_unpoison != NULL && __msan_memcpy != NULL;
}

void shadow_written(void *p, size_t size)
{
	if (shadow_is_there())
		__msan_unpoison(p, size);
}

void shadow_unwritten(void *p, size_t size)
{
	if (shadow_is_there())
		__msan_poison(p, size);
}

void shadow_copy(void *to, const void *from, size_t size)
{
	if (shadow_is_there())
		(void)__msan_memcpy(to, from, size);
	else
		memcpy(to, from, size);
}

/* ---- heaps as objects ---- */

extern void *plain_heap_zalloc(ash_heap *heap, size_t count, size_t size);
extern void *plain_heap_aligned_zalloc(ash_heap *heap, size_t alignment, size_t size);
extern void *plain_heap_alloc_into(ash_heap *heap, size_t size, void *slot, enum ash_slot *why);
extern void *plain_heap_resize(ash_heap *heap, void *p, size_t size);
extern void *plain_heap_aligned_resize(ash_heap *heap, void *p, size_t alignment, size_t size);
extern void plain_heap_stats(ash_heap *heap, struct ash_statistics *out);
extern int plain_heap_walk(ash_heap *heap,
			   int (*visit)(void *context, void *block, size_t size, const struct ash_heap_owner *owner),
			   void *context);

static void *heap_written(void *p, size_t size)
{
	if (p != NULL)
		shadow_written(p, size);
	return p;
}

void *ash_heap_zalloc(ash_heap *heap, size_t count, size_t size)
{
	return heap_written(plain_heap_zalloc(heap, count, size), count * size);
}

void *ash_heap_aligned_zalloc(ash_heap *heap, size_t alignment, size_t size)
{
	return heap_written(plain_heap_aligned_zalloc(heap, alignment, size), size);
}

void *ash_heap_alloc_into(ash_heap *heap, size_t size, void *slot, enum ash_slot *why)
{
	if (why != NULL)
		shadow_written(why, sizeof *why);
	return heap_written(plain_heap_alloc_into(heap, size, slot, why), size);
}

/* The old bytes are known no more: all count as written. */
void *ash_heap_resize(ash_heap *heap, void *p, size_t size)
{
	return heap_written(plain_heap_resize(heap, p, size), size);
}

void *ash_heap_aligned_resize(ash_heap *heap, void *p, size_t alignment, size_t size)
{
	return heap_written(plain_heap_aligned_resize(heap, p, alignment, size), size);
}

void ash_heap_stats(ash_heap *heap, struct ash_statistics *out)
{
	plain_heap_stats(heap, out);
	shadow_written(out, sizeof *out);
}

/* What the program's function is called with lies on a stack. */
struct walk {
	int (*visit)(void *context, void *block, size_t size, const struct ash_heap_owner *owner);
	void *context;
};

static int walk_visit(void *context, void *block, size_t size, const struct ash_heap_owner *owner)
{
	const struct walk *w = context;
	struct ash_heap_owner known = *owner;

	shadow_written(&known, sizeof known);
	return w->visit(w->context, block, size, &known);
}

int ash_heap_walk(ash_heap *heap,
		  int (*visit)(void *context, void *block, size_t size, const struct ash_heap_owner *owner),
		  void *context)
{
	struct walk w = {visit, context};

	return plain_heap_walk(heap, walk_visit, &w);
}

/* ---- figures ---- */

extern enum ash_place plain_find(const void *p, struct ash_block *out);
extern void plain_stats(struct ash_statistics *out);
extern int plain_stats_class(unsigned row, struct ash_class *out);
extern void plain_stats_threads(void (*row)(void *context, const struct ash_thread_stats *figures), void *context);

enum ash_place ash_find(const void *p, struct ash_block *out)
{
	enum ash_place place = plain_find(p, out);

	shadow_written(out, sizeof *out);
	return place;
}

void ash_stats(struct ash_statistics *out)
{
	plain_stats(out);
	shadow_written(out, sizeof *out);
}

int ash_stats_class(unsigned row, struct ash_class *out)
{
	int is = plain_stats_class(row, out);

	shadow_written(out, sizeof *out);
	return is;
}

struct threads {
	void (*row)(void *context, const struct ash_thread_stats *figures);
	void *context;
};

static void threads_row(void *context, const struct ash_thread_stats *figures)
{
	const struct threads *t = context;
	struct ash_thread_stats known = *figures;

	shadow_written(&known, sizeof known);
	t->row(t->context, &known);
}

void ash_stats_threads(void (*row)(void *context, const struct ash_thread_stats *figures), void *context)
{
	struct threads t = {row, context};

	plain_stats_threads(threads_row, &t);
}
