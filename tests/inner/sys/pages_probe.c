/* SPDX-License-Identifier: MIT */
/* Whether a range is one mapping is found out by growing it: the growth is undone. */
#include "pages.h"
#include "rt.h"
#include "syscall.h"

TEST(pages_move_leaves_what_is_behind, 10)
{
	const size_t bytes = 2 * MIB;
	char *from = pages_reserve(2 * bytes, bytes, PAGES_PRIVATE), *to;
	unsigned char there;

	CHECK(from != NULL);
	to = NOT_NULL(pages_reserve(bytes, bytes, PAGES_PRIVATE));
	CHECK(pages_release(from + bytes, bytes)); /* a hole */
	from[0] = from[bytes - 1] = 7;
	CHECK(arch_mincore(from + bytes, PAGE_SIZE, &there) < 0);
	pages_move(from, to, bytes);
	CHECK(to[0] == 7 && to[bytes - 1] == 7);
	CHECK(arch_mincore(from + bytes, PAGE_SIZE, &there) < 0);
	CHECK(pages_release(from, bytes) && pages_release(to, bytes));
}
