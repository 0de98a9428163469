/* SPDX-License-Identifier: MIT */
#include "thread/slab_list.h"

__attribute__((noinline)) void slabs_append(struct slabs *l, struct slab *s)
{
	s->next = NULL;
	s->previous = l->tail;
	if (l->tail != NULL)
		l->tail->next = s;
	else
		l->head = s;
	l->tail = s;
}

__attribute__((noinline)) void slabs_remove(struct slabs *l, struct slab *s)
{
	if (s->previous != NULL)
		s->previous->next = s->next;
	else
		l->head = s->next;
	if (s->next != NULL)
		s->next->previous = s->previous;
	else
		l->tail = s->previous;
	s->next = s->previous = NULL;
}

void slabs_rotate(struct slabs *l, struct slab *s)
{
	l->tail->next = l->head;
	l->head->previous = l->tail;
	l->tail = s->previous;
	l->tail->next = NULL;
	l->head = s;
	s->previous = NULL;
}
