/* SPDX-License-Identifier: MIT */
#include "ashlar.h"

/* Where the program defines none of its own. */
__attribute__((weak)) void ash_on_thread(void)
{
}

__attribute__((weak)) void ash_on_no_memory(void)
{
}
