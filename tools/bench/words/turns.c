/* SPDX-License-Identifier: MIT */
#include "turns.h"

#include <pthread.h>
#include <stdlib.h>

#define AHEAD UINT64_C(50000)	   /* ps that a core may be ahead of the others */
#define SLICE UINT64_C(3000000000) /* ps that a thread runs if others wait for its core */

struct turn {
	pthread_cond_t comes;
};

struct core cores[CORES_MOST];
__thread struct thread *me;
uint64_t turns_limit;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t met = PTHREAD_COND_INITIALIZER;
static struct thread threads[THREADS_MOST];
static unsigned thread_count, core_count;
static struct thread *running; /* whose turn it is; NULL: all are blocked */
static uint64_t present;       /* of the thread that ran last */

/* The thread of this core that goes on; NULL: none can. */
static struct thread *of_core(struct core *c)
{
	unsigned i, from = c->current != NULL ? c->current->number : 0;

	if (c->threads == 0)
		return NULL;
	if (c->current != NULL && c->current->ready && (c->threads == 1 || c->clock < c->slice))
		return c->current;
	for (i = 1; i <= thread_count; i++) {
		struct thread *t = &threads[(from + i) % thread_count];

		if (t->core == c && t->ready && !t->ended)
			return t;
	}
	return NULL;
}

/* Chooses who runs, and for how long. */
static void choose(void)
{
	uint64_t least = UINT64_MAX, second = UINT64_MAX;
	struct thread *best = NULL;
	unsigned i;

	for (i = 0; i < core_count; i++) {
		struct thread *t = cores[i].clock < second ? of_core(&cores[i]) : NULL;

		if (t == NULL)
			continue;
		if (cores[i].clock < least) {
			second = least;
			least = cores[i].clock;
			best = t;
		} else {
			second = cores[i].clock;
		}
	}
	running = best;
	if (best == NULL)
		return;
	if (best->core->current != best || best->core->clock >= best->core->slice)
		best->core->slice = best->core->clock + SLICE;
	best->core->current = best;
	turns_limit = second == UINT64_MAX ? second : second + AHEAD;
	if (best->core->threads > 1 && best->core->slice < turns_limit)
		turns_limit = best->core->slice;
}

static void await(void)
{
	while (running != me)
		pthread_cond_wait(&me->turn->comes, &lock);
}

static void pass(void)
{
	present = me->core->clock;
	choose();
	if (running != NULL && running != me)
		pthread_cond_signal(&running->turn->comes);
}

void turns_next(void)
{
	pthread_mutex_lock(&lock);
	pass();
	await();
	pthread_mutex_unlock(&lock);
}

void turns_yield(void)
{
	if (me->core->threads > 1)
		me->core->slice = 0;
	turns_next();
}

/* The thread is ready: its core, if idle so far, was so until now. */
static void appear(void)
{
	uint64_t now = running != NULL ? running->core->clock : present;

	if (of_core(me->core) == NULL && me->core->clock < now)
		me->core->clock = now;
	me->ready = true;
	if (running == NULL)
		choose();
	else if (turns_limit > now + AHEAD)
		turns_limit = now + AHEAD;
	await();
}

void turns_enter(void)
{
	unsigned i, node;

	pthread_mutex_lock(&lock);
	if (thread_count == THREADS_MOST)
		abort();
	me = &threads[thread_count];
	me->number = thread_count++;
	me->turn = malloc(sizeof *me->turn);
	pthread_cond_init(&me->turn->comes, NULL);
	/* The core with the fewest threads; nodes in turn, so that neighbours are on different ones. */
	node = cores[core_count - 1].node + 1;
	for (i = 0; i < core_count; i++) {
		struct core *c = &cores[i % node * (core_count / node) + i / node];

		if (me->core == NULL || c->threads < me->core->threads)
			me->core = c;
	}
	me->core->threads++;
	pthread_cond_signal(&met);
	appear();
	pthread_mutex_unlock(&lock);
}

void turns_started(unsigned n)
{
	pthread_mutex_lock(&lock);
	while (thread_count < n + 1)
		pthread_cond_wait(&met, &lock);
	pthread_mutex_unlock(&lock);
}

void turns_block(void)
{
	pthread_mutex_lock(&lock);
	me->ready = false;
	pass();
	pthread_mutex_unlock(&lock);
}

void turns_return(void)
{
	pthread_mutex_lock(&lock);
	appear();
	pthread_mutex_unlock(&lock);
}

void turns_end(void)
{
	pthread_mutex_lock(&lock);
	me->ready = false;
	me->ended = true;
	me->core->threads--;
	pass();
	pthread_mutex_unlock(&lock);
}

uint64_t turns_now(void)
{
	return me->core->clock;
}

void turns_begin(unsigned n, unsigned nodes)
{
	unsigned i;

	core_count = n;
	for (i = 0; i < n; i++)
		cores[i].node = i / (n / nodes);
	turns_enter();
}
