/* SPDX-License-Identifier: MIT */
/*
 * The variants of the source: each is a macro of the compiler's command line (-D, without a value), and this header
 * makes it a constant, 0 or 1, for `if` and `#if`.  No other file of core and sys tests such a macro.  The header is
 * in sys/ because sys/ has variants itself; internal.h, atomic.h and base/bits.h include it.
 *
 * Few functions test such a constant.  A product that differs in the algorithm has files of its own, and
 * core/amalgamation.c or tools/make/products.mk choose them.  A product that does more at some places has hooks there:
 * core/base/variant.h, core/front/variant.h, place.h, back.h.
 *
 *	macro                 products                      differences
 *
 *	ASHLAR_AMALGAMATION   the amalgamation, which       all but the public names is static
 *	                      defines it
 *	ASHLAR_SMALL          libashlar-small.a             fewest bytes: core/small in place of the allocator
 *	ASHLAR_FIELD          libashlar-field.a             heaps in the caller's memory alone
 *	ASHLAR_SYSTEM         libashlar-core.a              calls the program (ashlar_system.h), not Linux
 *	ASHLAR_SAMPLE         libashlar-sample.a,           the calls of ashlar_sample.h: core/sample
 *	                      libashlar_profile.so
 *	ASHLAR_MALLOC         libashlar_malloc.a,           the names of malloc, but no ashlar_heap.h; misuse
 *	                      libashlar_malloc.so,          is reported by them
 *	                      libashlar_profile.so
 *	ASHLAR_SO             libashlar_malloc.so,          calls before relocation work (prereloc.h); malloc_info,
 *	                      libashlar_profile.so          which libashlar_malloc.a has as an object of its own
 *	ASHLAR_HARDENED       libashlar_malloc-hardened.a,  core/hardened in place of some calls; random places;
 *	                      .so                           the amalgamation alone
 *	ASHLAR_LIBC           the amalgamation inside of a  no heaps and no thread-local storage: the seat is where
 *	                      C library                     the includer's seat_here says (seat_object.h)
 *	ASHLAR_PTHREAD        crate; the amalgamation       threads of a C library are detached when they end, as
 *	                                                    malloc's are; ashlar_heap.h beside the names of malloc
 *	ASHLAR_DYNAMIC_TLS    crate; the amalgamation       thread-local objects as a shared object that is loaded late
 *	                                                    may have them (internal.h)
 *
 * Below arch/ some files test a macro themselves: field32/host.h ASHLAR_FIELD, any.h ASHLAR_SYSTEM, generic/memory.h
 * and the lists of system calls ASHLAR_AMALGAMATION.
 */
#ifndef SYS_BUILD_H
#define SYS_BUILD_H

/* 1 if the macro is defined, as 1 or without a value.  0 if it is undefined, and so is a name. */
#define BUILD_HAS(macro)	 BUILD_HAS_VALUE(macro)
#define BUILD_HAS_VALUE(value)	 BUILD_LIST(BUILD_COMMA_##value 1, 0, 0)
/* Expands to `yes` or `no`, for words that are no constants. */
#define BUILD_IF(macro, yes, no)	BUILD_IF_VALUE(macro, yes, no)
#define BUILD_IF_VALUE(value, yes, no)	BUILD_LIST(BUILD_COMMA_##value yes, no, 0)
#define BUILD_LIST(...)		 BUILD_SECOND(__VA_ARGS__)
#define BUILD_SECOND(a, b, ...)	 b
#define BUILD_COMMA_		 0,
#define BUILD_COMMA_1		 0,

#define IS_AMALGAMATION	 BUILD_HAS(ASHLAR_AMALGAMATION)
#define IS_FIELD	 BUILD_HAS(ASHLAR_FIELD)
#define IS_SMALL	 BUILD_HAS(ASHLAR_SMALL)
#define IS_SYSTEM	 BUILD_HAS(ASHLAR_SYSTEM)
#define SAMPLED		 BUILD_HAS(ASHLAR_SAMPLE)
#define IS_MALLOC	 BUILD_HAS(ASHLAR_MALLOC)
#define IS_SO		 BUILD_HAS(ASHLAR_SO)
#define IS_HARDENED	 BUILD_HAS(ASHLAR_HARDENED)
#define IS_LIBC		 BUILD_HAS(ASHLAR_LIBC)
#define HAS_BOTH	 BUILD_HAS(ASHLAR_PTHREAD)
#define HAS_DYNAMIC_TLS	 BUILD_HAS(ASHLAR_DYNAMIC_TLS)
#define HAS_HEAPS	 (!IS_SMALL && !IS_LIBC && (!IS_MALLOC || HAS_BOTH))
#define HAS_PTHREAD	 (IS_MALLOC || HAS_BOTH)

/* ThreadSanitizer sees neither assembly nor the dependency of an address on a load. */
#ifdef __has_feature
#define IS_SANITIZED __has_feature(thread_sanitizer)
#else
#define IS_SANITIZED BUILD_HAS(__SANITIZE_THREAD__)
#endif

#endif
