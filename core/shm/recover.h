/* SPDX-License-Identifier: MIT */
/*
 * Death in a heap shared by processes.
 *
 * A thread may be killed at any instruction.  What it was doing is found out
 * by those who go on living, from its owner record:
 *
 *   flight     the one slot it was about to hand out or to take back.  Nobody
 *              else has that slot's address or may use it, so whoever takes
 *              over the record releases it.
 *   building   odd while it changes more than slots: units, chunks, slabs.
 *              Memory that such a change has in its hands is in no bitmap and
 *              in no slab.  It is looked for over the whole heap, in a moment
 *              in which no live thread is building (its counter is even, and
 *              the same after the look as before): what is nobody's then was
 *              lost, and goes back.
 *
 * One thread at a time looks; if it dies, another one does.  Who finds a live
 * thread building every time it looks gives up until the next time: nobody
 * waits, and what is lost stays lost a while longer.
 */
#ifndef CORE_RECOVER_H
#define CORE_RECOVER_H

#include "internal.h"
#include "thread/owner.h"
#include "shm/store.h"

/* Of heap_hooks. */
INTERNAL uint64_t recover_holder(struct heap *h);
INTERNAL bool recover_is_dead(struct heap *h, uint64_t holder);
/* A dead holder's record is ours, as a guest: lands its flight, notes its building. */
INTERNAL void recover_settle(struct owner *v);

/*
 * True: it is over for certain, see life.h.  Never for a caller in other
 * namespaces than those who made the heap: there other lives have these ids.
 */
INTERNAL bool recover_thread_is_over(const struct store *s, uint64_t life);
INTERNAL bool recover_process_is_over(const struct store *s, uint64_t life);

/* Takes over all dead holders' records, then looks for lost memory.  The records. */
INTERNAL size_t heap_recover(struct heap *h, struct owner *o);

#endif
