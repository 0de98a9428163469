/* SPDX-License-Identifier: MIT */
/* Files, and the memory and threads of other processes, for tools/look. */
#ifndef RT_OUTSIDE_H
#define RT_OUTSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- files; results below 0 are minus an error number ---- */
int rt_open(const char *path); /* for reading */
/* The same of a file that others may have named: -EINVAL, at once, if it is no ordinary file. */
int rt_open_file(const char *path);
void rt_close(int fd);
int64_t rt_file_length(int fd);
/* Reads from the offset; fewer bytes only at the end of the file. */
int64_t rt_read_at(int fd, void *out, size_t bytes, uint64_t offset);
/* Writes all of it.  False: it cannot be written. */
bool rt_write(int fd, const void *bytes, size_t length);
/* Calls see() with each name in the folder.  False: it cannot be read. */
bool rt_list(const char *folder, void (*see)(void *context, const char *name), void *context);
/* Gives the text that a link holds, NUL-terminated; returns false if there is no text. */
bool rt_link_text(const char *path, char *out, size_t size);
/* Returns the columns of the terminal, or 0 if there is no terminal. */
unsigned rt_columns(int fd);

/* ---- another process ---- */
enum { RT_PIECES = 1024 }; /* the kernel's limit of one call */
struct rt_piece {
	void *to;
	uint64_t from;
	size_t bytes;
};
/* 0: a signal may be sent to the process; else minus an error number: ESRCH, or EPERM if it is there. */
long rt_process_asked(int pid);
/* Reads up to RT_PIECES pieces, in order; the bytes read, fewer where memory is not there. */
int64_t rt_peek(int pid, const struct rt_piece *pieces, size_t n);
/*
 * Stops a thread of another process, and lets it go on (ptrace); it also goes on if this
 * process ends.
 */
bool rt_thread_stop(int tid);
void rt_thread_go(int tid);

#endif
