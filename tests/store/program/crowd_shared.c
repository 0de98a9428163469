/* SPDX-License-Identifier: MIT */
/* Crowds of threads in a heap that processes share (program/crowd.h). */
#include "program/crowd.h"

TEST(crowd_of_a_shared_heap, 60)
{
	CHECK((heap = ash_heap_create_shared((size_t)256 << 20, NULL)) != NULL);
	each_asks_at_most(44);
}
