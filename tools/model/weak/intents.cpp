/* SPDX-License-Identifier: MIT */
/*
 * Intents (core/store/recover/intent.c): a slot changes by a mark, which any thread takes out.  The code has
 * seq_cst where slot and state change; these are the halves of it that something needs.
 */
#include "litmus.h"

enum { NONE, OLD, MARKED, FRESH }; /* in the slot */
enum { ARMED_ONE = 1, DONE_ONE, RELEASING_ONE, CLAIMED_TWO }; /* state: kind and use */

/*
 * intent_change, intent_complete; intent_read, help.  One publishes `old`, the next takes it out
 * and publishes `fresh`, a third reads, and helps if it meets the mark.
 */
LITMUS(intent_change_and_read, 3)
{
	word slot, state, fresh;
	plain old_block, fresh_block;

	void before()
	{
		POKE(slot, NONE);
		POKE(state, 0);
		POKE(fresh, 0);
	}

	void complete(unsigned with)
	{
		unsigned armed = ARMED_ONE, mark = MARKED;

		CAS(state, armed, DONE_ONE, "intent_complete: state", relaxed);
		/* The mark's release goes on through this one, whichever thread does it. */
		CAS(slot, mark, with, "intent_complete: slot", relaxed);
	}

	void thread(unsigned i)
	{
		unsigned none = NONE, old = OLD, now, with;

		if (i == 0) {
			old_block($) = 1;
			CAS(slot, none, OLD, "intent_change: slot", acq_rel);
		} else if (i == 1) {
			fresh_block($) = 1;
			POKE(fresh, FRESH);
			POKE(state, ARMED_ONE);
			if (!CAS(slot, old, MARKED, "intent_change: slot", acq_rel))
				return;
			complete(FRESH);
			old_block($) = 2; /* it is released */
		} else {
			now = LOAD(slot, "intent_read: slot", acquire);
			if (now == MARKED) {
				RL_ASSERT(PEEK(state) != 0);
				with = PEEK(fresh);
				RL_ASSERT(with == FRESH);
				complete(with);
				now = with;
			}
			if (now == FRESH)
				RL_ASSERT(fresh_block($) == 1);
		}
	}
};

/*
 * intent_complete by a helper; settle (recover.c) by who recovers the record: the mark was
 * in the slot when its thread died, so the change is never rolled back.
 */
LITMUS(intent_done, 2)
{
	word slot, state;

	void before()
	{
		POKE(slot, MARKED);
		POKE(state, ARMED_ONE);
	}

	void complete()
	{
		unsigned armed = ARMED_ONE, mark = MARKED;

		CAS(state, armed, DONE_ONE, "intent_complete: state", relaxed);
		CAS(slot, mark, FRESH, "intent_complete: slot", release);
	}

	void thread(unsigned i)
	{
		if (i == 0) {
			complete();
			return;
		}
		if (LOAD(slot, "settle: slot", acquire) == MARKED)
			complete();
		RL_ASSERT(PEEK(state) == DONE_ONE);
	}
};

/*
 * intent_claim, intent_change of the next use; help and view_read with the mark of the last one:
 * if the use is still the same behind the fence, `fresh` is of that use.
 */
LITMUS(intent_next_use, 2)
{
	word state, fresh;

	void before()
	{
		POKE(state, DONE_ONE);
		POKE(fresh, FRESH);
	}

	void thread(unsigned i)
	{
		unsigned done = DONE_ONE, with;

		if (i == 0) {
			CAS(state, done, CLAIMED_TWO, "intent_claim: state", relaxed);
			STORE(fresh, 0, "intent_claim: fresh", release);
			/* In C11 it goes on with that release; the code has one of its own, for later models. */
			POKE(fresh, OLD);
			return;
		}
		with = PEEK(fresh);
		FENCE("help, view_read", acquire);
		if (PEEK(state) == DONE_ONE)
			RL_ASSERT(with == FRESH);
	}
};

/*
 * intent_change: the tag of `old` is the intent's before the state says RELEASING; settle, of who
 * has not acquired the record: a walk (intent_owner), or the image of a file.
 */
LITMUS(intent_tag, 2)
{
	word tag, state;

	void before()
	{
		POKE(tag, 0);
		POKE(state, DONE_ONE);
	}

	void thread(unsigned i)
	{
		if (i == 0) {
			POKE(tag, 1);
			STORE(state, RELEASING_ONE, "intent_set: state", release);
		} else if (LOAD(state, "intent_is: state", acquire) == RELEASING_ONE) {
			RL_ASSERT(PEEK(tag) == 1);
		}
	}
};

/* instance_draft.c tag_set, intent_tag_block; kind_of, view_kinds: the program's tag of a block. */
LITMUS(intent_kind, 2)
{
	word byte, tag;

	void before()
	{
		POKE(byte, 0);
		POKE(tag, 0);
	}

	void thread(unsigned i)
	{
		if (i == 0) {
			POKE(byte, 7);
			STORE(tag, 1, "intent_tag_block: tag", release);
		} else if (LOAD(tag, "kind_of, view_kinds: tag", acquire) != 0) {
			RL_ASSERT(PEEK(byte) == 7);
		}
	}
};
