/* SPDX-License-Identifier: MIT */
/*
 * A handler at a chosen instruction boundary of a call, by the CPU's trap
 * flag: SIGTRAP after every instruction.
 */
#ifndef TESTS_SUPPORT_HANDLER_AT_STEP_H
#define TESTS_SUPPORT_HANDLER_AT_STEP_H

#include "support/stamp.h"
#include "trap_flag.h"

static volatile bool stepping;
static volatile size_t boundary, act_at, acted;
static volatile size_t act_again; /* the act comes again after this number of boundaries; 0 means never */
static void (*volatile act)(void);

static inline void trap(UNUSED int number, UNUSED void *info, void *context)
{
	bool on = stepping;

	if (on && boundary++ == act_at) {
		act();
		acted++;
		on = act_again > 0;
		act_at += act_again;
	}
	trap_go_on(context, on);
}

/* Clearing `stepping` ends the steps that trap_begin began. */
static inline bool with_act_at(size_t k, void (*call)(void))
{
	acted = boundary = 0;
	act_at = k;
	stepping = true;
	trap_begin();
	call();
	stepping = false;
	return acted > 0;
}

static inline void step_begin(void (*acting)(void))
{
	trap_need();
	rt_signal(SIGTRAP_NUMBER, trap);
	act = acting;
}

static inline void act_not(void)
{
}

/* The instructions of the call. */
static inline size_t steps_of(void (*call)(void))
{
	step_begin(act_not);
	(void)with_act_at(SIZE_MAX, call);
	return boundary;
}

#endif
