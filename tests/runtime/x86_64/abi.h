/* SPDX-License-Identifier: MIT */
/* What of Linux's binary interface differs from CPU to CPU, for the runtime (x86_64). */
#ifndef RT_ABI_H
#define RT_ABI_H

#define ABI_SA_RESTORER 0x04000000ul
#define ABI_RESTORER	void (*restorer)(void);
#define ABI_RESTORER_IS .restorer = arch_sigreturn,

/*
 * QEMU 7.2 enters handlers with a stack that is misaligned by 8 bytes, where code that
 * stores vectors would fault.
 */
#define ABI_HANDLER __attribute__((force_align_arg_pointer))

/* Past the caches: open. */
#define ABI_O_DIRECT 040000

/* The number of munmap, for filters of system calls. */
#define ABI_MUNMAP 11

#endif
