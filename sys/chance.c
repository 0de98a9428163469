/* SPDX-License-Identifier: MIT */
#include "chance.h"

#include "atomic.h"
#include "syscall.h"

static uint64_t chance_key, chance_state; /* 0: not drawn yet */

/* What the kernel gives, or where a system call filter refuses it what address randomisation left. */
static uint64_t drawn(void)
{
	enum { NOT_BLOCKING = 1 };
	uint64_t number = 0;

	if (arch_getrandom(&number, sizeof number, NOT_BLOCKING) != (long)sizeof number)
		number = chance_mix((uintptr_t)&number ^ chance_mix((uintptr_t)&chance_key));
	return number | 1;
}

uint64_t chance_secret(void)
{
	uint64_t now = load_relaxed(&chance_key), none = 0;

	if (__builtin_expect(now != 0, 1))
		return now;
	now = drawn();
	/* One thread's is taken.  It stands for itself: its acquire pairs with nothing. */
	return cas_acquire(&chance_key, &none, now) ? now : none;
}

uint64_t chance(void)
{
	if (load_relaxed(&chance_state) == 0)
		chance_renew();
	return chance_mix(fetch_add_relaxed(&chance_state, CHANCE_STEP));
}

void chance_renew(void)
{
	fetch_add_relaxed(&chance_state, drawn());
}
