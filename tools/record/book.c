/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "book.h"

/*
 * An event is a byte at least, so the bytes of the file bound the number of
 * slots, and every table is mapped once at its full size.  Pages that are
 * not needed are never touched.
 */
static struct {
	char path[PATH_MAX]; /* absolute */
	uint8_t *out;        /* the file itself, mapped; header first */
	size_t used, limit;
	uint64_t events_max, live;
	uint32_t last;   /* slot named or taken by the event before */
	uint32_t thread; /* of the event before */
	struct trace_header header;

	uint32_t *free; /* stack of slots given back */
	size_t free_count;
	uint64_t *size; /* of the block in each slot */

	/* Address to slot: open addressing, linear probing, at most half full. */
	struct slot_ref {
		const void *address;
		uint32_t slot;
	} * places;
	unsigned places_shift; /* 64 - log2(number of places) */
} book;

static size_t places_mask(void)
{
	return ((size_t)1 << (64 - book.places_shift)) - 1;
}

static size_t place_home(const void *address)
{
	return (size_t)((uint64_t)(uintptr_t)address * 0x9e3779b97f4a7c15 >> book.places_shift);
}

/* Where the address is or would be. */
static size_t slot_find(const void *address)
{
	size_t i = place_home(address);

	while (book.places[i].address && book.places[i].address != address)
		i = (i + 1) & places_mask();
	return i;
}

/* No tombstones: those behind that may move up do so. */
static void place_empty(size_t hole)
{
	for (size_t i = hole;;) {
		i = (i + 1) & places_mask();
		if (!book.places[i].address)
			break;
		/* It may move up unless its home lies cyclically in (hole, i]. */
		if (((i - place_home(book.places[i].address)) & places_mask()) >=
		    ((i - hole) & places_mask())) {
			book.places[hole] = book.places[i];
			hole = i;
		}
	}
	book.places[hole].address = NULL;
}

static void *map(size_t bytes, int flags, int file)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
}

bool book_open(const char *path, size_t bytes, uint64_t events)
{
	unsigned log = 1;
	char *tables;
	int file;

	if (bytes < sizeof(struct trace_header) + 2 * TRACE_EVENT_MAX || !events)
		return false;
	while ((size_t)1 << log < 2 * bytes)
		log++;
	book.places_shift = 64 - log;
	book.events_max = events;
	book.limit = bytes;
	book.used = sizeof(struct trace_header);

	file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (file < 0)
		return false;
	if (ftruncate(file, (off_t)bytes) != 0 || !realpath(path, book.path)) {
		close(file);
		return false;
	}
	book.out = map(bytes, MAP_SHARED, file);
	tables = map((sizeof(struct slot_ref) << log) + bytes * 12,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	/* Kept open, it would be a descriptor that the program may close or reuse. */
	close(file);
	if (book.out == MAP_FAILED || tables == MAP_FAILED)
		return false;
	book.places = (struct slot_ref *)tables;
	book.size = (uint64_t *)(tables + (sizeof(struct slot_ref) << log));
	book.free = (uint32_t *)(book.size + bytes);
	book.header.threads = 1;
	return true;
}

void book_close(void)
{
	book.header.bytes = book.used - sizeof(struct trace_header);
	book.header.sum = trace_sum(book.out + sizeof(struct trace_header), book.header.bytes);
	if (truncate(book.path, (off_t)book.used) != 0)
		return;
	book.header.magic = TRACE_MAGIC;
	memcpy(book.out, &book.header, sizeof(book.header));
}

static void put(uint64_t number)
{
	while (number >= 0x80) {
		book.out[book.used++] = (uint8_t)(number | 0x80);
		number >>= 7;
	}
	book.out[book.used++] = (uint8_t)number;
}

static void put_event(uint32_t thread, enum trace_op op, uint64_t operand)
{
	if (thread != book.thread) {
		put((uint64_t)thread << 3 | TRACE_THREAD);
		book.thread = thread;
		if (thread >= book.header.threads)
			book.header.threads = thread + 1;
	}
	put(operand << 3 | op);
	book.header.events++;
}

static void put_slot(uint32_t thread, enum trace_op op, uint32_t slot)
{
	put_event(thread, op, trace_fold((int64_t)slot - book.last));
	book.last = slot;
}

/* Room for the next event, whatever it is? */
static bool room(void)
{
	return book.header.events < book.events_max &&
	       book.used + 2 * TRACE_EVENT_MAX <= book.limit;
}

static void count(uint64_t more, uint64_t less)
{
	book.live += more - less;
	if (book.live > book.header.peak)
		book.header.peak = book.live;
}

static void settle(const void *p, uint32_t slot, size_t size)
{
	book.places[slot_find(p)] = (struct slot_ref){p, slot};
	book.size[slot] = size;
}

bool book_alloc(enum trace_op op, uint32_t thread, const void *p, size_t size, size_t alignment)
{
	uint32_t slot = book.free_count ? book.free[--book.free_count] : book.header.slots++;

	put_event(thread, op, size);
	if (op == TRACE_ALIGNED)
		put((unsigned)__builtin_ctzll(alignment | 1ull << TRACE_SHIFT_MAX));
	book.last = slot;
	settle(p, slot, size);
	count(size, 0);
	return room();
}

bool book_resize(uint32_t thread, const void *old, const void *p, size_t size)
{
	size_t place = slot_find(old);
	uint32_t slot = book.places[place].slot;

	if (!book.places[place].address)
		return book_alloc(TRACE_ALLOC, thread, p, size, 0);
	put_slot(thread, TRACE_RESIZE, slot);
	put(size);
	count(size, book.size[slot]);
	place_empty(place);
	settle(p, slot, size);
	return room();
}

bool book_release(uint32_t thread, const void *p)
{
	size_t place = slot_find(p);
	uint32_t slot = book.places[place].slot;

	if (!book.places[place].address)
		return true;
	put_slot(thread, TRACE_RELEASE, slot);
	count(0, book.size[slot]);
	place_empty(place);
	book.free[book.free_count++] = slot;
	return room();
}
