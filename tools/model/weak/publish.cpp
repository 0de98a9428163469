/* SPDX-License-Identifier: MIT */
/* Publications: a structure is filled in, then one store or compare-and-swap makes it visible. */
#include "litmus.h"

/* slab.h slab_open, slab_publish; slab_record, slab_is_purgeable (thread/settle_purge.c). */
LITMUS(slab_record, 3)
{
	word owner, head;
	plain slots;

	void before()
	{
		POKE(owner, 0);
		POKE(head, 0);
	}

	void thread(unsigned i)
	{
		if (i == 0) {
			slots($) = 7;
			STORE(owner, 1, "slab_open: owner", release);
			STORE(head, 1, "slab_publish: head", release);
		} else if (i == 1) {
			if (LOAD(head, "slab_record: head", acquire) != 0)
				RL_ASSERT(slots($) == 7);
		} else if (LOAD(owner, "slab_is_purgeable: owner", acquire) != 0) {
			/* It knows the record from an earlier slab. */
			RL_ASSERT(slots($) == 7);
		}
	}
};

/* map.h map_guess_slab: the hint proves nothing; slab_is_of asks the head.  core/backend/map.c. */
LITMUS(hint, 2)
{
	word hint, head;
	plain base;

	void before()
	{
		POKE(hint, 0);
		POKE(head, 0);
	}

	void thread(unsigned i)
	{
		if (i == 0) {
			base($) = 1;
			POKE(hint, 1);
			STORE(head, 1, "slab_publish: head", release);
		} else if (PEEK(hint) != 0 &&
			   (litmus_fault("slab_is_of left out") ||
			    LOAD(head, "slab_is_of: head", acquire) != 0)) {
			RL_ASSERT(base($) == 1);
		}
	}
};

/* map.c leaf_make, map_enter; map_guess.  Two threads make the leaf, one of them wins. */
LITMUS(map, 3)
{
	word root, entry;
	plain leaf[3], record;

	void before()
	{
		POKE(root, 0);
		POKE(entry, 0);
	}

	void thread(unsigned i)
	{
		unsigned at;

		if (i < 2) {
			unsigned none = 0;
			/* relacy knows no compare-and-swap of release order that acquires if it fails. */
			rl::memory_order won = RMW("leaf_make: root", release) == rl::mo_release
						       ? rl::mo_acq_rel
						       : rl::mo_acquire;

			leaf[i + 1]($) = 5;
			if (!root($).compare_exchange_strong(
				    none, i + 1, won,
				    litmus_order("leaf_make: root, lost", rl::mo_acquire, LITMUS_LOAD)))
				RL_ASSERT(leaf[none]($) == 5);
			if (i == 0) {
				record($) = 6;
				STORE(entry, 1, "map_enter: entry", release);
			}
			return;
		}
		at = LOAD(root, "map_guess: root", acquire);
		if (at == 0)
			return;
		RL_ASSERT(leaf[at]($) == 5);
		if (LOAD(entry, "map_guess: entry", acquire) != 0)
			RL_ASSERT(record($) == 6);
	}
};

/* owner.c owner_publish, region.c region_push, benches.c bench_enter: lists that only grow. */
LITMUS(list, 3)
{
	word top;
	plain next[3];

	void before()
	{
		POKE(top, 0);
	}

	void thread(unsigned i)
	{
		unsigned at;

		if (i < 2) {
			at = PEEK(top);
			next[i + 1]($) = at;
			if (!CAS(top, at, i + 1, "owner_publish: heap.owners", release)) {
				next[i + 1]($) = at;
				CAS(top, at, i + 1, "owner_publish: heap.owners", release);
			}
			return;
		}
		/* A record that was entered by another thread is reached over the last one. */
		for (at = LOAD(top, "walks: heap.owners", acquire); at != 0;)
			at = next[at]($);
	}
};

/* chunk.c chunk_open: kind, and the byte in region.room; chunk_is, units_find (units.c). */
LITMUS(chunk, 3)
{
	word kind, room;
	plain base;

	void before()
	{
		POKE(kind, 0);
		POKE(room, 0);
	}

	void thread(unsigned i)
	{
		if (i == 0) {
			base($) = 1;
			STORE(kind, 1, "chunk_open: kind", release);
			OR(room, 1, "chunk_hint: room", release);
		} else if (i == 1) {
			if (LOAD(kind, "chunk_is: kind", acquire) == 1)
				RL_ASSERT(base($) == 1);
		} else if (LOAD(room, "units_find: room", acquire) != 0) {
			RL_ASSERT(base($) == 1);
		}
	}
};

/* region_space.c region_create, region_cut: bits of chunks; the record of a retired region. */
LITMUS(region, 3)
{
	word free, state;
	plain base, memory;

	void before()
	{
		POKE(free, 0);
		POKE(state, 1);
		base($) = 1;
	}

	void thread(unsigned i)
	{
		unsigned all = 1, vacant = 0;

		if (i == 0) {
			memory($) = 1;
			OR(free, 1, "bits_release: free", release);
		} else if (i == 1) {
			/* All chunks are claimed, so the region is retired. */
			if (CAS(free, all, 0, "bits_claim: free", acquire)) {
				memory($) = 0;
				base($) = 0;
				STORE(state, 0, "region_cut: state", release);
			}
		} else if (CAS(state, vacant, 2, "metadata_make: state", acquire)) {
			base($) = 2;
		}
	}
};

/* units.c claim_in, chunk.c chunk_put: two give, a third claims both units by one step. */
LITMUS(units, 3)
{
	word units;
	plain memory[2];

	void before()
	{
		POKE(units, 0);
	}

	void thread(unsigned i)
	{
		unsigned both = 3;

		if (i < 2) {
			memory[i]($) = 1;
			OR(units, 1 << i, "chunk_put: units", release);
		} else if (CAS(units, both, 0, "claim_in: units", acquire)) {
			memory[0]($) = 2;
			memory[1]($) = 2;
		}
	}
};

/* open_create.c set_up, open_attach.c: words of a file, read by two system calls. */
LITMUS(store, 2)
{
	word magic, rest;

	void before()
	{
		POKE(magic, 0);
		POKE(rest, 0);
	}

	void thread(unsigned i)
	{
		if (i == 0) {
			POKE(rest, 1);
			STORE(magic, 1, "set_up: magic", release);
		} else if (PEEK(magic) != 0) {
			FENCE("store_attach: behind claim_look", acquire);
			RL_ASSERT(PEEK(rest) == 1);
		}
	}
};

/* open_claim.c claim_take: who sees a claim sees the namespaces in which its life is valid. */
LITMUS(claim, 2)
{
	word world, claim;

	void before()
	{
		POKE(world, 0);
		POKE(claim, 0);
	}

	void thread(unsigned i)
	{
		unsigned none = 0;

		if (i == 0) {
			POKE(world, 5);
			CAS(claim, none, 1, "claim_take: claim", release);
		} else if (LOAD(claim, "claim_take: claim, look", acquire) != 0) {
			RL_ASSERT(PEEK(world) == 5);
		}
	}
};

/*
 * One word that leads to plain data: ash_heap_root, heap.unowned[] (the preferred slab), the
 * fork marks (generation_mark, borrow.c `kept`), bench.page, bench.more[], benches.c `turn`,
 * arenas_publish, global_names.c.
 */
LITMUS(pointer, 2)
{
	word pointer;
	plain data;

	void before()
	{
		POKE(pointer, 0);
	}

	void thread(unsigned i)
	{
		if (i == 0) {
			data($) = 1;
			STORE(pointer, 1, "ash_heap_set_root", release);
		} else if (LOAD(pointer, "ash_heap_root", acquire) != 0) {
			RL_ASSERT(data($) == 1);
		}
	}
};
