/* SPDX-License-Identifier: MIT */
#include "shm/image_lists.h"

/* True: the list is linked consistently, and its slabs have this owner and class. */
static bool list_is_right(struct image *m, size_t i, unsigned class, const struct slabs *l,
			  bool some_free)
{
	const struct slab *s, *before = NULL, *tail = NULL;
	struct slab *there = &m->copy.slab[0];

	for (s = l->head; s != NULL; before = s, s = there->next) {
		if (m->slabs[i]-- == 0 || !image_has_record(m, s, false) ||
		    !image_get(m, s, there, sizeof *there) ||
		    (before != NULL && there->previous != before) ||
		    (there->owner & ~OWNER_PENDING) != (uintptr_t)image_record(m, i) ||
		    there->class != class || slab_is_ready(there) != some_free)
			return false;
		if (before == NULL)
			tail = there->previous;
	}
	return tail == before;
}

bool image_lists_check(struct image *m)
{
	unsigned class;
	size_t i;

	for (i = 0; i < m->head.records_used && !m->listed_wrong; i++) {
		/* What has no slab and no list is not read again: a record costs one call then. */
		if (!m->vacant[i] || (m->listless[i] && m->slabs[i] == 0))
			continue;
		if (!image_get(m, image_record(m, i), &m->record, sizeof m->record))
			return false;
		for (class = 0; class < CLASSES && !m->listed_wrong; class++)
			m->listed_wrong =
				!list_is_right(m, i, class, &m->record.bins[class].partial,
					       true) ||
				!list_is_right(m, i, class, &m->record.bins[class].full,
					       false);
		m->listed_wrong |= m->slabs[i] != 0;
	}
	return !m->listed_wrong;
}

bool image_is_changing(struct image *m)
{
	uint64_t now, building;
	size_t i, used = m->head.records_used;

	/* Pairs with building_begin: if a change was read, its counter is read as changed. */
	fence_acquire();
	if (!image_get(m, &m->head.base->visits, &now, sizeof now))
		return false;
	for (i = 0; i < used; i++) {
		if (!image_get(m, &image_record(m, i)->building, &building, sizeof building))
			return false;
		now += building;
	}
	return now != m->begun;
}
