/* SPDX-License-Identifier: MIT */
/*
 * The log of writes that QEMU's blklogwrites leaves, in the format of Linux's dm-log-writes: a head, then entries, each
 * in a sector of its own with the written bytes behind it, in the order in which they were issued.
 */
#ifndef TESTS_KERNEL_POWER_LOG_H
#define TESTS_KERNEL_POWER_LOG_H

#include "kernel.h"
#include "kernel/power.h"
#include "rt.h"
#include "syscall.h"

enum { SECTOR = 512, PIECE = 4096 / SECTOR, MOST_ENTRIES = 1 << 20 };
enum { LOG_FLUSH = 1, LOG_THROUGH = 2, LOG_DISCARD = 4, LOG_MARK = 8 };
#define LOG_MAGIC  0x6a736677736872ull
#define HEAP_MAGIC 0x3230726c68736100ull

struct log_head {
	uint64_t magic, version, entries;
	uint32_t sector;
} __attribute__((packed));

struct log_entry {
	uint64_t sector, sectors, flags, bytes;
};

/* An entry, and where in the log its bytes begin (in sectors). */
struct written {
	struct log_entry is;
	uint64_t at;
};

struct log {
	long fd;
	uint64_t count;
	struct written *entry;
};

static inline void read_at(long fd, void *to, size_t n, uint64_t at)
{
	CHECK_EQ(arch_pread64(fd, to, n, (long)at), n);
}

static inline void log_read(struct log *l, const char *path)
{
	struct log_head head;
	uint64_t at = 1;

	l->fd = arch_open(path, O_RDONLY, 0);
	l->entry = NOT_NULL(rt_map(MOST_ENTRIES * sizeof(*l->entry)));
	CHECK(l->fd >= 0);
	read_at(l->fd, &head, sizeof(head), 0);
	CHECK_EQ(head.magic, LOG_MAGIC);
	CHECK_EQ(head.sector, SECTOR);
	CHECK(head.entries > 0 && head.entries <= MOST_ENTRIES);
	for (l->count = 0; l->count < head.entries; l->count++) {
		struct written *w = &l->entry[l->count];

		read_at(l->fd, &w->is, sizeof(w->is), at * SECTOR);
		CHECK_EQ(w->is.flags & ~(uint64_t)(LOG_FLUSH | LOG_THROUGH), 0);
		w->at = at + 1;
		at = w->at + w->is.sectors;
	}
}

/* The mark that the entry is; phase 0: it is none. */
static inline struct mark log_mark(const struct log *l, uint64_t i)
{
	const struct written *w = &l->entry[i];
	struct mark m = {0, 0, 0};

	if (w->is.sectors == 0 || w->is.sector != POWER_BYTES / SECTOR)
		return m;
	read_at(l->fd, &m, sizeof(m), w->at * SECTOR);
	CHECK_EQ(m.magic, POWER_MAGIC);
	return m;
}

/* The entry writes the heap's first page, and that says that the file is not sealed (core/store/FORMAT.md). */
static inline bool log_breaks(const struct log *l, uint64_t i)
{
	enum { WORDS = 12, SEAL = 11, WHOLE = 3 };
	const struct written *w = &l->entry[i];
	uint64_t head[WORDS];

	for (uint64_t k = -w->is.sector % PIECE; k < w->is.sectors; k += PIECE) {
		read_at(l->fd, head, sizeof(head), (w->at + k) * SECTOR);
		if (head[0] == HEAP_MAGIC && head[SEAL] % 4 != WHOLE)
			return true;
	}
	return false;
}

#endif
