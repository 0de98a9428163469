/* SPDX-License-Identifier: MIT */
/*
 * The target of this folder.  Each file here first includes this header and is empty for other targets, so that a
 * compiler for another machine reports only this error.  (ARCH_ANY: the amalgamation has several such folders, see
 * any.h.)
 */
#ifndef ARCH_X86_64_HOST_H
#define ARCH_X86_64_HOST_H

#if defined __x86_64__ && !defined __ILP32__ && defined __linux__ && !defined __cplusplus
#define ARCH_X86_64
#elif !defined ARCH_ANY
#error "Ashlar is for x86_64 Linux, in C: this compiler is for something else"
#endif

/* A macro of the compiler: the marks of assembly objects for -fcf-protection. */
#if defined ARCH_X86_64 && defined __ASSEMBLER__
#include <cet.h>
#define FUNCTION_ENTRY _CET_ENDBR
#endif

#endif
