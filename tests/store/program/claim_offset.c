/* SPDX-License-Identifier: MIT */
/*
 * S18: the offset of the caller's file stays where it is, at each moment of making a heap in it: no
 * call moves it there and back.
 */
/* promises: ash_heap_create_file, ash_heap_open_file */
#include "store/program/claim.h"
#include "support/wrap.h"

static bool offset_moved, offset_watched;
WRAP(long, arch_lseek, (long fd, long offset, long whence))
{
	offset_moved |= offset_watched && (offset != 0 || whence != SEEK_CUR);
	return __real_arch_lseek(fd, offset, whence);
}

static void look_at_offset(void)
{
	offset_moved |= arch_lseek(file, 0, SEEK_CUR) != 77;
}

TEST(claim_offset, 20)
{
	size_t k;

	for (k = 2; k < 80; k++) {
		begin();
		CHECK_EQ(arch_lseek(file, 77, SEEK_SET), 77);
		by_open = k % 2 != 0;
		stop_at = k / 2;
		stopped = look_at_offset;
		offset_watched = true;
		CHECK_EQ(make_one(), MADE);
		ash_heap_destroy(heap_made);
		stopped = look_at_offset;
		calls = 0;
		by_open = true;
		CHECK_EQ(make_one(), ATTACHED);
		ash_heap_destroy(heap_made);
		stopped = NULL;
		offset_watched = false;
		CHECK_EQ(offset_moved, 0);
		arch_close(file);
	}
}
