/* SPDX-License-Identifier: MIT */
/* What of Linux's binary interface differs from CPU to CPU, for the runtime (riscv64). */
#ifndef RT_ABI_H
#define RT_ABI_H

/* The kernel has a page of its own to return to from handlers. */
#define ABI_SA_RESTORER 0ul
#define ABI_RESTORER
#define ABI_RESTORER_IS

#define ABI_HANDLER

/* Past the caches: open. */
#define ABI_O_DIRECT 040000

/* The number of munmap, for filters of system calls. */
#define ABI_MUNMAP 215

#endif
