/* SPDX-License-Identifier: MIT */
/*
 * The book: turns addresses into slots and writes events to the trace.  Not
 * thread-safe; never allocates.  Functions that note return false when the
 * book is full or broken: then it is to be closed.
 */
#ifndef BOOK_H
#define BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../trace.h"

/*
 * At most `bytes` in the file and at most `events` events.  False when the
 * file exists already: of several processes the first one records.
 */
bool book_open(const char *path, size_t bytes, uint64_t events);
void book_close(void);

bool book_alloc(enum trace_op op, uint32_t thread, const void *p, size_t size, size_t alignment);
/* A block the book does not know was there before it was opened: taken as a new one. */
bool book_resize(uint32_t thread, const void *old, const void *p, size_t size);
/* A block the book does not know is passed over. */
bool book_release(uint32_t thread, const void *p);

#endif
