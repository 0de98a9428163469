/* SPDX-License-Identifier: MIT */
/*
 * The target of this folder.  Each file here includes this first and is empty for
 * other targets, so that a compiler for another machine reports only this error.
 */
#ifndef ARCH_HOST_H
#define ARCH_HOST_H

#if defined __x86_64__ && !defined __ILP32__ && defined __linux__ && !defined __cplusplus
#define ARCH_HOST
#else
#error "Ashlar is for x86_64 Linux, in C: this compiler is for something else"
#endif

#endif
