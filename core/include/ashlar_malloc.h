/* SPDX-License-Identifier: MIT */
/*
 * Ashlar as the malloc of a program that has a libc.  The functions are those
 * of <stdlib.h> and <malloc.h>, declared there; this header adds one question.
 */
#ifndef ASHLAR_MALLOC_H
#define ASHLAR_MALLOC_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * 1: malloc, free and realloc of this process are Ashlar's.  0: at least one
 * is not; a mixture is a crash to come.  Asks those functions themselves, so
 * it sees what the linkers made of the program, not what was meant.  errno is
 * kept.  From any thread; where another malloc answers, that one must allow it.
 */
int ashlar_is_malloc(void);

#ifdef __cplusplus
}
#endif
#endif
