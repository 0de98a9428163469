/* SPDX-License-Identifier: MIT */
/* For assembly: a function in a section of its own, which linkers drop if nothing calls it. */
#ifndef ARCH_FUNCTION_H
#define ARCH_FUNCTION_H

/* The first instruction of a function that may be called by its address. */
#ifndef FUNCTION_ENTRY
#define FUNCTION_ENTRY
#endif

#define FUNCTION(name, alignment)                                                                  \
	.section .text.name, "ax", @progbits;                                                      \
	.balign alignment;                                                                         \
	.globl name;                                                                               \
	.type name, @function;                                                                     \
name:                                                                                              \
	.cfi_startproc;                                                                            \
	FUNCTION_ENTRY

#define FUNCTION_END(name)                                                                         \
	.cfi_endproc;                                                                              \
	.size name, . - name

#endif
