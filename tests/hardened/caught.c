/* SPDX-License-Identifier: MIT */
/*
 * promises: what a hardened product ends a program for, and with which words; each row is a program that goes
 * on in silence with the ordinary product, or may.
 */
#include "support/handler_at_step.h"
#include "support/malloc_names.h"
#include "support/resident.h"

enum { SIGABRT = 6, SIGSEGV = 11 };
#define ALL 20000 /* blocks of one class, in turn: each free slot comes */

static volatile char sink;

static char *freed(size_t size)
{
	char *p = NOT_NULL(malloc(size));

	memset(p, 7, size);
	free(p);
	return p;
}

static void take_each(size_t size)
{
	for (unsigned i = 0; i < ALL; i++)
		free(NOT_NULL(malloc(size)));
}

/* One byte behind the end, whatever it is. */
static void write_behind(size_t size, size_t distance, char byte)
{
	char *p = NOT_NULL(malloc(size));

	p[size + distance] = byte;
	free(p);
}

static void caught_of(const char *name, void (*body)(void *), void *argument, int signal, const char *words)
{
	char text[400];
	int status = rt_run_child(body, argument, text, sizeof text);

	if (status != 1000 + signal || (words != NULL && rt_strstr(text, words) == NULL))
		rt_print("     %s: status %d, %s\n", name, status, text);
	CHECK_EQ(status, 1000 + signal);
	CHECK(words == NULL || rt_strstr(text, words) != NULL);
}
static void caught(const char *name, void (*body)(void *), int signal, const char *words)
{
	caught_of(name, body, NULL, signal, words);
}
/* A row: a program, which is ended by this signal, with these words. */
#define ENDS(name, signal, words)                                                                  \
	static void name(UNUSED void *argument);                                                   \
	TEST_CALL(hardened_##name, 30, caught(#name, name, signal, words));                        \
	static void name(UNUSED void *argument)
#define CAUGHT(name, words) ENDS(name, SIGABRT, words)
#define FAULTS(name)	    ENDS(name, SIGSEGV, NULL)

#define BEHIND "written behind its end, "
#define AFTER  "written after its release, "

CAUGHT(behind_by_0, BEHIND) { write_behind(24, 0, 1); }
CAUGHT(behind_a_nul, BEHIND) { write_behind(25, 0, 0); }
CAUGHT(behind_in_slack, BEHIND) { write_behind(129, 3, 1); }
CAUGHT(behind_far_in_slack, BEHIND) { write_behind(1030, 70, 1); }
CAUGHT(behind_large, BEHIND) { write_behind(100000, 0, 1); }
CAUGHT(behind_span, BEHIND) { write_behind(3000000, 0, 1); }
CAUGHT(behind_seen_by_realloc, "realloc")
{
	char *p = NOT_NULL(malloc(40));

	p[40] = 1;
	(void)realloc(p, 50);
}
CAUGHT(behind_seen_by_usable_size, "malloc_usable_size")
{
	char *p = NOT_NULL(malloc(40));

	p[41] = 1;
	(void)malloc_usable_size(p);
}
CAUGHT(behind_after_realloc, BEHIND)
{
	char *p = NOT_NULL(malloc(100));

	p = NOT_NULL(realloc(p, 90));
	p[90] = 1;
	free(p);
}
CAUGHT(behind_aligned, BEHIND)
{
	char *p = NOT_NULL(aligned_alloc(64, 100));

	p[100] = 1;
	free(p);
}
FAULTS(far_behind_a_span)
{
	char *p = NOT_NULL(malloc(3000000));

	p[3000000 + 70000] = 1;
}
FAULTS(before_a_span)
{
	char *p = NOT_NULL(malloc(3000000));

	p[-1] = 1;
}
CAUGHT(released_twice, "free(0x")
{
	free(freed(24));
}
CAUGHT(released_twice_later, "double free, ")
{
	char *p = freed(24);

	for (unsigned i = 0; i < 20; i++)
		(void)freed(24);
	free(p);
}
CAUGHT(released_twice_large, "double free, ") { free(freed(20000)); }
/* An empty block has no access, so it has no guard word. */
CAUGHT(released_twice_empty, "free(0x") { free(freed(0)); }
CAUGHT(released_empty_resized, "realloc(0x") { (void)realloc(freed(0), 100); }
CAUGHT(released_empty_measured, "malloc_usable_size(0x") { (void)malloc_usable_size(freed(0)); }
CAUGHT(written_after_release, AFTER)
{
	freed(24)[3] = 1;
	take_each(24);
}
CAUGHT(written_after_release_large, AFTER)
{
	freed(20000)[19999] = 1;
	take_each(20000);
}
FAULTS(read_after_release_of_a_span) { sink = freed(3000000)[5]; }
/* In chunks of a region that were never used. */
static void released_far_away(void *chunks)
{
	char *p = NULL;

	for (unsigned i = 0; i < 5000; i++)
		p = NOT_NULL(malloc(1000));
	free(p + 8 + (uintptr_t)chunks * ((size_t)2 << 20)); /* 8: no slot begins there */
}
CAUGHT(resized_after_release, "block already released, ") { (void)realloc(freed(24), 30); }
CAUGHT(asked_after_release, "block already released, ") { (void)malloc_usable_size(freed(24)); }
FAULTS(nothing_is_read) { sink = *(volatile char *)NOT_NULL(malloc(0)); }
FAULTS(nothing_is_written) { *(volatile char *)NOT_NULL(malloc(0)) = 1; }
CAUGHT(size_told_too_small, "wrong size, 100-byte block") { free_sized(NOT_NULL(malloc(100)), 99); }
CAUGHT(size_told_too_large, "free_sized(0x") { free_sized(NOT_NULL(malloc(100)), 101); }
CAUGHT(size_told_as_none, "wrong size, 100-byte block") { free_sized(NOT_NULL(malloc(100)), 0); }
CAUGHT(size_told_to_delete, "operator delete(0x") { ash_delete_sized(NOT_NULL(malloc(100)), 99); }
CAUGHT(alignment_told_that_is_none, "ash_release_aligned_sized(0x") { ash_release_aligned_sized(NOT_NULL(malloc(100)), 3, 100); }
/* Returns an alignment that p does not have. */
static size_t alignment_beyond(const void *p)
{
	return 2 * ((uintptr_t)p & -(uintptr_t)p);
}
CAUGHT(alignment_told_to_delete, "operator delete(0x")
{
	void *p = NOT_NULL(malloc(100));

	ash_delete_aligned_sized(p, 100, alignment_beyond(p));
}
CAUGHT(alignment_told_to_free, "free_aligned_sized(0x")
{
	void *p = NOT_NULL(malloc(100));

	free_aligned_sized(p, alignment_beyond(p), 100);
}
CAUGHT(wild_delete, "operator delete(0x") { ash_delete((char *)NOT_NULL(malloc(100)) + 8); }
CAUGHT(wild_realloc, "interior pointer, 112-byte block") { (void)realloc((char *)NOT_NULL(malloc(100)) + 8, 50); }
CAUGHT(wild_release, "ash_release(0x") { ash_release((char *)NOT_NULL(malloc(100)) + 8); }

/* ---- the word and the mark ---- */

enum { WORD = 104 }; /* where a block of 100 bytes has it, whose slot is of 112 */

struct flip {
	size_t size, at; /* of a block; of a byte in it or behind it */
	unsigned char bits;
};

static void flips_behind(void *argument)
{
	const struct flip *f = argument;
	char *p = NOT_NULL(malloc(f->size));

	p[f->at] ^= (char)f->bits;
	free(p);
}

/* Another block's bytes with its word, which are right at its address. */
CAUGHT(copies_all, BEHIND)
{
	char *p = NOT_NULL(malloc(100)), *q = NOT_NULL(malloc(100));

	memcpy(p, q, WORD + 8);
	free(p);
}

TEST(hardened_each_bit_of_the_word, 30)
{
	struct flip f = {.size = 100};

	for (unsigned bit = 0; bit < 64; bit++) {
		f.at = WORD + bit / 8;
		f.bits = (unsigned char)(1 << bit % 8);
		caught_of("flips_behind", flips_behind, &f, SIGABRT, BEHIND);
	}
}

/* Slack of 1 to 15 bytes, and some that is compared word by word, from any of the eight places of its beginning. */
TEST(hardened_each_byte_of_the_slack, 60)
{
	struct flip f;

	for (f.size = 89; f.size < WORD; f.size++)
		for (f.at = f.size; f.at < WORD; f.at++)
			for (f.bits = 1; f.bits != 0; f.bits = (unsigned char)(f.bits << 7))
				caught_of("flips_behind", flips_behind, &f, SIGABRT, BEHIND);
	f.bits = 16;
	for (f.size = 1032; f.size < 1040; f.size++)
		for (f.at = f.size; f.at < f.size + 40; f.at++)
			caught_of("flips_behind", flips_behind, &f, SIGABRT, BEHIND);
}

static void writes_after_release(void *argument)
{
	const struct flip *f = argument;

	freed(f->size)[f->at] = (char)f->bits;
	take_each(f->size);
}

TEST(hardened_written_anywhere_after_release, 60)
{
	static const size_t sizes[] = {24, 40, 100, 120, 200}; /* slots of 32, 48, 112, 128 and 208 bytes: each rest of 64 */
	struct flip f = {.bits = 4};

	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (f.size = sizes[i], f.at = 0; f.at < f.size; f.at += 8)
			caught_of("writes_after_release", writes_after_release, &f, SIGABRT, AFTER);
}

TEST(hardened_marks_are_no_text, 10)
{
	unsigned char *p, first = 0;
	bool differ = false;

	for (unsigned i = 0; i < 64; i++) {
		p = NOT_NULL(malloc(100));
		CHECK(p[100] >= 128);
		first = i == 0 ? p[100] : first;
		differ |= p[100] != first;
	}
	CHECK(differ);
}

TEST(hardened_behind_seen_by_check, 10)
{
	char *p = NOT_NULL(malloc(24));

	CHECK_EQ(ash_check(), 0);
	p[24] = 1;
	CHECK_EQ(ash_check(), 15);
	p[24] = 8; /* the slack, where no mark is */
	CHECK_EQ(ash_check(), 0);
	free(p);
}

TEST(hardened_released_far_away, 20)
{
	for (intptr_t chunks = -30; chunks <= 30; chunks++)
		caught_of("released_far_away", released_far_away, (void *)(chunks | 1), SIGABRT, "free(0x"); /* NOLINT: no address */
}

static char *shared;

static void release_shared(void)
{
	free(shared);
}

/* As by another thread at this boundary of its release. */
static void by_two(void *k)
{
	shared = NOT_NULL(malloc(40));
	free(malloc(40)); /* the thread has a quarantine */
	if (!with_act_at((uintptr_t)k, release_shared))
		rt_exit(7);
}

TEST(hardened_released_by_two_at_once, 60)
{
	char text[400];
	uintptr_t k = 0;
	int status;

	step_begin(release_shared);
	while ((status = rt_run_child(by_two, (void *)k, text, sizeof text)) != 7) { /* NOLINT: no address */
		CHECK_EQ(status, 1000 + SIGABRT);
		CHECK(rt_strstr(text, "double free, ") != NULL);
		k++;
	}
	rt_print("     at %zu boundaries\n", (size_t)k);
	CHECK(k > 50);
}
