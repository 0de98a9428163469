/* SPDX-License-Identifier: MIT */
/*
 * The protocol of the bitmap words, for the model checker spin.
 * tools/model runs it (make model); tools/model --bugs shows what it catches.
 *
 * Three threads, each with an owner record, and one chunk of two units: a
 * slab takes one unit and has two slots, so it is one group and one word.
 * Each thread does two rounds; in a round it allocates, releases a block that
 * anybody allocated, or detaches.  It may stop for ever before any step.
 * All orders of all steps are looked at.
 *
 * A STEP is one load, store or read-modify-write of the code.  Between steps
 * there is only what a thread does with its own variables, or with what
 * belongs to the holder of a record alone: its shelves, its bins, its seat.
 * Which slabs are on the shelves is not kept: they are those whose owner
 * word names the record.
 *
 *   here                 in the code
 *   -------------------  ----------------------------------------------------
 *   claim_slot           bin.c: owner_slot (alloc.c: ash_alloc does the same)
 *   refill               bin.c: bin_refill, bin_exhausted
 *   hold, vacate         owner.c: owner_hold, owner_vacate
 *   attach               owner.c: seat_slow, owner_acquire
 *   collect_words        slab.c: slab_collect
 *   collect_slab         owner.c: collect_slab; bin.c: owner_settle;
 *                        spare.c: spares_add, slab_leave
 *   collect_marked       owner.c: collect_class, with and without `all`
 *   collect              owner.c: owner_collect
 *   visit                owner.c: has_mail, owner_visit
 *   adopt                owner.c: owner_adopt, owner_move
 *   detach               owner.c: ash_thread_detach; bin.c: owner_shrink
 *   slab_make            slab.c: slab_make, slab_publish
 *   slab_unmake          slab.c: slab_unmake
 *   units_claim          chunk.c: units_claim, claim_in, chunk_make;
 *                        region.c: region_claim (bits.c: bits_claim)
 *   units_give           chunk.c: units_give, chunk_return; region.c: region_give
 *   release              release.c: ash_release, release_slow, place_find
 *   owner_free           bin.c: owner_free; release.c: place_is_taken, release_event
 *   remote_free, notify  release.c: remote_free; owner.c: owner_notify
 *   shared_slot          shared.c: shared_slot, slot_in, slot_anywhere
 *   shared_free          shared.c: shared_free
 *   REPORT               misuse.c: misuse, misuse_double
 *
 * WHAT IS ASSERTED
 *
 *   1  a slot goes to one holder at a time                       CLAIMED
 *   2  no report of misuse for programs that release each block once  REPORT
 *   3  nothing is lost: when all have ended or stopped, each slot of each slab
 *      is free, remote, held by the program, or the one slot in flight of a
 *      thread that stopped; the same of units and of the chunk   Referee
 *   4  a unit is given back, and a chunk returned, only with no slot of it
 *      taken                                                     EMPTY
 *   5  whatever the others do, stop included, each thread comes to its end: no
 *      state without a next step, and (tools/model: progress) no cycle of
 *      steps at all
 *   6  if nobody stopped, somebody has been told of each remote bit: no vacant
 *      record has any, and where a record is held, there is mail    Referee
 *   7  a block released by two threads at once is reported exactly once (DOUBLE)
 *
 * VARIANTS, by -D
 *
 *   STOPS=n   up to n threads stop, anywhere
 *   NOBODY    thread 2 has no record and gets none, like a handler that
 *             interrupted a call: it takes the shared route
 *   START=n   what there is at first, see init
 *   DOUBLE=n  two threads release the same block: the owner and another (1), or
 *             two others (2)
 *
 * PLANTED, by -DBUG=n: each is found, by the assertion named
 *
 *    1  collect takes the remote bits away, then sets the free bits      3
 *    2  collect reads the words, then takes the mark off                 6
 *    3  remote release looks at the free word after its fetch_or         2
 *    4  units are given back before the head and the owner are cleared   2
 *    5  a shared slot is claimed by a store instead of a swap            1
 *    6  owner_move does not look at the mark it takes off                6
 *    7  a vacated record is not looked at again                          6
 *    8  chunk_return looks at the units, then stores 0                   4
 *    9  remote release by a load and a store                             3
 *   10  a late mark makes a shared slab nobody's                         3
 *   11  the walk of shared slabs reads the head before the owner         2
 *   12  a holder waits for a record that another holds                   5
 *   13  collect clears the whole remote word, not what it took           3
 *   14  mail is believed: the slab is not asked whose it is              1, 2, 3
 *   15  collect finds both bits set and says nothing                     7
 *   16  a thread that loses the swap for a unit tries it with the old word 5
 *   17  a sender does not look whether the record is vacant              6
 *
 * NOT HERE: weak orders (each step is seen by all at once; only the owner's
 * plain stores of a release may wait in its store buffer, in DOUBLE, the one
 * place where another thread acts upon what it read of them); more than one
 * group, class or chunk; spans, purges and the hint region.partial; spares
 * (an empty slab stays or goes, as if by chance); fork.
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
#ifndef STOPS
#define STOPS 0
#endif

/* Owner words: 0, a record 1 ... 3, or SHARED; with it, or not, PENDING. */
#define SHARED	4
#define PENDING 8
#define VACANT	0
#define HELD	1

/* ---- the words of the heap ---- */

byte owner[SLABS];
byte free_[SLABS];
byte remote[SLABS];
bit head[SLABS];	 /* chunk.head: the unit has a slab            */
byte units;		 /* chunk.units: bit = 1, the unit is free     */
bit slabs_kind;		 /* chunk.kind: CHUNK_SLABS                    */
bit chunk_free = 1;	 /* region.free                                */
byte hint;		 /* heap.shared: a slab and 1                  */

bit state[THREADS + 1];	 /* owner.state; records count from 1          */
byte inbox[THREADS + 1]; /* one place is enough to be full: a slab and 1 */
bit marked[THREADS + 1]; /* owner.marked, of our one class             */

/* ---- what the code does not have: who holds what ---- */

byte pool[SLABS];	 /* slots that the program holds               */
byte flight[THREADS];	 /* the slot that a call has in hand: IN_FLIGHT */
byte made[SLABS];	 /* the unit is on its way to be a slab or free: thread and 1 */
byte chunk_by;		 /* the chunk is on its way: thread and 1      */
byte ended, stopped, reports;

#define IN_FLIGHT(s, b) ((s) * 4 + (b))
#define TAKEN(s, b) ((pool[s] & (b)) || flight[0] == IN_FLIGHT(s, b) || \
		     flight[1] == IN_FLIGHT(s, b) || flight[2] == IN_FLIGHT(s, b))
#define EMPTY(s) assert(!TAKEN(s, 1) && !TAKEN(s, 2))
#define CLAIMED assert(!TAKEN(s, b)); flight[t] = IN_FLIGHT(s, b)
#ifdef DOUBLE
#define REPORT reports++
#else
#define REPORT assert(false)
#endif

/* A thread may stop before each of its steps. */
#if STOPS > 0
#define STEP(x) if :: atomic { x } :: atomic { stopped < STOPS -> goto stop } fi
#else
#define STEP(x) atomic { x }
#endif

/* The lowest bit of a word that has two. */
#define LOWEST(w) ((w & 1) -> 1 : 2)
/* The slab is on a shelf, or current in a bin, of the record. */
#define HAS(r, s) ((owner[s] & ~PENDING) == (r))

/*
 * In all that follows: t the thread, o the record in its seat (0: none), h the
 * record at work, which is o or one held as a guest; s, b the slab and the
 * slot; f, w words as they were read.
 */

/* ---- units and chunks ---- */

/* ok: the unit s.  `grow`: from a new chunk, if need be. */
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
		/* Others may empty it before us: then they got on, and we try again. */
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
		/* Whoever wins this swap holds the chunk. */
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

/* ok: the slab s, with `word` for its owner. */
inline slab_make(word, grow)
{
	units_claim(grow);
	if
	:: ok ->
		STEP(free_[s] = ALL);
		/* A mark that came to the record while it had no slab is gone with this. */
		STEP(owner[s] = word);
		STEP(head[s] = 1; made[s] = 0)
	:: else
	fi
}

/* The slab s, of which all slots are free, back to its chunk. */
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

/* w: what was collected of the slab s; f: the free word then. */
inline collect_words()
{
#if BUG != 2
	STEP(owner[s] = owner[s] & ~PENDING);
#endif
	STEP(w = remote[s]);
	if
	:: w != 0 ->
		STEP(f = free_[s]; if :: BUG != 15 && (f & w) -> REPORT :: else fi);
#if BUG == 1
		STEP(remote[s] = remote[s] & ~w);
		STEP(f = f | w; free_[s] = f)
#else
		STEP(f = f | w; free_[s] = f);
		STEP(if :: BUG != 13 -> remote[s] = remote[s] & ~w :: else -> remote[s] = 0 fi)
#endif
	:: else
	fi;
#if BUG == 2
	STEP(owner[s] = owner[s] & ~PENDING);
#endif
	skip
}

/* The slab s of the record h.  A guest keeps no slab that is empty. */
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

/* Slabs of the record h: those with a mark, or all. */
inline collect_marked(all)
{
	n = 0;
	do
	:: n < SLABS ->
		s = n;
		STEP(w = (HAS(h, s) && (all || (owner[s] & PENDING) != 0)));
		if
		:: w -> collect_slab()
		:: else
		fi;
		n++
	:: else -> break
	od;
	w = 0; n = 0; s = 0
}

inline collect()
{
	STEP(w = inbox[h]);
	if
	:: w != 0 ->
		STEP(s = inbox[h] - 1; inbox[h] = 0);
		/* It may have changed hands, or be another slab by now. */
		STEP(w = (BUG == 14 || HAS(h, s)));
		if
		:: w -> collect_slab()
		:: else
		fi
	:: else
	fi;
	STEP(w = marked[h]);
	if
	:: w != 0 ->
		STEP(marked[h] = 0);
		collect_marked(false)
	:: else
	fi;
	w = 0; s = 0
}

/* ---- records ---- */

/* ok: the record h, which was vacant, is held. */
inline hold()
{
#if BUG == 12
	STEP(state[h] == VACANT -> ok = 1; state[h] = HELD);
#else
	STEP(ok = (state[h] == VACANT));
	if
	:: ok -> STEP(ok = (state[h] == VACANT); state[h] = HELD)
	:: else
	fi;
#endif
	skip
}

inline vacate()
{
	STEP(assert(state[h] == HELD); state[h] = VACANT)
}

/* Mail that comes after the last look is its sender's to deliver: it visits, too. */
inline visit()
{
	do
	:: STEP(w = marked[h]);
	   if
	   :: w == 0 -> STEP(w = inbox[h])
	   :: else
	   fi;
	   if
	   :: w == 0 || BUG == 7 -> break
	   :: else -> w = 0
	   fi;
	   hold();
	   if
	   :: !ok -> break
	   :: else -> ok = 0
	   fi;
	   collect();
	   vacate()
	od;
	w = 0; ok = 0
}

/* A vacant record to the seat, if there is one. */
inline attach()
{
	h = 1;
	do
	:: h <= THREADS ->
		hold();
		if
		:: ok -> o = h; break
		:: else -> h++
		fi
	:: else -> break
	od;
	h = 0; ok = 0
}

/* Slabs with free slots of vacant records become o's. */
inline adopt()
{
	v = 1;
	do
	:: v <= THREADS && v != o ->
		h = v;
		hold();
		if
		:: ok ->
			ok = 0;
			collect();
			n = 0;
			do
			:: n < SLABS ->
				s = n;
				STEP(w = (HAS(v, s) && free_[s] != 0));
				if
				:: w ->
					/* Who saw the mark that we take off told nobody. */
					STEP(w = owner[s] & PENDING; owner[s] = o);
					if
					:: w && BUG != 6 -> h = o; collect_slab(); h = v
					:: else
					fi
				:: else
				fi;
				n++
			:: else -> break
			od;
			w = 0; n = 0; s = 0;
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
	n = 0;
	do
	:: n < SLABS ->
		s = n;
		STEP(w = (HAS(h, s) && free_[s] == ALL));
		if
		:: w -> slab_unmake()
		:: else
		fi;
		n++
	:: else -> break
	od;
	w = 0; n = 0; s = 0
}

inline detach()
{
	h = o;
	collect();
	shrink();
	vacate();
	o = 0;
	visit();
	h = 0
}

/* ---- allocation ---- */

/* A free slot of the slabs that o has: a load, as nobody else stores there, and a store. */
inline claim_slot()
{
	STEP(s = 0;
	     do
	     :: s < SLABS && !(HAS(o, s) && free_[s] != 0) -> s++
	     :: else -> break
	     od;
	     w = (s < SLABS -> free_[s] : 0));
	if
	:: w != 0 ->
		b = LOWEST(w);
		STEP(free_[s] = w & ~b; CLAIMED);
		got = 1
	:: else
	fi;
	w = 0; b = 0; s = 0
}

/* From the cheapest source to the dearest. */
inline refill()
{
	h = o;
	do
	:: stage == 0 -> collect_marked(false) /* what is exhausted, if it has a mark */
	:: stage == 1 -> collect()
	:: stage == 2 -> slab_make(o, false); ok = 0; s = 0
	:: stage == 3 -> adopt(); h = o
	:: stage == 4 -> slab_make(o, true); ok = 0; s = 0
	:: stage == 5 -> collect_marked(true); shrink(); slab_make(o, true); ok = 0; s = 0
	:: stage == 6 -> break /* no memory */
	od;
}
