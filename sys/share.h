/* SPDX-License-Identifier: MIT */
/* Memory that processes share, without a name or by way of a file. */
#ifndef SYS_SHARE_H
#define SYS_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal.h"

#define SHARE_NO_FILE (-1)

/*
 * Maps `bytes` of the file (or fresh memory) at this address and no other; the
 * file may be shorter.  False: the address is taken, or *refused: the kernel
 * has no memory or does not map this file.
 */
INTERNAL bool share_map(void *at, size_t bytes, int fd, bool *refused);

struct share_file {
	size_t length;
	uint64_t chance; /* differs between files, and between moments */
};

/* False: it is no regular file, nor a memfd. */
INTERNAL bool share_status(int fd, struct share_file *out);

/*
 * Makes the file at least this long, and never shorter, whatever other
 * processes do to it: the last of these bytes becomes 0 unless memory of the
 * file can be taken instead.  False: it cannot be had.
 */
INTERNAL bool share_grow(int fd, size_t bytes);

/* Also shorter: for whoever knows that nobody looks beyond. */
INTERNAL bool share_set_length(int fd, size_t bytes);

/*
 * Takes memory (of a disk or of the system) for a part of the file, so that to
 * write there cannot fail.  False: there is not enough.  True also where the
 * file system cannot do it.
 */
INTERNAL bool share_take(int fd, size_t at, size_t bytes);

/* Bytes of the file as they are now; returns how many there are. */
INTERNAL size_t share_read(int fd, void *out, size_t bytes, size_t at);

/* Puts bytes into the file, at this place of it.  False: not all. */
INTERNAL bool share_write(int fd, const void *bytes, size_t length, size_t at);

#endif
