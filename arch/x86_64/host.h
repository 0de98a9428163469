/* SPDX-License-Identifier: MIT */
/*
 * What this folder is for.  Each file here includes this first and is empty
 * elsewhere: a compiler for another machine gives this error and no other.
 */
#ifndef ARCH_HOST_H
#define ARCH_HOST_H

#if defined __x86_64__ && !defined __ILP32__ && defined __linux__ && !defined __cplusplus
#define ARCH_HOST
#else
#error "Ashlar is for x86_64 Linux, in C: this compiler is for something else"
#endif

#endif
