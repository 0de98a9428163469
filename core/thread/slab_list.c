/* SPDX-License-Identifier: MIT */
#include "thread/slab_list.h"

__attribute__((noinline)) void slabs_append(struct slabs *l, struct slab *s)
{
	struct slab *head = l->head, *tail;

	s->next = NULL;
	s->previous = s;
	if (head == NULL) {
		l->head = s;
		return;
	}
	tail = head->previous;
	tail->next = s;
	s->previous = tail;
	head->previous = s;
}

__attribute__((noinline)) void slabs_remove(struct slabs *l, struct slab *s)
{
	struct slab *next = s->next;

	(next != NULL ? next : l->head)->previous = s->previous;
	if (s == l->head)
		l->head = next;
	else
		s->previous->next = next;
	s->next = s->previous = NULL;
}

void slabs_rotate(struct slabs *l, struct slab *s)
{
	l->head->previous->next = l->head;
	s->previous->next = NULL;
	l->head = s;
}
