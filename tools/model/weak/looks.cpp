/* SPDX-License-Identifier: MIT */
/* Looks at what others are changing, unowned slabs, heaps in files and in the caller's memory. */
#include "litmus.h"

/* slab.h slab_close, slab_shape, slab_publish; blocks_check.c check_unit: a wrong slab is wrong twice. */
LITMUS(check_replaced, 2)
{
	word head, base, size;

	void before()
	{
		POKE(head, 1);
		POKE(base, 1);
		POKE(size, 1);
	}

	bool wrong()
	{
		return PEEK(base) != PEEK(size);
	}

	void thread(unsigned i)
	{
		if (i == 0) {
			POKE(head, 0);
			FENCE("slab_shape", release);
			POKE(base, 2);
			POKE(size, 2);
			STORE(head, 1, "slab_publish: head", release);
		} else if (wrong()) {
			FENCE("check_unit", acquire);
			if (LOAD(head, "check_unit: head, again", acquire) == 1)
				RL_ASSERT(!wrong());
		}
	}
};

/* slab_close; blocks_check.c check_slab: no owner is no finding, as the head is cleared by then. */
LITMUS(check_closed, 2)
{
	word head, owner;

	void before()
	{
		POKE(head, 1);
		POKE(owner, 1);
	}

	void thread(unsigned i)
	{
		if (i == 0) {
			POKE(head, 0);
			STORE(owner, 0, "slab_close: owner", release);
		} else if (LOAD(owner, "check_slab: owner", acquire) == 0) {
			RL_ASSERT(PEEK(head) == 0);
		}
	}
};

enum { UNOWNED = 2, CHANGING = 4 };

/* unowned.c slots_take_all; look.c look_is_right: 0 in a word of a slab that went. */
LITMUS(words_of_slab_that_goes, 2)
{
	word owner, free;

	void before()
	{
		POKE(owner, UNOWNED);
		POKE(free, 1);
	}

	void thread(unsigned i)
	{
		unsigned one = 1, taken;

		if (i == 0) {
			POKE(owner, UNOWNED | CHANGING);
			CAS(free, one, 0, "slots_take_all: free", release);
		} else {
			taken = PEEK(free) == 0;
			FENCE("look_is_right", acquire);
			RL_ASSERT(!taken || PEEK(owner) != UNOWNED);
		}
	}
};

/* unowned_make: the same of a slab that is being made, which is asked before the words. */
LITMUS(words_of_slab_that_comes, 2)
{
	word owner, free;

	void before()
	{
		POKE(owner, UNOWNED | CHANGING);
		POKE(free, 0);
	}

	void thread(unsigned i)
	{
		if (i == 0) {
			OR(free, 1, "unowned_make: free", relaxed);
			AND(owner, ~CHANGING, "unowned_make: owner", release);
		} else if (litmus_fault("not asked before") ||
			   LOAD(owner, "look_at_group: owner", acquire) == UNOWNED) {
			bool taken = PEEK(free) == 0;

			RL_ASSERT(!taken || PEEK(owner) != UNOWNED);
		}
	}
};

/* unowned.c: unowned_make, slot_in, unowned_free, slots_take_all: who has a bit has the slab. */
LITMUS(unowned, 3)
{
	word free;
	plain size, slot;

	void before()
	{
		POKE(free, 0);
	}

	void thread(unsigned i)
	{
		unsigned one = 1;

		if (i == 0) {
			size($) = 8;
			OR(free, 1, "unowned_make: free", release);
		} else if (CAS(free, one, 0, "slot_in, slots_take_all: free", acquire)) {
			RL_ASSERT(size($) == 8);
			slot($) = i;
			OR(free, 1, "unowned_free: free", release);
		}
	}
};

/* instance_alloc.c slot_take; look.c look_at_group: a taken slot has its tag. */
LITMUS(tag, 2)
{
	word tag, free;

	void before()
	{
		POKE(tag, 0);
		POKE(free, 1);
	}

	void thread(unsigned i)
	{
		if (i == 0) {
			POKE(tag, 5);
			STORE(free, 0, "slot_take: free", release);
		} else if (LOAD(free, "look_at_group: free", acquire) == 0) {
			RL_ASSERT(PEEK(tag) == 5);
		}
	}
};

/*
 * holds.c note, holds_note, suspicion_begin, is_among, suspicion_stands: of a unit that a living thread takes, gives and
 * takes again, no search finds that it is in no bitmap, that the thread does not hold it, and that the suspicion stands.
 */
LITMUS(holds, 2)
{
	word hold, suspect, units;

	void before()
	{
		POKE(hold, 0);
		POKE(suspect, 0);
		POKE(units, 1);
	}

	void thread(unsigned i)
	{
		bool held, taken;

		for (unsigned n = 0; i == 0 && n < 2; n++) {
			POKE(hold, 1);
			FENCE("note: suspicion", seq_cst);
			if (PEEK(suspect) == 1)
				POKE(suspect, 0);
			FENCE("note: taken", release);
			POKE(units, 0);
			POKE(units, 1);
			STORE(hold, 0, "holds_note: hold", release);
		}
		if (i == 0)
			return;
		POKE(suspect, 1);
		FENCE("suspicion_begin", seq_cst);
		held = LOAD(hold, "is_among: hold", acquire) != 0;
		taken = PEEK(units) == 0;
		FENCE("suspicion_stands", acquire);
		RL_ASSERT(held || !taken || PEEK(suspect) != 1);
	}
};

/*
 * arena_list.c entry_reserve, overlaps: of two threads that reserve the same memory one sees
 * the other.  The first entry was in use before.
 */
LITMUS(arenas, 2)
{
	word begin[2], used;
	bool saw[2];

	void before()
	{
		POKE(begin[0], 0);
		POKE(begin[1], 0);
		POKE(used, 1);
		saw[0] = saw[1] = false;
	}

	void thread(unsigned i)
	{
		unsigned n = PEEK(used);

		SWAP(begin[i], 1, "entry_reserve: begin", seq_cst);
		if (n <= i)
			CAS(used, n, i + 1, "entry_reserve: used", seq_cst);
		n = LOAD(used, "overlaps: used", seq_cst);
		if (1 - i < n)
			saw[i] = LOAD(begin[1 - i], "entry_read: begin", seq_cst) != 0;
	}

	void after()
	{
		RL_ASSERT(saw[0] || saw[1]);
	}
};

/* arena_list.c entry_read: of an entry that is reused, no member is taken for the earlier one's. */
LITMUS(arena_entry, 2)
{
	word begin, end;

	void before()
	{
		POKE(begin, 1);
		POKE(end, 1);
	}

	void thread(unsigned i)
	{
		unsigned there, to;

		if (i == 0) {
			POKE(begin, 0);
			STORE(end, 2, "entry_reserve: end", release);
			SWAP(begin, 2, "entry_reserve: begin", release);
			return;
		}
		there = LOAD(begin, "entry_read: begin", acquire);
		to = LOAD(end, "entry_read: end", acquire);
		if (there != 0 && PEEK(begin) == there)
			RL_ASSERT(to == there);
	}
};

enum { FREE, FIRST, FURTHER, HELD };

/* arena_alloc.c run_take; arena.h arena_length: a block of two words is whole when it begins. */
LITMUS(arena_take, 2)
{
	word low, high;

	void before()
	{
		POKE(low, FREE);
		POKE(high, FREE);
	}

	void thread(unsigned i)
	{
		if (i == 0) {
			POKE(low, HELD);
			POKE(high, FURTHER);
			STORE(low, FIRST, "run_take: low", release);
		} else if (LOAD(low, "arena_bytes: low", acquire) == FIRST) {
			RL_ASSERT(PEEK(high) == FURTHER);
		}
	}
};

/* arena_alloc.c run_give, run_part_take; arena_call.c: released from above, taken from below. */
LITMUS(arena_give, 3)
{
	word low, high;
	plain memory[2];

	void before()
	{
		POKE(low, HELD);
		POKE(high, FURTHER);
	}

	void thread(unsigned i)
	{
		unsigned there = FREE;

		if (i == 0) {
			memory[0]($) = memory[1]($) = 1;
			STORE(high, FREE, "run_give: high", release);
			STORE(low, FREE, "run_give: low", release);
		} else if (i == 1) {
			if (CAS(high, there, FIRST, "run_part_take: high", acquire))
				memory[1]($) = 2;
		} else if (CAS(low, there, FIRST, "run_part_take: low", acquire)) {
			memory[0]($) = 2;
			RL_ASSERT(PEEK(high) != FURTHER);
		}
	}
};
