/* SPDX-License-Identifier: MIT */
#include "hardened/quarantine.h"

#include "base/class.h"
#include "chance.h"
#include "hardened/bare.h"
#include "pages.h"
#include "thread/seat.h"

#define QUARANTINE_PLACES 64
#define QUARANTINE_BYTES  ((size_t)16384) /* of one class, but one place at least up to SLOT_LARGE */

struct quarantine {
	struct {
		void *blocks[QUARANTINE_PLACES]; /* NULL: none */
		unsigned next, places;		 /* the place of the next block; of so many */
	} classes[CLASS_ONE + 1];
};

static unsigned quarantine_places(size_t have)
{
	unsigned n = (unsigned)(QUARANTINE_BYTES / have);

	return n > QUARANTINE_PLACES ? QUARANTINE_PLACES : n > 0 ? n : 1;
}

/* The seat is closed.  NULL: no memory. */
static SLOW struct quarantine *quarantine_make(struct hardened *own)
{
	struct quarantine *q = pages_reserve((sizeof *q + PAGE_MOST - 1) & ~(PAGE_MOST - 1), PAGE_LEAST, PAGES_RECORDS);
	unsigned class;

	for (class = 0; q != NULL && class <= CLASS_ONE; class++)
		q->classes[class].places = quarantine_places(class_size(class));
	return own->quarantine = q;
}

ALWAYS_INLINE void *quarantine_exchange(void *p, size_t have)
{
	unsigned n, at, before;
	struct quarantine *q;
	struct hardened *own;
	void **blocks, *out;

	if (unlikely(have > SLOT_LARGE) || !SEATED || unlikely(seat.open == 0))
		return p;
	seat_close();
	own = seat.self->hardened;
	q = own->quarantine;
	if (unlikely(q == NULL) && (q = quarantine_make(own)) == NULL) {
		seat_open();
		return p;
	}
	q = (struct quarantine *)(void *)&q->classes[have <= SLOT_SMALL ? seat_small(have) / CLASS_SMALL : class_larger(have)];
	n = q->classes->places;
	blocks = q->classes->blocks;
	at = q->classes->next;
	q->classes->next = at + 1 < n ? at + 1 : 0;
	out = blocks[at];
	/* The block takes the place of one that came up to n / 2 earlier, which waits for longer. */
	before = (unsigned)((chance_next(&own->chance) >> 32) * (n / 2 + 1) >> 32);
	before = at >= before ? at - before : at + n - before;
	blocks[at] = blocks[before];
	blocks[before] = p;
	seat_open();
	return out;
}

void quarantine_empty(void)
{
	struct quarantine *q;
	unsigned class, at;
	void *p;

	if (!SEATED || seat.open == 0 || (q = seat.self->hardened->quarantine) == NULL)
		return;
	for (class = 0; class <= CLASS_ONE; class++)
		for (at = 0; at < QUARANTINE_PLACES; at++) {
			seat_close(); /* handlers use the quarantine, too */
			p = q->classes[class].blocks[at];
			q->classes[class].blocks[at] = NULL;
			seat_open();
			if (p != NULL)
				bare_release(p);
		}
}
