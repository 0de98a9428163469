/* SPDX-License-Identifier: MIT */
/* Protocols between a slab's owner, other threads, and those who take over. */
#include "litmus.h"

enum { PENDING = 1, OWNER = 2, OTHER = 4 };

/* remote.h remote_set, remote_is_notified; slab.c slab_collect: one of the two sees the other. */
LITMUS(pending, 2)
{
	word owner, remote;
	bool seen[2];

	void before()
	{
		POKE(owner, OWNER | PENDING);
		POKE(remote, 0);
		seen[0] = seen[1] = false;
	}

	void thread(unsigned i)
	{
		if (i == 0) {
			OR(remote, 1, "remote_set: remote", seq_cst);
			/* Without the pending bit it notifies the owner. */
			seen[0] = (LOAD(owner, "remote_is_notified: owner", seq_cst) & PENDING) == 0;
		} else {
			AND(owner, ~PENDING, "slab_collect: owner", seq_cst);
			seen[1] = LOAD(remote, "slab_collect: remote", seq_cst) != 0;
		}
	}

	void after()
	{
		RL_ASSERT(seen[0] || seen[1]);
	}
};

/* The same with refill.c adopt_slab, which exchanges the owner word. */
LITMUS(adopt, 2)
{
	word owner, remote;
	bool seen[2];

	void before()
	{
		POKE(owner, OWNER | PENDING);
		POKE(remote, 0);
		seen[0] = seen[1] = false;
	}

	void thread(unsigned i)
	{
		if (i == 0) {
			OR(remote, 1, "remote_set: remote", seq_cst);
			seen[0] = (LOAD(owner, "inbox_notify: owner", seq_cst) & PENDING) == 0;
		} else {
			SWAP(owner, OTHER, "adopt_slab: owner", seq_cst);
			seen[1] = LOAD(remote, "slab_collect: remote", seq_cst) != 0;
		}
	}

	void after()
	{
		RL_ASSERT(seen[0] || seen[1]);
	}
};

/* remote_set, slab_collect: the memory of the slot; then the record of the owner that is told. */
LITMUS(remote_slot, 2)
{
	word remote;
	plain slot;

	void before()
	{
		POKE(remote, 0);
	}

	void thread(unsigned i)
	{
		if (i == 0) {
			slot($) = 1;
			OR(remote, 1, "remote_set: remote", release);
		} else if (LOAD(remote, "slab_collect: remote", acquire) != 0) {
			slot($) = 2;
		}
	}
};

/* owner.c owner_publish, refill.c; remote.c remote_notify reads the state of a record it met. */
LITMUS(remote_record, 2)
{
	word owner;
	plain state;

	void before()
	{
		POKE(owner, OWNER | PENDING);
	}

	void thread(unsigned i)
	{
		if (i == 0) {
			state($) = 1;
			SWAP(owner, OTHER, "adopt_slab: owner", release);
			OR(owner, PENDING, "inbox_notify: owner", relaxed);
		} else if (LOAD(owner, "remote_is_notified: owner", acquire) == (OTHER | PENDING)) {
			RL_ASSERT(state($) == 1);
		}
	}
};

/*
 * slab_collect sets the free bit and then clears the remote one; remote.c group_is_free,
 * slot.c slot_is_taken, look.c look_at_group, settle.h slab_free_word read the two
 * words the other way round: a free slot has one of them.
 */
LITMUS(free_or_remote, 2)
{
	word free, remote;

	void before()
	{
		POKE(free, 0);
		POKE(remote, 1);
	}

	void thread(unsigned i)
	{
		unsigned there, too;

		if (i == 0) {
			POKE(free, 1);
			AND(remote, ~1u, "slab_collect: remote", release);
		} else if (litmus_fault("the free word first")) {
			there = PEEK(free);
			too = PEEK(remote);
			RL_ASSERT((there | too) == 1);
		} else {
			there = LOAD(remote, "slot_is_taken: remote", acquire);
			too = PEEK(free);
			RL_ASSERT((there | too) == 1);
		}
	}
};

/* settle.c inbox_enter, then owner.state; seat.c owner_vacate, then seating_takeover.c visit_vacant. */
LITMUS(inbox_vacant, 2)
{
	word notified, state;
	bool visits[2];

	void before()
	{
		POKE(notified, 0);
		POKE(state, 1);
		visits[0] = visits[1] = false;
	}

	void thread(unsigned i)
	{
		if (i == 0) {
			OR(notified, 1, "inbox_enter: notified", seq_cst);
			visits[0] = LOAD(state, "remote_notify: state", seq_cst) == 0;
		} else {
			SWAP(state, 0, "owner_vacate: state", seq_cst);
			visits[1] = LOAD(notified, "visit_vacant: notified", seq_cst) != 0;
		}
	}

	void after()
	{
		RL_ASSERT(visits[0] || visits[1]);
	}
};

/*
 * inbox_enter makes its entry and leaves `notified` if it is set; collect_inbox clears it and then
 * reads the entries: the owner has the entry, or `notified` is set again.
 */
LITMUS(inbox_told, 2)
{
	word inbox, notified;
	bool taken;

	void before()
	{
		POKE(inbox, 0);
		POKE(notified, 1);
		taken = false;
	}

	void thread(unsigned i)
	{
		unsigned none = 0;

		if (i == 0) {
			CAS(inbox, none, 1, "inbox_enter: inbox", seq_cst);
			if (LOAD(notified, "inbox_enter: notified, look", seq_cst) == 0)
				OR(notified, 1, "inbox_enter: notified", relaxed);
		} else {
			SWAP(notified, 0, "collect_inbox: notified", seq_cst);
			taken = LOAD(inbox, "collect_inbox: inbox, look", seq_cst) != 0;
		}
	}

	void after()
	{
		RL_ASSERT(taken || PEEK(notified) != 0);
	}
};

/*
 * seating_takeover.c visit_slab: a guest holds the record for one slab (0).  Another, for another slab, finds it
 * held, or taken between its look and its CAS by a third (2).  It leaves word, and who vacates then sees it.
 */
LITMUS(visit_missed, 3)
{
	word notified, state;
	bool visited;

	void before()
	{
		POKE(notified, 0);
		POKE(state, 1);
		visited = false;
	}

	bool hold(unsigned i)
	{
		unsigned vacant = 0;

		return LOAD(state, "owner_hold_as: state, look", seq_cst) == 0 &&
		       CAS(state, vacant, i + 1, "owner_hold_as: state", relaxed);
	}

	void vacate()
	{
		SWAP(state, 0, "owner_vacate: state", seq_cst);
		/* visit_vacant: collects from all, so it never misses what was noted. */
		if (LOAD(notified, "visit_slab: notified", seq_cst) != 0)
			visited = true;
	}

	void thread(unsigned i)
	{
		if (i == 1) {
			OR(notified, 2, "visit_slab: notified, missed", seq_cst);
			if (hold(i))
				visited = true;
		} else if (i == 0 || hold(i)) {
			vacate();
		}
	}

	void after()
	{
		RL_ASSERT(visited);
	}
};

/* inbox_enter leaves an entry that is still there; settle.c collect_inbox takes it. */
LITMUS(inbox_entry, 2)
{
	word inbox, remote;
	bool seen[2];

	void before()
	{
		POKE(inbox, 1);
		POKE(remote, 0);
		seen[0] = seen[1] = false;
	}

	void thread(unsigned i)
	{
		if (i == 0) {
			OR(remote, 1, "remote_set: remote", seq_cst);
			/* Otherwise it makes a new entry. */
			seen[0] = LOAD(inbox, "inbox_enter: inbox, look", seq_cst) == 0;
		} else {
			SWAP(inbox, 0, "collect_inbox: inbox", seq_cst);
			seen[1] = LOAD(remote, "slab_collect: remote", seq_cst) != 0;
		}
	}

	void after()
	{
		RL_ASSERT(seen[0] || seen[1]);
	}
};

/* seat.c owner_vacate, owner_hold_as: lists and bins of a record change hands. */
LITMUS(hand_over, 3)
{
	word state;
	plain lists;

	void before()
	{
		POKE(state, 1);
	}

	void thread(unsigned i)
	{
		unsigned vacant = 0;

		if (i == 0) {
			lists($) = 1;
			SWAP(state, 0, "owner_vacate: state", release);
		} else if (CAS(state, vacant, i + 1, "owner_hold_as: state", acquire)) {
			lists($) = i;
			SWAP(state, 0, "owner_vacate: state", release);
		}
	}
};

/* owner_vacate, holder_identify; seating_takeover.c reap_turn: the identity is that of the state's holder. */
LITMUS(identity, 3)
{
	word state, identity;

	void before()
	{
		POKE(state, 1);
		POKE(identity, 1);
	}

	void thread(unsigned i)
	{
		unsigned vacant = 0;

		if (i == 0) {
			POKE(identity, 0);
			SWAP(state, 0, "owner_vacate: state", release);
		} else if (i == 1) {
			/* It continues the release sequence of owner_vacate, whatever its own order. */
			if (CAS(state, vacant, 2, "owner_hold_as: state", relaxed))
				POKE(identity, 2);
		} else if (LOAD(state, "reap_turn: state", acquire) == 2) {
			RL_ASSERT(PEEK(identity) != 1);
		}
	}
};

/* seat.c owner_vacate, seating.c owner_find: who has seen the count sees the record vacant. */
LITMUS(vacated, 2)
{
	word state, vacated;

	void before()
	{
		POKE(state, 1);
		POKE(vacated, 0);
	}

	void thread(unsigned i)
	{
		if (i == 0) {
			POKE(state, 0);
			ADD(vacated, 1, "owner_vacate: vacated", release);
		} else if (LOAD(vacated, "owner_find: vacated", acquire) != 0) {
			RL_ASSERT(PEEK(state) == 0);
		}
	}
};

/*
 * process.c process_thread_is_gone, identity.c, life.c: the plain stores of a thread that has
 * ended; then recover.c recover_settle, recover_memory.c: what a third thread reads of them.
 */
LITMUS(death, 3)
{
	word alive, lost;
	plain lists;

	void before()
	{
		POKE(alive, 1);
		POKE(lost, 0);
	}

	void thread(unsigned i)
	{
		if (i == 0) {
			lists($) = 1;
			alive($).store(0, rl::mo_release); /* the kernel's */
		} else if (i == 1) {
			if (PEEK(alive) != 0)
				return;
			FENCE("process_thread_is_gone", acquire);
			RL_ASSERT(lists($) == 1);
			ADD(lost, 1, "recover_settle: deaths", release);
		} else if (LOAD(lost, "store_lost: deaths", acquire) != 0) {
			RL_ASSERT(lists($) == 1);
		}
	}
};

/*
 * chunk.c chunk_put, chunk_hint: the hint is not less than the longest run of free units.  A thread gives a
 * unit and knows the run that this ends; another finds none, or gives the unit beside it.
 */
LITMUS(room, 2)
{
	word units, room;

	void before()
	{
		POKE(units, 0);
		POKE(room, 1);
	}

	static unsigned longest(unsigned bits)
	{
		return bits == 3 ? 2 : bits != 0;
	}

	void hint(unsigned bits, bool counted)
	{
		for (;;) {
			auto run = longest(bits), now = LOAD(room, "chunk_hint: room, look", seq_cst);

			if (run == now || (run < now && !counted))
				return;
			STORE(room, run, "chunk_hint: room", seq_cst);
			auto seen = LOAD(units, "chunk_hint: units", seq_cst);
			if (seen == bits)
				return;
			bits = seen;
			counted = true;
		}
	}

	void thread(unsigned i)
	{
		if (i == 1 && rl::rand(2) == 0) {
			hint(PEEK(units), true);
			return;
		}
		auto before = OR(units, i + 1, "chunk_put: units", seq_cst);
		hint(before | (i + 1), false);
	}

	void after()
	{
		RL_ASSERT(longest(PEEK(units)) <= PEEK(room));
	}
};

/* slab.h slab_let_go, slab_take; settle_purge.c slabs_purge_held: a slot is used or purged. */
LITMUS(hold, 2)
{
	word hold, free;
	plain slot;

	void before()
	{
		POKE(hold, 0);
		POKE(free, 1);
	}

	void thread(unsigned i)
	{
		unsigned idle = 0;

		if (i == 0) {
			if (CAS(hold, idle, 2, "slabs_purge_held: hold", acquire)) {
				if (PEEK(free) == 1)
					slot($) = 0;
				STORE(hold, 0, "slab_let_go: hold, purged", release);
			}
		} else if (CAS(hold, idle, 1, "slab_take: hold", acquire)) {
			POKE(free, 0);
			STORE(hold, 0, "slab_let_go: hold", release);
			slot($) = 7;
		}
	}
};
