/* SPDX-License-Identifier: MIT */
/* Crowds of threads in heaps of this process (crowd.h). */
#include "program/crowd.h"

TEST_CALL(crowd_of_the_default_heap, 60, each_asks_at_most(6));

TEST(crowd_of_a_private_heap, 60)
{
	CHECK((heap = ash_heap_create(NULL)) != NULL);
	each_asks_at_most(22);
}
