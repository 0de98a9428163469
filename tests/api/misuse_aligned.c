/* SPDX-License-Identifier: MIT */
/* Misuse of the calls with an alignment and of ash_expand: the lines of the others, with their names. */
/* promises: ash_aligned_resize, ash_expand, ash_release_aligned_sized */
#include "support/misuse.h"

USE(use_release_aligned_sized, p, ash_release_aligned_sized(p, 1, 1));
USE(use_aligned_resize, p, CHECK(ash_aligned_resize(p, 64, 50) == NULL));
USE(use_expand, p, CHECK(ash_expand(p, 50) == 0));

#define OF_EACH(kind)                                                                              \
	MISUSE_OF(release_aligned_sized, kind);                                                    \
	MISUSE_OF(aligned_resize, kind);                                                           \
	MISUSE_OF(expand, kind)

static void make_aligned_interior(struct bad *bad)
{
	bad_in(bad, block_among(100), 16, "interior pointer", 112);
}

static void make_aligned_gone(struct bad *bad)
{
	released(bad, block_among(100));
}

static void make_aligned_gone_span(struct bad *bad)
{
	released_alone(bad, ash_alloc(5 * MIB), RETURNED);
}

static void make_aligned_foreign(struct bad *bad)
{
	static char object[64];

	bad_foreign(bad, object);
}

OF_EACH(aligned_interior);
OF_EACH(aligned_gone);
OF_EACH(aligned_gone_span);
OF_EACH(aligned_foreign);

static size_t size = 1, alignment = 1;

USE(use_given, p, ash_release_aligned_sized(p, alignment, size));

static void wrong(void *p, const char *fault)
{
	struct bad bad;

	bad_in(&bad, p, 0, fault, ash_usable_size(p));
	misuse_expect("release_aligned_sized", use_given, &bad);
}

TEST(misuse_wrong_alignment, 10)
{
	static const size_t none[] = {0, 3, 48, SIZE_MAX};
	char *p = ash_aligned_alloc(64, 100), *large = ash_aligned_alloc((size_t)4 << 20, (size_t)5 << 20);

	for (unsigned i = 0; i < sizeof none / sizeof *none; i++) {
		alignment = none[i];
		wrong(p, "wrong alignment");
	}
	for (alignment = 64; ((uintptr_t)p & (alignment - 1)) == 0; alignment *= 2)
		;
	wrong(p, "wrong alignment");
	for (alignment = (size_t)4 << 20; ((uintptr_t)large & (alignment - 1)) == 0; alignment *= 2)
		;
	wrong(large, "wrong alignment");
	alignment = 1;
	size = ash_usable_size(p) + 1;
	wrong(p, "wrong size");
	size = ash_usable_size(large) + 1;
	wrong(large, "wrong size");
	ash_release_aligned_sized(p, 64, 100);
	ash_release_aligned_sized(large, (size_t)4 << 20, (size_t)5 << 20);
	CHECK_EQ(ash_check(), 0);
}

/* Misuse that the owner's fast path of ash_release_sized finds. */
static void twice_sized(void *p)
{
	ash_release_sized(p, 100);
	ash_release_sized(p, 100);
}

TEST(misuse_sized_twice, 10)
{
	char *p = block_among(100);
	struct bad bad;

	bad_in(&bad, p, 0, "double free", 112);
	misuse_expect("release_sized", twice_sized, &bad);
	size = 113;
	bad_in(&bad, p, 0, "wrong size", 112);
	alignment = 16;
	misuse_expect("release_aligned_sized", use_given, &bad);
}
