/* SPDX-License-Identifier: MIT */
/*
 * The target of this folder.  Each file here first includes this header and is empty for other targets, so that a
 * compiler for another machine reports only this error.  (ARCH_ANY: the amalgamation has several such folders, see
 * any.h.)
 */
#ifndef ARCH_AARCH64_HOST_H
#define ARCH_AARCH64_HOST_H

#if defined __AARCH64EL__ && defined __LP64__ && defined __linux__ && !defined __cplusplus
#define ARCH_AARCH64
#elif !defined ARCH_ANY
#error "Ashlar is for aarch64 Linux, in C: this compiler is for something else"
#endif

#endif
