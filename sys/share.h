/* SPDX-License-Identifier: MIT */
/* Memory that processes share: anonymous, or by way of a file. */
#ifndef SYS_SHARE_H
#define SYS_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal.h"

#define SHARE_NO_FILE (-1)

/*
 * Maps `bytes` of the file (SHARE_NO_FILE: fresh memory) at exactly this address;
 * the file may be shorter.  False: the address is taken or, if *refused, the
 * kernel has no memory or does not map this file.
 */
INTERNAL bool share_map(void *at, size_t bytes, int fd, bool *refused);

/* Maps `bytes` of the file anywhere, to be read only or to be written; NULL: the kernel refused. */
INTERNAL void *share_map_anywhere(int fd, size_t bytes, bool writable);

struct share_file {
	size_t length;
	uint64_t identity; /* a hash of device and inode: a copy has another one */
	uint64_t chance; /* a hash of inode and change time: differs between files and moments */
};

/* False: neither a regular file nor a memfd. */
INTERNAL bool share_status(int fd, struct share_file *out);

/*
 * Makes the file at least this long and never shorter, also while other processes
 * resize it: by fallocate, or by writing 0 to the last byte where the file system
 * has no fallocate.  False: no room.
 */
INTERNAL bool share_grow(int fd, size_t bytes);

/* May shorten the file: the caller must know that no process uses what lies beyond. */
INTERNAL bool share_set_length(int fd, size_t bytes);

/*
 * Allocates a part of the file on its disk (or in memory, for tmpfs), so that writing
 * there cannot fail.  False: no room.  Where the file system has no fallocate: by faults of the
 * file's mapping, which begins at `mapped`, as far as the kernel has advice for that; or, if it is NULL,
 * by writing zeros, as no process uses this part.
 */
INTERNAL bool share_take(int fd, size_t at, size_t bytes, void *mapped);

/* Reads from offset `at`; returns the bytes read, fewer at the end of the file or on an error. */
INTERNAL size_t share_read(int fd, void *out, size_t bytes, size_t at);

/* Another descriptor of the same file, closed by exec; negative: none. */
INTERNAL int share_again(int fd);
INTERNAL void share_close(int fd);

/* Sleeps for about a millisecond, or less: a signal, or a filter, ends it. */
INTERNAL void share_pause(void);

/* Writes at offset `at`.  False: not all was written, or the file is open for appending. */
INTERNAL bool share_write(int fd, const void *bytes, size_t length, size_t at);

/*
 * Returns when what was stored in the mapped range before the call is on the file's disk.
 * False: the kernel reports an error, and what is there is unknown.
 */
INTERNAL bool share_sync(void *at, size_t bytes);

#endif
