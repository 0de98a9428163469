/* SPDX-License-Identifier: MIT */
/*
 * A model of the protocol of the bitmap words, for the model checker spin.
 * tools/model/run checks it (make model); tools/model/run --bugs shows what it catches.
 *
 * There are three threads, each with an owner record, and one chunk of two units.
 * A slab takes one unit and has two slots, so it is one group with one word.  Each
 * thread does two rounds; in a round it allocates, releases a block that any thread
 * allocated, or detaches.  It may stop for ever before any step.  All orders of all
 * steps are searched.  The full freedom for all three threads cannot be searched in
 * half a minute, so the runs in tools/model/run divide it (DO0, DO1, DO2, STOPS).
 *
 * A STEP is one load, store or read-modify-write of the code.  Between steps a
 * thread only uses its own variables, or data that belongs to the holder of a
 * record alone: its lists, its bins, its seat.  The lists are not modelled: a
 * record's slabs are those whose owner word names it.  Two kinds of pairs in the
 * code are one step here, as no step of another thread between the two could change
 * the result:
 *
 *   - a holder's load of a free word and its store there: only the holder stores
 *   - a load that avoids a CAS or an exchange which would fail or find nothing
 *     (owner_hold, inbox_notify, collect_inbox, remote_is_notified)
 *
 *   here                 in the code
 *   -------------------  ----------------------------------------------------
 *   claim_slot           alloc.c: ash_alloc; refill.c: refill_slot
 *   refill_slot           refill.c: refill_slot, refill_bin, bin_find_slab;
 *                        bin.c: bin_next, bin_detach
 *   hold, vacate         seat.c: owner_hold, owner_vacate
 *   attach               seating.c: seat_slow, owner_acquire
 *   collect_words        slab.c: slab_collect
 *   collect_slab         settle.c: collect_slab, settle_slab,
 *                        spares_add, slab_leave
 *   collect              settle.c: collect_inbox, collect_lost; settle_shrink.c: shrink_turn
 *   visit, visit_slab    seating_takeover.c: visit_vacant, visit_slab
 *   adopt                refill.c: adopt_slabs, adopt_slab
 *   detach               seating.c: ash_thread_detach; settle_shrink.c: shrink_owner
 *   slab_make            slab.c: slab_make; slab.h: slab_open, slab_publish
 *   slab_unmake          settle.c: slab_retire; slab.c: slab_close
 *   units_claim          units.c: units_claim, claim_in, chunk_make;
 *                        region.c: region_claim (bits.c: bits_claim)
 *   units_give           units.c: units_give; chunk.c: chunk_return;
 *                        region.c: region_give
 *   release              release.c: ash_release; remote.c: release_rest, release_slot,
 *                        release_other; block.c: slot_find
 *   settle_freed          settle.c: settle_freed; remote.c: release_pending,
 *                        release_event
 *   remote_free, notify  remote.h: remote_set, remote_is_notified; remote.c: remote_notify,
 *                        group_is_free; settle.c: inbox_notify
 *   unowned_slot         unowned.c: unowned_slot, slot_in, slot_nearby
 *   unowned_make         unowned.c: unowned_make
 *   unowned_unmake       unowned.c: unowned_unmake, slots_take_all
 *   unowned_free         unowned.c: unowned_free, unowned_settle
 *   REPORT               diagnose.c: diagnose; slab.c: slab_report_double
 *
 * WHAT IS ASSERTED
 *
 *   1  a slot has one holder at a time                           CLAIMED
 *   2  no misuse is reported of programs that release each block once  REPORT
 *   3  nothing is lost: when all threads have ended or stopped, each slot of each
 *      slab is free, remote, held by the program, or the one slot in flight of a
 *      thread that stopped; the same of units and the chunk      referee
 *   4  a unit is given back, and a chunk returned, only if no slot of it is taken
 *                                                                EMPTY
 *   5  whatever the others do, even if they stop, each thread comes to its end: no
 *      state without a next step, and (tools/model/run: progress) no cycle of
 *      steps at all
 *   6  if no thread stopped, each record's inbox names its slabs with remote bits, or
 *      tells that an entry was lost, which its next holder then looks for;
 *      no vacant record has a slab that is empty with these      referee
 *      (A thread that stops between setting the pending bit and writing the inbox
 *      delays this, for a slab of a vacant record until that is held again.)
 *   7  a block released by two threads at once is reported exactly once (DOUBLE)
 *
 * VARIANTS, by -D
 *
 *   STOPS=n   up to n threads stop, anywhere
 *   NO_RECORD=n  the last n threads have no record and get none, like signal handlers
 *             that interrupted a call: they use the unowned slabs
 *   START=n   the initial state, see init
 *   DO0, DO1, DO2  what the threads may do: sums of ALLOCATE, RELEASE, DETACH
 *   DOUBLE=n  two threads release the same block: the owner and another (1), or
 *             two others (2)
 *
 * PLANTED BUGS, by -DBUG=n: each is found by the assertion named
 *
 *    1  collect clears the remote bits before it sets the free bits      3
 *    2  collect clears the pending bit after it reads the words          6
 *    3  remote release reads the free word after its fetch_or            2
 *    4  units are given back before head and owner are cleared           2
 *    5  a slot of an unowned slab is claimed by a store instead of a CAS 1
 *    6  adopt_slab ignores the pending bit that it clears                6
 *    7  a vacated record is not visited                                  6
 *    8  chunk_return reads the units and then stores 0                   3, 4
 *    9  remote release by a load and a store                             2, 3
 *   10  a release compares with UNOWNED alone, and finds CHANGING, too   3
 *   11  the slots of an unowned slab are freed before its head is set    2
 *   12  a thread waits for a record that another one holds               5
 *   13  collect clears the whole remote word, not only what it took      3
 *   14  the inbox is trusted: the slab's owner is not compared           4
 *   15  collect finds both bits of a slot set and does not report it     7
 *   16  a failed CAS for a unit is repeated with the old word            5
 *   17  a sender does not test whether the record is vacant              6
 *   18  ... tests whether the slab is empty before it writes the inbox   6
 *   19  an unowned slab is given back without claiming all its slots     4
 *   20  unowned slabs use the records of owners' slabs                   2
 *   21  two threads may unmake the same unowned slab                     4
 *   22  a visitor that finds a guest in the record leaves no word        6
 *   23  a sender takes a guest for the record's thread                   6
 *   24  who vacates a record tells no guest that came since              6
 *   25  a full inbox loses an entry and does not tell                    6
 *   26  a holder forgets that an entry was lost                          6
 *
 * NOT MODELLED: weak memory orders (each step is visible to all at once; only in
 * DOUBLE the owner's plain store of a release may wait in its store buffer: there
 * another thread acts upon a free word that the owner may be changing); more than
 * one group, class or chunk; spans, purges and the hint region.room; spares (an
 * empty slab stays or goes nondeterministically); fork; a second release so late
 * that the slot was allocated again, or the slab unmade.
 */

#define THREADS 3
#define ROUNDS	2
#define SLABS	2 /* one for each unit */
#define ALL	3 /* the units of a chunk; the slots of a slab */

#ifndef BUG
#define BUG 0
#endif
#ifndef START
#define START 0
#endif
#ifndef DO0
#define DO0 7
#endif
#ifndef DO1
#define DO1 7
#endif
#ifndef DO2
#define DO2 7
#endif
#ifndef NO_RECORD
#define NO_RECORD 0
#endif
#ifndef STOPS
#define STOPS 0
#endif

/* Owner words: 0, or a record 1 ... 3, perhaps with PENDING.  Unowned slabs: UNOWNED, CHANGING. */
#define UNOWNED	4
#define PENDING 8
#define CHANGING 16
#define OWNED	1
#define NO_OWNER 2
#if BUG == 20
#define NFREE	free_
#else
#define NFREE	nfree
#endif
#define VACANT	0
#define HELD	1
#define GUEST	2

/* Bits of told[]. */
#define ENTRY	1
#define MISSED	2
#define LOST	4

/* ---- the words of the heap ---- */

byte owner[SLABS];
byte free_[SLABS];
byte remote[SLABS];
byte head[SLABS];	 /* chunk.head: the unit has a slab: OWNED, NO_OWNER */
byte nowner[SLABS];	 /* owner and free in the records of unowned slabs */
byte nfree[SLABS];
byte units;		 /* chunk.units: bit = 1, the unit is free     */
bit slabs_kind;		 /* chunk.kind: CHUNK_SLABS                    */
bit chunk_free = 1;	 /* region.free                                */
byte hint;		 /* heap.unowned: a slab + 1                   */

byte state[THREADS + 1]; /* owner.state; records count from 1          */
byte told[THREADS + 1];	 /* owner.notified                             */
byte inbox[THREADS + 1]; /* a single entry, to overflow soon: a slab + 1 */
bit lost[THREADS + 1];	 /* owner.lost, for the record's holder        */

/* ---- only in the model: which thread holds what ---- */

byte pool[SLABS];	 /* slots that the program holds               */
byte flight[THREADS];	 /* the slot that a call is working on: IN_FLIGHT */
byte taken[SLABS];	 /* both of these                              */
byte made[SLABS];	 /* the unit is being made a slab or freed: by thread + 1 */
byte chunk_by;		 /* the chunk is being made or returned: by thread + 1 */
byte ended, halted, reports;
byte buffer;
bit buffered;

#define IN_FLIGHT(s, b) ((s) * 4 + (b))
#define LANDED(s, b)	taken[s] = taken[s] & ~(b); flight[t] = 0
#define TAKEN(s, b)	((taken[s] & (b)) != 0)
#define EMPTY(s)	assert(taken[s] == 0)
#define CLAIMED		assert(!TAKEN(s, b)); taken[s] = taken[s] | b; flight[t] = IN_FLIGHT(s, b)
#ifdef DOUBLE
#define REPORT reports++
#else
#define REPORT assert(false)
#endif

/* A thread may stop before each of its steps. */
#if STOPS > 0
#define STEP(x) if :: atomic { x } :: atomic { halted < STOPS -> halted++; goto stop } fi
#else
#define STEP(x) atomic { x }
#endif

/* The lowest bit of a word that has two. */
#define LOWEST(w) (((w) & 1) -> 1 : 2)
/* The slab is on a list, or current in a bin, of the record. */
#define HAS(r, s) ((owner[s] & ~PENDING) == (r))

/*
 * Variables below: t the thread, o the record in its seat (0: none), h the record
 * that is worked on, which is o or one held temporarily; s, b the slab and the slot;
 * f, w words that were read.
 */

/* ---- units and chunks ---- */

/* ok: the unit s is claimed.  `grow`: from a new chunk, if necessary. */
inline units_claim(grow)
{
	STEP(w = units);
	do
	:: w != 0 ->
		s = (w & 1 -> 0 : 1);
		STEP(if
		     :: units == w -> units = w & ~(1 << s); ok = 1; made[s] = t + 1; EMPTY(s)
		     :: else -> ok = 0;
			if
			:: BUG != 16 -> w = units
			:: else
			fi
		     fi);
		if
		:: ok -> break
		:: else
		fi
	:: w == 0 && grow ->
		STEP(ok = chunk_free; chunk_free = 0; if :: ok -> chunk_by = t + 1 :: else fi);
		if
		:: !ok -> break
		:: else
		fi;
		STEP(slabs_kind = 1);
		/* Other threads may exhaust the new chunk first; retry (they made progress). */
		STEP(units = ALL; chunk_by = 0);
		STEP(w = units)
	:: else -> ok = 0; break
	od;
	w = 0
}

inline units_give()
{
	STEP(EMPTY(s); units = units | (1 << s); made[s] = 0; w = units);
	if
	:: w == ALL ->
#if BUG == 8
		STEP(ok = (units == ALL));
		if
		:: ok -> STEP(units = 0; chunk_by = t + 1; EMPTY(0); EMPTY(1))
		:: else
		fi;
#else
		/* The thread whose CAS succeeds holds the chunk. */
		STEP(ok = (units == ALL);
		     if
		     :: ok -> units = 0; chunk_by = t + 1; EMPTY(0); EMPTY(1)
		     :: else
		     fi);
#endif
		if
		:: ok ->
			STEP(slabs_kind = 0);
			STEP(assert(!chunk_free); chunk_free = 1; chunk_by = 0)
		:: else
		fi
	:: else
	fi;
	w = 0; ok = 0
}

/* ---- slabs ---- */

/* ok: the slab s is made, with the owner word `word`. */
inline slab_make(word, grow)
{
	units_claim(grow);
	if
	:: ok ->
		STEP(free_[s] = ALL);
		/* Also clears a pending bit that was set while the record had no slab. */
		STEP(owner[s] = word);
		STEP(head[s] = OWNED; made[s] = 0)
	:: else
	fi
}

/* The same for an unowned slab. */
inline unowned_make(grow)
{
	units_claim(grow);
	if
	:: ok ->
		STEP(nowner[s] = UNOWNED | CHANGING);
#if BUG == 11
		STEP(NFREE[s] = NFREE[s] | ALL);
		STEP(head[s] = NO_OWNER);
#else
		STEP(head[s] = NO_OWNER);
		STEP(if :: NFREE[s] != 0 && BUG != 20 -> REPORT :: else fi;
		     NFREE[s] = NFREE[s] | ALL);
#endif
		STEP(nowner[s] = nowner[s] & ~CHANGING; made[s] = 0)
	:: else
	fi
}

/* Gives the unowned slab s back to its chunk if it is empty. */
inline unowned_unmake()
{
	STEP(ok = (NFREE[s] == ALL));
	if
	:: ok ->
#if BUG == 21
		STEP(ok = ((nowner[s] & UNOWNED) != 0); nowner[s] = nowner[s] | CHANGING);
#else
		STEP(ok = (nowner[s] == UNOWNED);
		     if
		     :: ok -> nowner[s] = UNOWNED | CHANGING
		     :: else
		     fi);
#endif
		if
		:: ok ->
#if BUG == 19 || BUG == 21
			STEP(NFREE[s] = 0; made[s] = t + 1);
#else
			STEP(ok = (NFREE[s] == ALL);
			     if
			     :: ok -> NFREE[s] = 0; made[s] = t + 1
			     :: else
			     fi);
#endif
			if
			:: ok ->
				STEP(if :: hint == s + 1 -> hint = 0 :: else fi);
				STEP(w = remote[s]; if :: w != 0 -> REPORT :: else fi);
				STEP(head[s] = 0);
				STEP(nowner[s] = 0);
				units_give()
			:: else -> STEP(nowner[s] = nowner[s] & ~CHANGING)
			fi
		:: else
		fi
	:: else
	fi;
	w = 0; ok = 0
}

/* Gives the slab s, of which all slots are free, back to its chunk. */
inline slab_unmake()
{
	STEP(w = remote[s]; if :: w != 0 -> REPORT :: else fi);
#if BUG == 4
	units_give();
	STEP(head[s] = 0);
	STEP(owner[s] = 0);
#else
	STEP(head[s] = 0; made[s] = t + 1);
	STEP(owner[s] = 0);
	units_give();
#endif
	w = 0
}

/* w: the bits that were collected in the slab s; f: its free word then. */
inline collect_words()
{
#ifdef DOUBLE
	!buffered; /* a locked instruction empties the store buffer */
#endif
#if BUG != 2
	STEP(owner[s] = owner[s] & ~PENDING);
#endif
	STEP(w = remote[s]);
	if
	:: w != 0 ->
#if BUG == 1
		STEP(remote[s] = remote[s] & ~w);
		STEP(f = free_[s] | w; free_[s] = f)
#else
		STEP(if :: BUG != 15 && (free_[s] & w) -> REPORT :: else fi;
		     f = free_[s] | w; free_[s] = f);
		STEP(if :: BUG != 13 -> remote[s] = remote[s] & ~w :: else -> remote[s] = 0 fi)
#endif
	:: else
	fi;
#if BUG == 2
	STEP(owner[s] = owner[s] & ~PENDING);
#endif
	skip
}

/* Collects the slab s of the record h.  A temporary holder keeps no empty slab. */
inline collect_slab()
{
	collect_words();
	if
	:: w != 0 && f == ALL ->
		w = 0; f = 0;
		if
		:: h == o -> skip
		:: slab_unmake()
		fi
	:: else -> w = 0; f = 0
	fi
}

/* The record's first slab of which `is` is true, else SLABS. */
#define FIRST(r, s, is) s = 0; do :: s < SLABS && !(HAS(r, s) && (is)) -> s++ :: else -> break od

#define INBOX_ONLY  0
#define PENDING_TOO 1
#define ALL_OF	    2
#define FOR_OTHERS  3

#define HAS_FREE(r) ((HAS(r, 0) && free_[0] != 0) || (HAS(r, 1) && free_[1] != 0))
/*
 * True: the record's slabs are walked over.  FOR_OTHERS is only after a slab with free slots.  In the code
 * the walk goes on where the last one stopped, and ends after a whole round.
 */
#define WALKS(what) ((what) == PENDING_TOO || (what) == ALL_OF || \
		     (lost[h] && ((what) == INBOX_ONLY || !HAS_FREE(h))))

/*
 * Collects, of the record h, the slab in its inbox, and each slab with a pending bit if an entry was
 * lost; PENDING_TOO: in any case; ALL_OF: every slab.  n: 0 for the inbox, or a slab + 1.
 */
inline collect(what)
{
	/* Only the holder empties these, so the test and the exchange are one step. */
	if
	:: only -> w = s + 1; n = 0 /* visit_slab: from this slab */
	:: else ->
		STEP(n = told[h]; told[h] = 0;
		     if
		     :: (n & LOST) && BUG != 26 -> lost[h] = 1
		     :: else
		     fi);
		w = 0;
		if
		:: n == 0 && (what == INBOX_ONLY || what == FOR_OTHERS) -> n = (lost[h] -> 0 : SLABS + 1)
		:: else -> n = 0; STEP(w = inbox[h]; inbox[h] = 0)
		fi
	fi;
	do
	:: n > SLABS -> break
	:: else ->
	   if
	   :: n == 0 && w == 0
	   :: n == 0 && w != 0 ->
		s = w - 1;
		/* The slab may have another owner by now, or be another slab. */
		STEP(w = (BUG == 14 || HAS(h, s)))
	   :: n > 0 ->
		STEP(do :: n <= SLABS && !HAS(h, n - 1) -> n++ :: else -> break od;
		     w = (n <= SLABS && (what == ALL_OF || (owner[n - 1] & PENDING))));
		s = n - 1
	   fi;
	   if
	   :: w -> collect_slab()
	   :: else
	   fi;
	   if
	   :: only -> n = SLABS + 1
	   :: !only && n == 0 -> STEP(n = (WALKS(what) -> 1 : SLABS + 1))
	   :: !only && n > 0 && what == FOR_OTHERS && HAS_FREE(h) -> n = SLABS + 1
	   :: else ->
		n++;
		if
		:: n > SLABS -> lost[h] = 0
		:: else
		fi
	   fi
	od;
	w = 0; n = 0; s = 0
}

/* ---- records ---- */

/* ok: the record h, which was vacant, is held. */
inline hold(how)
{
#if BUG == 12
	STEP(state[h] == VACANT -> ok = 1; state[h] = how)
#else
	STEP(ok = (state[h] == VACANT); state[h] = (ok -> how : state[h]))
#endif
}

inline vacate()
{
	STEP(assert(state[h] != VACANT); state[h] = VACANT)
}

/* Of who vacated the record h.  What is told after the last test is handled by who tells it. */
inline visit()
{
	do
	:: STEP(w = told[h]);
	   if
	   :: w == 0 || BUG == 7 -> break
	   :: else -> w = 0
	   fi;
#if BUG != 24
	   STEP(told[h] = told[h] | MISSED);
#endif
	   hold(GUEST);
	   if
	   :: !ok -> break
	   :: else -> ok = 0
	   fi;
	   collect(INBOX_ONLY);
	   vacate()
	od;
	w = 0; ok = 0
}

/* Of who released the last slot of the slab s of the record h.  It collects from all if it is told to. */
inline visit_slab()
{
	only = 1;
	do
	:: hold(GUEST);
	   if
	   :: ok -> ok = 0; collect(INBOX_ONLY); vacate()
	   :: !ok && only && BUG != 22 -> STEP(told[h] = told[h] | MISSED)
	   :: !ok && only && BUG == 22
	   :: !ok && !only -> break
	   fi;
	   only = 0;
	   STEP(w = told[h] & MISSED);
	   if
	   :: w -> w = 0
	   :: else -> break
	   fi
	od;
	w = 0; ok = 0; s = 0
}

/* Takes a vacant record into the seat, if there is one. */
inline attach()
{
	h = 1;
	do
	:: h <= THREADS ->
		hold(HELD);
		if
		:: ok -> o = h; break
		:: else -> h++
		fi
	:: else -> break
	od;
	h = 0; ok = 0
}

/* Slabs with free slots move from vacant records to o. */
inline adopt(what)
{
	v = 1;
	do
	:: v <= THREADS && v != o ->
		h = v;
		hold(GUEST);
		if
		:: ok ->
			ok = 0;
			collect(what);
			do
			:: STEP(FIRST(v, s, free_[s] != 0);
				/* A sender that found this pending bit set did not notify. */
				if
				:: s < SLABS -> w = owner[s] & PENDING; owner[s] = o
				:: else
				fi);
			   if
			   :: s == SLABS -> break
			   :: else
			   fi;
			   if
			   :: w && BUG != 6 -> h = o; collect_slab(); h = v
			   :: else
			   fi
			od;
			w = 0; s = 0;
			vacate();
			visit()
		:: else
		fi;
		v++
	:: v == o -> v++
	:: v > THREADS -> break
	od;
	v = 0; h = 0
}

inline shrink()
{
	do
	:: STEP(FIRST(h, s, free_[s] == ALL));
	   if
	   :: s < SLABS -> slab_unmake()
	   :: else -> break
	   fi
	od;
	s = 0
}

inline detach()
{
	h = o;
	collect(INBOX_ONLY);
	shrink();
	vacate();
	o = 0;
	visit();
	h = 0
}

/* ---- allocation ---- */

/* Claims a free slot of o's slabs. */
inline claim_slot()
{
	STEP(FIRST(o, s, free_[s] != 0);
	     if
	     :: s < SLABS -> b = LOWEST(free_[s]); free_[s] = free_[s] & ~b; CLAIMED; got = 1
	     :: else
	     fi);
	b = 0; s = 0
}

/* Claims a slot, from the cheapest source to the dearest.  got: it is in flight. */
inline refill_slot()
{
	h = o;
	do
	:: claim_slot();
	   if
	   :: got || stage == 5 -> break
	   :: else
	   fi;
	   if
	   :: stage == 0 ->
		collect(PENDING_TOO); /* in the code only the current slab is tested */
		stage = 1
	   :: stage == 1 -> slab_make(o, false); stage = (ok -> 1 : 2)
	   :: stage == 2 -> adopt(FOR_OTHERS); h = o; stage = 3
	   :: stage == 3 -> slab_make(o, true); stage = (ok -> 3 : 4)
	   :: stage >= 3 -> /* sometimes before the heap grows, and before NULL */
		collect(ALL_OF); adopt(ALL_OF); h = o; shrink(); slab_make(o, true); stage = 5
	   fi;
	   ok = 0; s = 0
	od;
	stage = 0; h = 0
}

/* Claims a slot in the unowned slab s, which may have been unmade. */
inline slot_in()
{
	STEP(w = (nowner[s] & CHANGING));
	if
	:: w -> w = 0
	:: else -> STEP(w = NFREE[s])
	fi;
	do
	:: w != 0 && !got ->
		b = LOWEST(w);
#if BUG == 5
		STEP(NFREE[s] = w & ~b; CLAIMED; got = 1);
#else
		STEP(if
		     :: NFREE[s] == w -> NFREE[s] = w & ~b; CLAIMED; got = 1
		     :: else -> w = NFREE[s]
		     fi);
#endif
		if
		:: got -> STEP(if :: head[s] != NO_OWNER && BUG != 11 -> REPORT :: else fi)
		:: else
		fi;
		b = 0
	:: else -> break
	od;
	w = 0
}

inline slot_anywhere()
{
	n = 0;
	do
	:: n < SLABS && !got ->
		s = n;
		STEP(w = (head[s] == NO_OWNER));
		if
		:: w -> slot_in();
			if
			:: got -> STEP(hint = s + 1)
			:: else
			fi
		:: else
		fi;
		n++
	:: else -> break
	od;
	n = 0; w = 0; s = 0
}

inline unowned_slot()
{
	STEP(s = hint);
	if
	:: s != 0 -> s--; slot_in()
	:: else
	fi;
	if
	:: !got -> slot_anywhere()
	:: else
	fi;
	do
	:: !got ->
		unowned_make(true);
		if
		:: !ok -> break
		:: else -> ok = 0
		fi;
		STEP(hint = s + 1);
		slot_in()
	:: else -> break
	od;
	s = 0
}

inline allocate()
{
	if
	:: o == 0 && may_attach -> attach()
	:: else
	fi;
	if
	:: o != 0 -> refill_slot()
	:: else -> unowned_slot()
	fi;
	if
	:: got ->
		/* The program has the slot now; any thread may release it. */
		STEP(pool[flight[t] / 4] = pool[flight[t] / 4] | (flight[t] % 4); flight[t] = 0);
		got = 0
	:: else
	fi
}

/* ---- release ---- */

/* Releases the slot b of a slab of the thread's own record; w: its owner word. */
inline settle_freed()
{
	if
	:: w == o -> f = 0
	:: else -> /* remote bits are pending, perhaps this slot's */
		if
		:: collect_words() /* one time in COLLECT_AFTER */
		:: skip
		fi;
		STEP(f = free_[s] & b);
		if
		:: f == 0 -> STEP(f = remote[s] & b)
		:: else
		fi
	fi;
#ifdef DOUBLE
	STEP(f = f | (free_[s] & b); w = free_[s] | b;
	     if
	     :: f == 0 -> buffer = w; buffered = 1
	     :: else
	     fi);
#else
	STEP(f = f | (free_[s] & b); w = free_[s] | b;
	     if
	     :: f == 0 -> free_[s] = w; LANDED(s, b)
	     :: else
	     fi);
#endif
	if
	:: f != 0 -> REPORT
	:: else ->
		f = w; w = 0; b = 0;
		if
		:: f != ALL
		:: f == ALL -> f = 0 /* a spare */
#ifndef DOUBLE
		:: f == ALL -> f = 0; slab_unmake()
#endif
		fi
	fi;
	w = 0; f = 0
}

/* Notifies the record h that its slab s has remote bits. */
inline notify()
{
	STEP(w = inbox[h]; if :: w == 0 -> inbox[h] = s + 1 :: else fi);
	if
	:: w != 0 && w != s + 1 && BUG != 25 -> STEP(told[h] = told[h] | LOST) /* the inbox is full */
	:: else
	fi;
	STEP(told[h] = told[h] | ENTRY)
}

/* w: the slots of the slab s that are free or remote. */
#define FILLED STEP(w = remote[s]); STEP(w = w | free_[s])

/* Releases the slot b of another owner's slab. */
inline remote_free()
{
#if BUG != 3
	STEP(w = free_[s] & b);
#else
	w = 0;
#endif
	if
	:: w == 0 ->
#if BUG == 9
		STEP(w = remote[s]);
		STEP(remote[s] = w | b; w = w & b; LANDED(s, b));
#else
		STEP(w = remote[s] & b; remote[s] = remote[s] | b; LANDED(s, b));
#endif
	:: else
	fi;
#if BUG == 3
	STEP(w = free_[s] & b);
#endif
	b = 0;
	if
	:: w != 0 -> REPORT; w = 0
	:: else ->
		/* From here on the slab may be unmade and reused: what follows are hints. */
		STEP(w = owner[s] & PENDING; owner[s] = owner[s] | PENDING);
		STEP(h = owner[s] & ~PENDING);
		if
		:: h == 0 || (h & UNOWNED) != 0
		:: else ->
#if BUG == 18
			f = w; FILLED; n = w; w = f; f = 0;
#endif
			if
			:: w != 0 -> STEP(w = (state[h] == HELD))
			:: else -> notify(); w = 0
			fi;
			if
			:: w /* no notification needed */
			:: else ->
#if BUG == 18
				w = n; n = 0;
#else
				FILLED;
#endif
				if
				:: w == ALL ->
					w = 0;
					STEP(h = owner[s] & ~PENDING);
					if
					:: h != 0 && (h & UNOWNED) == 0 ->
						STEP(w = (BUG != 17 && state[h] != HELD && (BUG != 23 || state[h] != GUEST)))
					:: else
					fi;
					if
					:: w -> w = 0; visit_slab()
					:: else
					fi
				:: else
				fi
			fi
		fi
	fi;
	w = 0; h = 0; s = 0
}

inline unowned_free()
{
	STEP(w = NFREE[s] & b; NFREE[s] = NFREE[s] | b; LANDED(s, b));
	if
	:: w -> REPORT
	:: else
	fi;
	w = 0; b = 0;
	if
	:: unowned_unmake()
	:: skip /* the code keeps the preferred unowned slab */
	fi
}

/* Releases the slot in flight, b of s. */
inline release()
{
	STEP(w = head[s]);
	if
	:: w == 0 -> REPORT
	:: w == NO_OWNER ->
#if BUG == 10
		STEP(w = (nowner[s] == UNOWNED));
#else
		STEP(w = nowner[s] & UNOWNED);
#endif
		if
		:: w -> unowned_free()
		:: else -> remote_free()
		fi
	:: w == OWNED ->
		STEP(w = owner[s]);
		if
		:: o != 0 && (w & ~PENDING) == o -> settle_freed()
		:: else -> remote_free()
		fi
	fi;
	w = 0; b = 0; s = 0
}

/* ---- the end ---- */

#define FREE(s) (head[s] == NO_OWNER -> NFREE[s] : free_[s] | remote[s])
#define PLACED(s, b) assert((FREE(s) & (b)) != 0 || TAKEN(s, b)); \
		     assert((FREE(s) & (b)) == 0 || !TAKEN(s, b))
#define NOTIFIED(s) (lost[owner[s] - PENDING] || \
		     ((told[owner[s] - PENDING] & ENTRY) && \
		      (inbox[owner[s] - PENDING] == s + 1 || (told[owner[s] - PENDING] & LOST))))

/* All threads have ended or stopped. */
inline referee()
{
	n = 0;
	do
	:: n < SLABS ->
		if
		:: (owner[n] & ~PENDING) != 0 ->
			PLACED(n, 1);
			PLACED(n, 2);
			assert((units & (1 << n)) == 0);
			assert(head[n] || made[n]);
			assert(head[n] != NO_OWNER);
			assert(halted || (free_[n] & remote[n]) == 0);
			assert(halted || remote[n] == 0 || (owner[n] > PENDING && NOTIFIED(n)));
			if
			:: state[owner[n] & ~PENDING] == VACANT ->
				assert(halted || (free_[n] | remote[n]) != ALL)
			:: else
			fi
		:: (owner[n] & ~PENDING) == 0 && head[n] == NO_OWNER ->
			if
			:: made[n] == 0 || NFREE[n] != 0 -> PLACED(n, 1); PLACED(n, 2)
			:: else -> EMPTY(n)
			fi;
			assert((units & (1 << n)) == 0);
			assert((nowner[n] & UNOWNED) != 0 && (halted || nowner[n] == UNOWNED));
			assert(remote[n] == 0)
		:: else ->
			EMPTY(n);
			assert(!head[n] && (NFREE[n] == 0 || BUG == 20));
			assert(remote[n] == 0);
			assert((units & (1 << n)) != 0 || made[n] || !slabs_kind || chunk_by)
		fi;
		n++
	:: else -> break
	od;
	assert(!slabs_kind || !chunk_free);
	assert(slabs_kind || chunk_free || chunk_by);
	assert(made[0] == 0 || made[0] != made[1]); /* a thread works on one unit at a time */
	n = 0
}

#ifndef DOUBLE

#define ALLOCATE 1
#define RELEASE	 2
#define DETACH	 4
#define MAY(what) (((t == 0 -> DO0 : (t == 1 -> DO1 : DO2)) & (what)) != 0)

proctype Thread(byte t; byte o; bit may_attach)
{
	byte h, v, s, b, w, f, n, stage, round;
	bit ok, got, only;

	do
	:: round < ROUNDS ->
		if
		:: MAY(ALLOCATE) -> allocate()
		:: d_step { (pool[0] & 1) && MAY(RELEASE) -> s = 0; b = 1; pool[0] = pool[0] & ~1; flight[t] = IN_FLIGHT(0, 1) };
			release()
		:: d_step { (pool[0] & 2) && MAY(RELEASE) -> s = 0; b = 2; pool[0] = pool[0] & ~2; flight[t] = IN_FLIGHT(0, 2) };
			release()
		:: d_step { (pool[1] & 1) && MAY(RELEASE) -> s = 1; b = 1; pool[1] = pool[1] & ~1; flight[t] = IN_FLIGHT(1, 1) };
			release()
		:: d_step { (pool[1] & 2) && MAY(RELEASE) -> s = 1; b = 2; pool[1] = pool[1] & ~2; flight[t] = IN_FLIGHT(1, 2) };
			release()
		:: o != 0 && MAY(DETACH) -> detach()
		:: else -> skip
		fi;
		round++
	:: else -> break
	od;
	assert(flight[t] == 0 && made[0] != t + 1 && made[1] != t + 1 && chunk_by != t + 1);
stop:	skip;
	d_step {
		o = 0; h = 0; v = 0; s = 0; b = 0; w = 0; f = 0; n = 0;
		stage = 0; round = 0; ok = 0; got = 0; only = 0; may_attach = 0;
		ended++;
		if
		:: ended == THREADS -> referee()
		:: else
		fi
	}
}

init
{
	atomic {
		state[1] = HELD;
		state[2] = HELD;
		state[3] = HELD;
#if START == 0
		/* A slab of record 1, full; the other unit is free. */
		chunk_free = 0; slabs_kind = 1; units = 2;
		owner[0] = 1; head[0] = 1; pool[0] = ALL; taken[0] = ALL;
#elif START == 1
		/* Nothing. */
#elif START == 2
		/* One full slab of record 1, one half full of record 2. */
		chunk_free = 0; slabs_kind = 1; units = 0;
		owner[0] = 1; head[0] = 1; pool[0] = ALL; taken[0] = ALL;
		owner[1] = 2; head[1] = 1; pool[1] = 1; taken[1] = 1; free_[1] = 2;
#elif START == 3
		/* Record 1 is vacant and has a full slab. */
		state[1] = VACANT;
		chunk_free = 0; slabs_kind = 1; units = 2;
		owner[0] = 1; head[0] = 1; pool[0] = ALL; taken[0] = ALL;
#elif START == 5
		/* The same, and a slab of record 2 that stays full. */
		state[1] = VACANT;
		chunk_free = 0; slabs_kind = 1; units = 0;
		owner[0] = 1; head[0] = 1; pool[0] = ALL; taken[0] = ALL;
		owner[1] = 2; head[1] = 1; taken[1] = ALL;
#elif START == 7
		/* Record 1 is vacant and has two slabs, half full each. */
		state[1] = VACANT;
		chunk_free = 0; slabs_kind = 1; units = 0;
		owner[0] = 1; head[0] = 1; pool[0] = 1; taken[0] = 1; free_[0] = 2;
		owner[1] = 1; head[1] = 1; pool[1] = 1; taken[1] = 1; free_[1] = 2;
#elif START == 4
		/* An empty slab of record 1, a spare. */
		chunk_free = 0; slabs_kind = 1; units = 2;
		owner[0] = 1; head[0] = 1; free_[0] = ALL;
#elif START == 6
		/* An unowned slab, half full. */
		chunk_free = 0; slabs_kind = 1; units = 2;
		nowner[0] = UNOWNED; head[0] = NO_OWNER; pool[0] = 1; taken[0] = 1; NFREE[0] = 2; hint = 1;
#endif
		run Thread(0, (state[1] -> 1 : 0), 1);
		run Thread(1, (NO_RECORD < 2 -> 2 : 0), NO_RECORD < 2);
		run Thread(2, (NO_RECORD < 1 -> 3 : 0), NO_RECORD < 1)
	}
}

#else

/* The store buffer of the owner: a release's plain store becomes visible later. */
active proctype Buffer()
{
end:	do
	:: atomic { buffered -> free_[0] = buffer; buffered = 0 }
	od
}

/* Two threads release slot 1 of slab 0; the owner collects twice. */
proctype Thread(byte t; byte o)
{
	byte h, v, s, b, w, f, n;
	bit ok, only;

	if
	:: t + DOUBLE == 1 || t == 1 || t == DOUBLE -> s = 0; b = 1; release()
	:: else
	fi;
	if
	:: t == 0 -> h = o; collect(ALL_OF); collect(ALL_OF)
	:: else
	fi;
	ended++
}

init
{
	atomic {
		state[1] = HELD;
		state[2] = HELD;
		state[3] = HELD;
		chunk_free = 0; slabs_kind = 1; units = 2;
		owner[0] = 1; head[0] = 1; pool[0] = 2;
		run Thread(0, 1);
		run Thread(1, 2);
		run Thread(2, 3)
	}
	atomic {
		ended == THREADS && !buffered ->
		/* The next collection. */
		if
		:: BUG != 15 && (free_[0] & remote[0]) -> REPORT
		:: else
		fi;
		assert(reports == 1);
		assert((free_[0] | remote[0]) == 1)
	}
}

#endif
