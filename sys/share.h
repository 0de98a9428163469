/* SPDX-License-Identifier: MIT */
/* Memory that processes share, without a name or by way of a file. */
#ifndef SYS_SHARE_H
#define SYS_SHARE_H

#include <stdbool.h>
#include <stddef.h>

#define SHARE_NO_FILE (-1)

/*
 * Maps `bytes` of the file (or fresh memory) at this address and no other.
 * False: the address is taken, or *refused: the kernel has no memory or does
 * not map this file.
 */
bool share_map(void *at, size_t bytes, int fd, bool *refused);

/* The file's length; 0: it has none, or is no file. */
size_t share_length(int fd);
bool share_set_length(int fd, size_t bytes);

/* The file's first bytes, as they are now.  False: cut short. */
bool share_read(int fd, void *out, size_t bytes);

/* Puts bytes into the file, at this place of it.  False: not all. */
bool share_write(int fd, const void *bytes, size_t length, size_t at);

#endif
