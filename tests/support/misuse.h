/* SPDX-License-Identifier: MIT */
/*
 * One misuse, one test.  A maker prepares a bad pointer and says what must be
 * written of it; each maker becomes one test for each function that takes a
 * pointer.  The call is made in a child, which must write exactly the line
 *     ashlar: function(0xpointer): fault
 * and end with SIGILL.
 */
#ifndef TESTS_SUPPORT_MISUSE_H
#define TESTS_SUPPORT_MISUSE_H

#include "ashlar.h"
#include "rt.h"

struct bad {
	void *p;
	const char *gone; /* how this function names a block that was released */
	char fault[96];
};

struct misuse_case {
	const char *call;
	void (*use)(void *);
	void (*make)(struct bad *);
};

static inline void use_release(void *p)
{
	ash_release(p);
}

static inline void use_release_sized(void *p)
{
	ash_release_sized(p, 1);
}

static inline void use_resize(void *p)
{
	if (ash_resize(p, 50) != NULL)
		rt_exit(7);
}

static inline void use_usable_size(void *p)
{
	if (ash_usable_size(p) > 0)
		rt_exit(8);
}

static inline void misuse_expect(const char *call, void (*use)(void *), const struct bad *bad)
{
	char expected[256], text[512];
	int status = rt_run_child(use, bad->p, text, sizeof(text));

	rt_format(expected, sizeof(expected), "ashlar: %s(0x%lx): %s\n", call,
		  (unsigned long)bad->p, bad->fault);
	if (rt_strcmp(text, expected) != 0)
		rt_print("     written:  %s     expected: %s", text, expected);
	CHECK_EQ(rt_strcmp(text, expected), 0);
	CHECK_EQ(status, 1000 + 4); /* SIGILL */
}

static inline void misuse_body(const void *argument)
{
	const struct misuse_case *m = argument;
	bool release = m->use == use_release || m->use == use_release_sized;
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

static inline void bad_says(struct bad *bad, void *p, const char *fault, size_t bytes)
{
	bad->p = p;
	if (bytes > 0)
		rt_format(bad->fault, sizeof(bad->fault), "%s, %zu-byte block", fault, bytes);
	else
		rt_format(bad->fault, sizeof(bad->fault), "%s", fault);
}

/* The faults that concern no block. */
#define FOREIGN  "not a block of this allocator"
#define RECORDS  "pointer to the allocator's own records"
#define RETURNED "memory already returned"

/* A block with neighbours that stay, so that its slab does, too. */
static inline char *block_among(size_t size)
{
	char *p = NULL, *other;

	for (int i = 0; i < 3; i++) {
		other = ash_alloc(size);
		CHECK(other != NULL);
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
	bad_says(bad, p, bad->gone, bytes);
}

#endif
