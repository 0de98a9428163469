/* SPDX-License-Identifier: MIT */
#include "ashlar.h"
#include "build.h"

/* Default hooks, for programs that define no hooks. */
#if !HAS_PTHREAD /* core/malloc/thread.c has it */
__attribute__((weak)) void ash_on_thread(void)
{
}
#endif

__attribute__((weak)) void ash_on_no_memory(void)
{
}
