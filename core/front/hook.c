/* SPDX-License-Identifier: MIT */
#include "ashlar.h"

/* Default hooks, for programs that define none. */
__attribute__((weak)) void ash_on_thread(void)
{
}

__attribute__((weak)) void ash_on_no_memory(void)
{
}
