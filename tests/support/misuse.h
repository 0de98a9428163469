/* SPDX-License-Identifier: MIT */
/*
 * One misuse, one test.  A maker prepares a bad pointer and says what must be
 * written of it; each maker becomes one test for each function that takes a
 * pointer.  The call is made in a child, which must write exactly the line
 *     ashlar: function(0xpointer): fault
 * and end with SIGABRT or, where the library has no system to ask, with SIGILL.
 */
#ifndef TESTS_SUPPORT_MISUSE_H
#define TESTS_SUPPORT_MISUSE_H

#include "ashlar_heap.h"
#include "rt.h"

struct bad {
	void *p;
	const char *gone; /* how this function names a block that was released */
	char fault[160];
};

struct misuse_case {
	const char *call;
	void (*use)(void *);
	void (*make)(struct bad *);
};

/* What is done with a pointer, in one statement; it is misuse, so that no answer comes: USE(name, p, statement); */
#define USE(name, pointer, ...)                                                                    \
	static inline void name(UNUSED void *pointer)                                              \
	{                                                                                          \
		__VA_ARGS__;                                                                       \
	}                                                                                          \
	_Static_assert(true, "a semicolon follows")

USE(use_release, p, ash_release(p));
USE(use_release_sized, p, ash_release_sized(p, 1));
USE(use_resize, p, CHECK(ash_resize(p, 50) == NULL));
USE(use_usable_size, p, CHECK(ash_usable_size(p) == 0));

/* Defined by the tests of such a library. */
extern const char misuse_traps __attribute__((weak));

/* As above, for a call that does not know the size of the block. */
extern const char misuse_forgets __attribute__((weak));

static inline int misuse_status(void)
{
	return 1000 + (&misuse_traps != NULL ? 4 : 6); /* SIGILL, SIGABRT */
}

static inline void misuse_expect(const char *call, void (*use)(void *), const struct bad *bad)
{
	char expected[256], text[512];
	int status = rt_run_child(use, bad->p, text, sizeof(text));

	rt_format(expected, sizeof(expected), "ashlar: ash_%s(0x%lx): %s\n", call,
		  (unsigned long)bad->p, bad->fault);
	if (rt_strcmp(text, expected) != 0)
		rt_print("     written:  %s     expected: %s", text, expected);
	CHECK_EQ(rt_strcmp(text, expected), 0);
	CHECK_EQ(status, misuse_status());
}

static inline void misuse_body(const void *argument)
{
	const struct misuse_case *m = argument;
	bool release = m->call[2] == 'l'; /* release... */
	struct bad bad = {.gone = release ? "double free" : "block already released"};

	m->make(&bad);
	misuse_expect(m->call, m->use, &bad);
	CHECK_EQ(ash_check(), 0); /* of the parent, where nothing went wrong */
}

#define MISUSE_OF(function, kind)                                                                  \
	static const struct misuse_case case_##function##_##kind = {#function, use_##function,     \
								    make_##kind};                  \
	RT_ENTRY(misuse_##function##_##kind, "misuse_" #function "_" #kind, misuse_body,           \
		 &case_##function##_##kind, 10)
/* MISUSE(kind) { body that fills `bad` } */
#define MISUSE(kind)                                                                               \
	static void make_##kind(struct bad *bad);                                                  \
	MISUSE_OF(release, kind);                                                                  \
	MISUSE_OF(release_sized, kind);                                                            \
	MISUSE_OF(resize, kind);                                                                   \
	MISUSE_OF(usable_size, kind);                                                              \
	static void make_##kind(struct bad *bad)

/* A row of them: MISUSE_CALL(kind, function(bad, ...)); */
#define MISUSE_CALL(kind, call)                                                                    \
	MISUSE(kind)                                                                               \
	{                                                                                          \
		call;                                                                              \
	}                                                                                          \
	_Static_assert(true, "a semicolon follows")

/* The faults that concern no block. */
#define FOREIGN  "not a block of this allocator"
#define RECORDS  "pointer to the allocator's own records"
#define RETURNED "memory already returned"

/* p: as bad->p; bytes, start: of the block around or beside it. */
static inline void bad_beside(struct bad *bad, void *p, const char *fault, size_t bytes,
			      const void *start)
{
	uintptr_t begin = (uintptr_t)start, end = begin + bytes, at = (uintptr_t)p;
	char distance[64] = "";

	bad->p = p;
	if (at < begin || at >= end)
		rt_format(distance, sizeof(distance), "%zu bytes from a ",
			  (size_t)(at < begin ? begin - at : at - end));
	rt_format(bad->fault, sizeof(bad->fault), "%s, %s%zu-byte block at 0x%lx", fault, distance,
		  bytes, (unsigned long)begin);
}

/* A fault this number of bytes into a block or slot. */
static inline void bad_in(struct bad *bad, void *start, size_t offset, const char *fault,
			  size_t bytes)
{
	bad_beside(bad, (char *)start + offset, fault, bytes, start);
}

/* A released block of this size. */
static inline void bad_gone(struct bad *bad, void *p, const char *fault, size_t bytes)
{
	bad_in(bad, p, 0, fault, bytes);
	if (&misuse_forgets != NULL)
		rt_format(bad->fault, sizeof(bad->fault), "%s", fault);
}

struct bad_nearest {
	uintptr_t p, start;
	size_t bytes, distance;
};

static inline int bad_near(void *context, void *block, size_t bytes,
			   UNUSED const struct ash_heap_owner *owner)
{
	struct bad_nearest *n = context;
	uintptr_t start = (uintptr_t)block;
	size_t distance = n->p < start ? start - n->p : n->p - start - bytes;

	if (n->bytes == 0 || distance < n->distance)
		*n = (struct bad_nearest){n->p, start, bytes, distance};
	return 0;
}

/* A fault that concerns no block; of a foreign pointer the nearest one is said. */
static inline void bad_alone(struct bad *bad, void *p, const char *fault)
{
	struct bad_nearest n = {.p = (uintptr_t)p};

	bad->p = p;
	rt_format(bad->fault, sizeof(bad->fault), "%s", fault);
	if (rt_strcmp(fault, FOREIGN) != 0)
		return;
	(void)ash_heap_walk(NULL, bad_near, &n);
	if (n.bytes > 0)
		bad_beside(bad, p, fault, n.bytes, (void *)n.start);
}

/* Memory of others, while the heap has some of its own. */
static inline void bad_foreign(struct bad *bad, const void *p)
{
	CHECK(ash_alloc(1) != NULL);
	bad_alone(bad, (void *)(uintptr_t)p, FOREIGN);
}

/* An address this far into a live block or span; only the library knows the size. */
static inline void bad_inside(struct bad *bad, void *p, size_t offset, const char *fault)
{
	bad_in(bad, p, offset, fault, ash_usable_size(p));
}

/* A block with neighbours that stay, so that its slab does, too. */
static inline char *block_among(size_t size)
{
	char *p = NULL, *other;

	for (int i = 0; i < 3; i++) {
		other = NOT_NULL(ash_alloc(size));
		if (i == 1)
			p = other;
	}
	return p;
}

/* Released, so that this function finds it gone. */
static inline void released(struct bad *bad, char *p)
{
	size_t bytes = ash_usable_size(p);

	ash_release(p);
	bad_gone(bad, p, bad->gone, bytes);
}

/* Released: its memory then belongs to no block. */
static inline void released_alone(struct bad *bad, void *p, const char *fault)
{
	ash_release(p);
	bad_alone(bad, p, fault);
}

#endif
