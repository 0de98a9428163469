/* SPDX-License-Identifier: MIT */
#include "thread/visit.h"

#include "thread/bin.h"
#include "thread/collect.h"
#include "thread/holder.h"
#include "thread/inbox.h"
#include "thread/seat.h"
#include "thread/shrink.h"

void visit_vacant(struct owner *o)
{
	/*
	 * A handler that interrupts this function may fork.  In the child, fork_settle
	 * must not take over the record that this frame holds.
	 */
	seat.guest++;
	signal_fence();
	/*
	 * A thread that sets a flag after the last check looks at the state next, and so does what is
	 * left itself.  A guest that holds the record meanwhile may visit one slab only: INBOX_MISSED
	 * tells it to do more, as below.
	 */
	while (load_seq_cst(&o->notified) != 0) {
		fetch_or_seq_cst(&o->notified, INBOX_MISSED);
		if (!owner_hold(o))
			break;
		shrink_before_vacate(o); /* so that no slab is current and empty */
		owner_vacate(o);
	}
	signal_fence();
	seat.guest--;
}

void visit_end(struct owner *o)
{
	owner_vacate(o);
	visit_vacant(o);
}

void visit_slab(struct owner *o, struct slab *s)
{
	seat.guest++; /* as above */
	signal_fence();
	if (!owner_hold(o)) {
		/*
		 * The holder vacates and then makes the load below; this thread sets the flag and
		 * then reads the state, in visit_vacant.  So one of the two sees the other.
		 */
		fetch_or_seq_cst(&o->notified, INBOX_MISSED);
	} else {
		bin_detach(o, load_relaxed(&s->class)); /* a current slab may not be armed */
		collect_slab(o, s);
		owner_vacate(o);
	}
	if (unlikely((load_seq_cst(&o->notified) & INBOX_MISSED) != 0))
		visit_vacant(o);
	signal_fence();
	seat.guest--;
}

void visit_all(struct heap *h)
{
	struct owner *v;

	for (v = load_acquire(&h->owners); v != NULL; v = v->next) {
		if (!owner_hold(v))
			continue;
		shrink_lists(v, SHRINK_ALL);
		visit_end(v);
	}
}
