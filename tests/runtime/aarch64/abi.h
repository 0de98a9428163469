/* SPDX-License-Identifier: MIT */
/* What of Linux's binary interface differs from CPU to CPU, for the runtime (aarch64). */
#ifndef RT_ABI_H
#define RT_ABI_H

#define ABI_PAGE_MOST 65536u /* the largest page of a kernel */

/* Thread-local words lie above the thread pointer, behind so many bytes. */
#define ABI_TLS_BELOW 0
#define ABI_TLS_GAP   16

/* The kernel has a page of its own to return to from handlers. */
#define ABI_SA_RESTORER 0ul
#define ABI_RESTORER	void (*restorer)(void);
#define ABI_RESTORER_IS

#define ABI_HANDLER

#endif
