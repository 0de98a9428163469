/* SPDX-License-Identifier: MIT */
/*
 * share.h, life.h, mapping.h, borrow.h and world.h for a program's own system (ashlar_system.h): no memory is
 * shared, so heaps shared by processes are refused.
 */
#include "store/process/borrow.h"
#include "store/process/life.h"
#include "store/process/mapping.h"
#include "store/process/share.h"
#include "store/process/world.h"

bool share_map(void *at, size_t bytes, int fd, bool *refused)
{
	(void)at, (void)bytes, (void)fd;
	*refused = true;
	return false;
}

void *share_map_anywhere(int fd, size_t bytes, bool writable)
{
	(void)fd, (void)bytes, (void)writable;
	return NULL;
}

int share_again(int fd)
{
	(void)fd;
	return -1;
}

void share_close(int fd)
{
	(void)fd;
}

void share_pause(void)
{
}

bool share_sync(void *at, size_t bytes)
{
	(void)at, (void)bytes;
	return false;
}

bool share_status(int fd, struct share_file *out)
{
	(void)fd, (void)out;
	return false;
}

bool share_grow(int fd, size_t bytes)
{
	(void)fd, (void)bytes;
	return false;
}

bool share_set_length(int fd, size_t bytes)
{
	(void)fd, (void)bytes;
	return false;
}

bool share_take(int fd, size_t at, size_t bytes, void *mapped)
{
	(void)fd, (void)at, (void)bytes, (void)mapped;
	return false;
}

size_t share_read(int fd, void *out, size_t bytes, size_t at)
{
	(void)fd, (void)out, (void)bytes, (void)at;
	return 0;
}

bool share_write(int fd, const void *bytes, size_t length, size_t at)
{
	(void)fd, (void)bytes, (void)length, (void)at;
	return false;
}

uint64_t life_of_thread(void)
{
	return 0;
}

uint64_t life_of_process(void)
{
	return 0;
}

bool life_thread_is_over(uint64_t life)
{
	(void)life;
	return false;
}

bool life_process_is_over(uint64_t life)
{
	(void)life;
	return false;
}

uint64_t boot_number(void)
{
	return 0;
}

uint64_t world_now(void)
{
	return 0;
}

bool world_is(uint64_t one, uint64_t other)
{
	return one == other;
}

bool world_has_proc(void)
{
	return false;
}

uint64_t mapping_at(uint64_t process, uint64_t thread, uintptr_t address)
{
	(void)process, (void)thread, (void)address;
	return MAPPING_UNKNOWN;
}

bool memory_is_borrowed(void)
{
	return false;
}
