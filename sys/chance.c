/* SPDX-License-Identifier: MIT */
#include "chance.h"

#include "atomic.h"
#include "kernel.h"
#include "pages.h"
#include "process.h"
#include "syscall.h"

INTERNAL uint64_t chance_key; /* this and the next are 0 until they are drawn */
static uint64_t chance_state;
static uint64_t chance_drawn; /* mark_now when the state was drawn; 0 before the first draw */

/*
 * Returns the kernel's random number or, if a system call filter refuses the call, one from address randomisation and
 * the ids of the caller.
 */
static uint64_t drawn(void)
{
	enum { NOT_BLOCKING = 1 };
	uint64_t number = 0;

	if (arch_getrandom(&number, sizeof number, NOT_BLOCKING) != (long)sizeof number)
		number = chance_mix((uintptr_t)&number ^ chance_mix((uintptr_t)&chance_key ^ process_number()));
	return number | 1;
}

uint64_t chance_secret(void)
{
	uint64_t now = load_relaxed(&chance_key), none = 0;

	if (__builtin_expect(now != 0, 1))
		return now;
	now = drawn();
	/* The first thread's number is used.  The number publishes nothing else, so its acquire pairs with nothing. */
	return cas_acquire(&chance_key, &none, now) ? now : none;
}

/* Returns the word of the fork mark in this process. */
static uint64_t mark_now(void)
{
	const uint64_t *mark = load_acquire(&generation_mark); /* pairs with generation_watch */

	(void)generation_now(); /* sets the mark again in a child */
	return mark == NULL ? PROCESS_UNKNOWN : load_relaxed(mark);
}

/* If several threads are here at a time, each adds a number. */
static __attribute__((noinline)) void chance_renew(void)
{
	uint64_t before = load_acquire(&chance_drawn), now = mark_now();

	if (before == now)
		return;
	(void)fetch_add_relaxed(&chance_state, drawn());
	/* Pairs with the loads of chance_drawn: a thread that sees this store adds to the new state. */
	store_release(&chance_drawn, now);
	if (before == 0)
		generation_watch(); /* draws a place for the page of the mark */
}

uint64_t chance(void)
{
	uint64_t at = load_acquire(&chance_drawn); /* pairs with chance_renew */

	if (at == 0 || !generation_is(at))
		chance_renew();
	return chance_mix(fetch_add_relaxed(&chance_state, CHANCE_STEP));
}

void chances_renew(struct chances *c)
{
	uint64_t now = mark_now();

	if (c->drawn != now)
		*c = (struct chances){chance(), 0, now};
}

/*
 * Places are in a window, which each process has at a random address.  The window is bounded, because each GiB in use
 * takes a page of the chunk map, and this bounds the leaves that stay.  Each place has a bit, which is set if the
 * place has a mapping, or the page behind a mapping.
 */
#define WINDOW_SHIFT 35 /* 32 GiB */
#define PLACES	     (((uint64_t)1 << WINDOW_SHIFT) / PAGE_HUGE)
static uint64_t places[PLACES / 64];

static uintptr_t window(void)
{
	return chance_mix(chance_secret()) >> (64 - (CPU_ADDRESS_BITS - 1 - WINDOW_SHIFT)) << WINDOW_SHIFT;
}

/* Returns the first free place behind a mapping that ends there.  A result above PLACES is not in the window. */
static uint64_t place_behind(uintptr_t end)
{
	return (end - window() + PAGE_MOST + PAGE_HUGE - 1) / PAGE_HUGE;
}

static void places_leave(uint64_t i, uint64_t end)
{
	/* The release pairs with set_bit_seq_cst in places_take: the thread that takes a place finds it unmapped. */
	for (; i < end && i < PLACES; i++)
		(void)fetch_and_acq_rel(&places[i / 64], ~((uint64_t)1 << i % 64));
}

static bool places_take(uint64_t first, uint64_t end)
{
	uint64_t i;

	for (i = first; i < end; i++)
		if (i >= PLACES || set_bit_seq_cst(places, i)) {
			places_leave(first, i);
			return false;
		}
	return true;
}

uint64_t fence_place(size_t bytes)
{
	uint64_t at, tries;

	for (tries = 0; tries < 32; tries++) {
		at = window() + (chance() >> (64 - WINDOW_SHIFT) & ~(uint64_t)(PAGE_HUGE - 1));
		if (places_take((at - window()) / PAGE_HUGE, place_behind(at + bytes)))
			return at;
	}
	return 0;
}

bool fence_extend(const char *end, size_t more)
{
	return place_behind((uintptr_t)end) > PLACES || places_take(place_behind((uintptr_t)end), place_behind((uintptr_t)end + more));
}

void fence_leave(const char *p, size_t bytes, bool all)
{
	places_leave(all ? ((uintptr_t)p - window()) / PAGE_HUGE : place_behind((uintptr_t)p), place_behind((uintptr_t)p + bytes));
}

bool fence_has_neighbours(const char *p, size_t bytes)
{
	return pages_mapped(p - PAGE_SIZE) || pages_mapped(p + bytes);
}

#define FENCES_KEPT ((uint64_t)1 << 20) /* bytes that may keep their memory: threads that come and go make and leave fences */
static uint64_t fenced_bytes; /* a sum that threads add to, without an order */

uint64_t fence_bytes(void)
{
	return load_relaxed(&fenced_bytes);
}

bool fence_set(void *p, size_t bytes, bool fenced)
{
	/* The kernel would round up to its pages, if these are larger than a unit of a slab. */
	bool whole = (((uintptr_t)p | bytes) & (PAGE_SIZE - 1)) == 0, done = !fenced;

	/*
	 * The sum is raised before and reduced after: a thread that ends in between leaves the sum too high, never
	 * below 0.
	 */
	if (fenced && fetch_add_relaxed(&fenced_bytes, bytes) > FENCES_KEPT && whole)
		(void)pages_purge(p, bytes, PAGES_PRIVATE);
	if (whole)
		done = arch_mprotect(p, bytes, fenced ? PROT_NO_ACCESS : PROT_READ_WRITE) == 0;
	if (!fenced && done)
		(void)fetch_add_relaxed(&fenced_bytes, -(uint64_t)bytes);
	return done;
}
