/* SPDX-License-Identifier: MIT */
/*
 * What is looked at: a process, a core, or the file of a heap, as memory that can be read.
 * Nothing is written there, and reading never ends this program: what cannot be read is zero,
 * and said.
 */
#ifndef LOOK_SOURCE_H
#define LOOK_SOURCE_H

#include "layout.h"
#include "outside.h"

enum source_kind { SOURCE_PROCESS, SOURCE_CORE, SOURCE_FILE };

enum { PATH = 512, MODULES = 16, THREADS_STOPPED = 4096 };

#define MAY_NOT_READ "its memory may not be read (root may, or its user: see ptrace_scope in ptrace(2), and PR_SET_DUMPABLE)"

/* A range of addresses, and where its bytes are. */
struct extent {
	uint64_t from, to, offset; /* of the first byte in the file */
	int32_t fd;		   /* -1: opened when it is first read, by its name */
	uint32_t name;		   /* of a mapped file, in `names`; 0: none */
};

struct source {
	enum source_kind kind;
	int pid;
	int fd;			/* /proc/PID/mem, the core, or the file */
	bool by_mem;		/* process_vm_readv was refused: /proc/PID/mem is read */
	bool stopped;
	const char *path;	/* as the user gave it */
	uint64_t file_base;	/* of a heap's file: the address of its first byte */
	struct extent *extents; /* of a core: its own, then those of the files mapped */
	size_t extent_count, own_extents;
	char *names;
	size_t names_bytes;
	uint64_t failed;	/* pieces that could not be read */
	uint64_t bytes;		/* read so far */
	uint64_t arenas[MODULES]; /* descriptors of lists of heaps in callers' memory */
	unsigned arenas_count;
	int *tids;		/* stopped threads, or those in the core */
	size_t tid_count;
	char program[PATH];
};

/* Opens what the argument names: digits are a process.  NULL: done, else why not. */
const char *source_open(struct source *s, const char *what);
/* Stops all threads of the process.  False: not all can be stopped, and none is. */
bool source_stop(struct source *s);
void source_go(struct source *s);

bool source_read(struct source *s, uint64_t at, void *out, size_t bytes);
/* Reads the pieces in order.  False: at least one cannot be read, and is zero. */
bool source_pieces(struct source *s, const struct rt_piece *pieces, size_t n);

/* The layouts of the heaps that the source has; their number, at most MODULES. */
struct module {
	struct layout layout;
	char path[PATH];
};
unsigned source_modules(struct source *s, struct module *out, const char **why);

#endif
