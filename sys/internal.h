/* SPDX-License-Identifier: MIT */
/*
 * Names that are not public.  INTERNAL stands before the prototype of each function and before the definition of each
 * object that several files use, INTERNAL_EXTERN before the declaration of such an object.
 *
 * In the library the names are hidden: a shared object that contains the library does not export them, and reaches
 * objects directly.  In the amalgamation (core/amalgamation.c), which is a single file, they are static.  A function
 * that is defined after a static prototype is static, too; so only the prototype needs the word.
 */
#ifndef SYS_INTERNAL_H
#define SYS_INTERNAL_H

#include "build.h"

/* Hidden also in the amalgamation, which is one of several objects of libashlar_malloc. */
#define HIDDEN __attribute__((visibility("hidden")))

#if IS_AMALGAMATION
#define INTERNAL	static __attribute__((unused))
#define INTERNAL_EXTERN INTERNAL
#else
#define INTERNAL	HIDDEN
#define INTERNAL_EXTERN extern INTERNAL
#endif

/*
 * An object that each thread has for itself.  A shared object finds such an object without a call, too, because the
 * call might allocate.  The library has the compiler's flag for this.  Such objects lie in the memory that each thread
 * has from its start on, of which the loader keeps little for shared objects that are loaded later.  HAS_DYNAMIC_TLS is
 * for those: each access may call the loader, which may call the C library's malloc; so it must not be ours.
 */
#if IS_LIBC
#define THREAD_LOCAL /* only of objects that this product does not use */
#elif IS_AMALGAMATION && defined __PIC__ && !defined __PIE__ && !HAS_DYNAMIC_TLS
#define THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define THREAD_LOCAL _Thread_local
#endif

#endif
