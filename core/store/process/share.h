/* SPDX-License-Identifier: MIT */
/* Memory that processes share, either anonymous or in a file. */
#ifndef CORE_SHARE_H
#define CORE_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal.h"

#define SHARE_NO_FILE (-1)

/*
 * Maps `bytes` of the file, or fresh memory (SHARE_NO_FILE), at exactly this address.  The file may be shorter.
 * Returns false if the address is taken, or, with *refused set, if the kernel has no memory or does not map this
 * file.
 */
INTERNAL bool share_map(void *at, size_t bytes, int fd, bool *refused);

/* Maps `bytes` of the file anywhere, to be read only or to be written.  Returns NULL if the kernel refused. */
INTERNAL void *share_map_anywhere(int fd, size_t bytes, bool writable);

struct share_file {
	size_t length;
	uint64_t identity; /* a hash of device and inode: a copy has another identity */
	uint64_t chance; /* a hash of inode and change time: differs between files and moments */
};

/* Returns false if fd is neither a regular file nor a memfd. */
INTERNAL bool share_status(int fd, struct share_file *out);

/*
 * Makes the file at least this long and never shorter, also while other processes resize it: by fallocate or, if the
 * file system has no fallocate, by writing 0 to the last byte.  Returns false if there is no room.
 */
INTERNAL bool share_grow(int fd, size_t bytes);

/* May shorten the file: the caller must know that no process uses the part beyond. */
INTERNAL bool share_set_length(int fd, size_t bytes);

/*
 * Allocates a part of the file on its disk (or in memory, for tmpfs), so that writing there cannot fail.  Returns
 * false if there is no room.  If the file system has no fallocate, allocates by faults of the file's mapping, which
 * begins at `mapped`, as far as the kernel has advice for that.  If `mapped` is NULL, no process uses this part, and
 * the call allocates it by writing zeros.
 */
INTERNAL bool share_take(int fd, size_t at, size_t bytes, void *mapped);

/* Reads from offset `at`.  Returns the bytes read, which are fewer at the end of the file or on an error. */
INTERNAL size_t share_read(int fd, void *out, size_t bytes, size_t at);

/* Returns another descriptor of the file, closed by exec, or a negative number on failure. */
INTERNAL int share_again(int fd);
INTERNAL void share_close(int fd);

/* Sleeps for about a millisecond, or less if a signal or a filter ends the call. */
INTERNAL void share_pause(void);

/* Writes at offset `at`.  Returns false if not all was written, or the file is open for appending. */
INTERNAL bool share_write(int fd, const void *bytes, size_t length, size_t at);

/*
 * Returns when all earlier stores to the mapped range are on the file's disk.  Returns false if the kernel reports an
 * error; then the contents of the disk are unknown.
 */
INTERNAL bool share_sync(void *at, size_t bytes);

#endif
