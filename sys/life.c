/* SPDX-License-Identifier: MIT */
#include "life.h"

#include <stddef.h>

#include "atomic.h"
#include "process.h"
#include "status.h"

#define BIRTH_SHIFT 22
#define BIRTH_MASK  (((uint64_t)1 << 28) - 1)
#define BOOT_SHIFT  50
#define BOOT_MASK   (((uint64_t)1 << 12) - 1)

/* A number for this start of the system; 0: unknown. */
static uint64_t boot(void)
{
	static uint64_t known; /* the same for all who find it out */
	uint64_t n = load_relaxed(&known);
	char text[36]; /* 8-4-4-4-12 hexadecimal digits */
	size_t length, i;

	if (n != 0)
		return n;
	length = status_file("/proc/sys/kernel/random/boot_id", text, sizeof text);
	for (i = 0; i < length; i++)
		n = n * 31 + (unsigned char)text[i];
	n = (n ^ n >> 32) & BOOT_MASK;
	if (length > 0 && n == 0)
		n = 1;
	store_relaxed(&known, n);
	return n;
}

static uint64_t life_now(uint64_t id)
{
	uint64_t life = id;
	struct status s;

	if (status_read(id, &s))
		life |= (s.birth & BIRTH_MASK) << BIRTH_SHIFT | boot() << BOOT_SHIFT;
	return life;
}

uint64_t life_of_thread(void)
{
	return life_now(process_thread());
}

uint64_t life_of_process(void)
{
	return life_now(process_number());
}

/* `threads`: so many are left of a process whose first thread ended. */
static bool is_over(uint64_t life, uint64_t threads)
{
	uint64_t id = LIFE_ID(life), birth = life >> BIRTH_SHIFT & BIRTH_MASK;
	uint64_t started = life >> BOOT_SHIFT & BOOT_MASK;
	struct status s;

	if (!status_read(id, &s))
		return process_thread_is_gone(id);
	if (birth != 0 && birth != (s.birth & BIRTH_MASK))
		return true; /* another one has the id now */
	if (started != 0 && boot() != 0 && started != boot())
		return true;
	/* Ended, and its parent has not asked yet. */
	return (s.state == 'Z' || s.state == 'X') && s.threads <= threads;
}

bool life_thread_is_over(uint64_t life)
{
	return is_over(life, UINT64_MAX);
}

bool life_process_is_over(uint64_t life)
{
	return is_over(life, 1);
}
