/* SPDX-License-Identifier: MIT */
#include "store/process/life.h"

#include "atomic.h"
#include "process.h"
#include "store/process/proc_stat.h"
#include "store/process/world.h"

#define BITS(n)      (((uint64_t)1 << (n)) - 1)
#define BIRTH_SHIFT  22
#define BIRTH_MASK   BITS(21)
#define BOOT_SHIFT   43
#define BOOT_MASK    BITS(6)
#define IMAGE_SHIFT  49
#define IMAGE_MASK   BITS(12)
#define FORKED_SHIFT 61

enum { FORKED_AND_NO_EXEC = 0x40 }; /* PF_FORKNOEXEC, of PROC_FLAGS */

/* Returns the field for the start of the system, or 0 if that is unknown. */
static uint64_t boot(void)
{
	uint64_t n = boot_number();

	return n != 0 && (n & BOOT_MASK) == 0 ? 1 : n & BOOT_MASK;
}

/*
 * Returns the field for the program's image, a hash of the addresses where its code and stack begin, or 0 if they are
 * missing or hidden.  exec changes the field if addresses are random; fork and threads keep it.
 */
static uint64_t image(const struct proc_stat *s)
{
	uint64_t code = s->number[PROC_CODE], stack = s->number[PROC_STACK], n;

	if (code <= 1 || stack <= 1)
		return 0;
	n = proc_stat_mix(proc_stat_mix(0, code), stack);
	return n != 0 && (n & IMAGE_MASK) == 0 ? 1 : n & IMAGE_MASK;
}

/* Returns whether this is a thread or a child of fork, without exec since. */
static bool is_forked(const struct proc_stat *s)
{
	return (s->number[PROC_FLAGS] & FORKED_AND_NO_EXEC) != 0;
}

static uint64_t life_now(uint64_t id)
{
	uint64_t life = id;
	struct proc_stat s;

	if (id == 0 || id != LIFE_ID(id))
		return 0; /* 0 or a negative result: the kernel refused */
	if (world_has_proc() && proc_stat_read(id, &s))
		life |= (s.number[PROC_BIRTH] & BIRTH_MASK) << BIRTH_SHIFT | boot() << BOOT_SHIFT |
			image(&s) << IMAGE_SHIFT | (uint64_t)is_forked(&s) << FORKED_SHIFT;
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

/* Returns whether the field is known in both and differs. */
static bool differ(uint64_t life, unsigned shift, uint64_t mask, uint64_t now)
{
	uint64_t then = life >> shift & mask;

	return then != 0 && now != 0 && then != now;
}

/*
 * Returns whether the life is over.  A process whose first thread is a zombie has ended if at most `threads` threads
 * are left.
 */
static bool has_ended(uint64_t life, uint64_t threads, const struct proc_stat *s)
{
	/* The id was reused, or the system was restarted. */
	if (differ(life, BIRTH_SHIFT, BIRTH_MASK, s->number[PROC_BIRTH] & BIRTH_MASK) ||
	    differ(life, BOOT_SHIFT, BOOT_MASK, boot()))
		return true;
	/* The process ended, and the parent has not waited for it yet. */
	if (proc_stat_is(s, 'Z') || proc_stat_is(s, 'X'))
		return s->number[PROC_THREADS] <= threads;
	/* exec keeps the id but changes the program.  A thread that is ending has no image. */
	return (life >> FORKED_SHIFT == 1 && !is_forked(s)) ||
	       differ(life, IMAGE_SHIFT, IMAGE_MASK, image(s));
}

static bool is_over(uint64_t life, uint64_t threads)
{
	uint64_t id = LIFE_ID(life);
	struct proc_stat s;

	if (id == 0)
		return false; /* unknown */
	if (!proc_stat_read(id, &s))
		return process_thread_is_gone(id);
	if (!has_ended(life, threads, &s) || (!world_has_proc() && !process_thread_is_gone(id)))
		return false;
	fence_acquire(); /* see process_thread_is_gone */
	return true;
}

bool life_thread_is_over(uint64_t life)
{
	return is_over(life, UINT64_MAX);
}

bool life_process_is_over(uint64_t life)
{
	return is_over(life, 1);
}

uint64_t boot_number(void)
{
	static uint64_t known; /* every thread computes the same value */
	uint64_t n = load_relaxed(&known);
	char text[36]; /* 8-4-4-4-12 hexadecimal digits */
	size_t length, i;

	if (n != 0)
		return n;
	length = proc_file_read("/proc/sys/kernel/random/boot_id", text, sizeof text);
	for (i = 0; i < length; i++)
		n = proc_stat_mix(n, (unsigned char)text[i]);
	if (length > 0 && n == 0)
		n = 1;
	store_relaxed(&known, n);
	return n;
}
