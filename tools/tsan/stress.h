/* SPDX-License-Identifier: MIT */
#ifndef STRESS_H
#define STRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ash_heap;

#define MIB ((size_t)1 << 20)
#define RELAXED_ADD(counter, n) atomic_fetch_add_explicit(&(counter), (n), memory_order_relaxed)

/* system.c: called within system calls; uses the heap as a signal handler would. */
void stress_interrupt(void);
/*
 * The same: the last call of each thread.  A record may still be its own then, if it ended without
 * ash_thread_detach, or was interrupted at the end of that call.
 */
void stress_ended(void);
/* The first call of each thread: see system.c. */
void stress_began(void);

/* block.c */
struct block { /* at the start of each */
	uint64_t size, key;
};

enum { TABLE = 512 };
extern struct block *_Atomic table[TABLE];
extern struct ash_heap *_Atomic heap; /* NULL: not made yet */
extern _Atomic uint64_t refused;

void fail(const char *what);
uint64_t below(uint64_t *state, uint64_t bound);
/* From one byte that is filled to the next. */
size_t step(size_t size);
/* Of `size` bytes, which may be less than p has.  p NULL: NULL, and counts it. */
struct block *fill(void *p, size_t size, uint64_t key);
void check_up_to(const struct block *b, size_t size, size_t filled);
/* Checks and releases the block. */
void let_go(struct block *b);
/* Puts a block, or NULL, in the place of a table; returns what was there, checked. */
struct block *trade(struct block *b, struct block *_Atomic *place);

/* turns.c: what one worker does in its turn, while the others go on. */
extern _Atomic bool quiet; /* nobody shall take or give back much: a period of retention passes */
void turn(uint64_t *random);
size_t turn_size(uint64_t *random); /* one of a few, of slabs */
void turn_gone(uint64_t *random);   /* gone.c */
void hands(uint64_t *random);	    /* hand.c: while no worker is there */
/* Within a system call: ends the thread, if it has a counter here, which is counted up. */
extern _Thread_local _Atomic unsigned *turn_mortal;
void turn_may_end(void);

/* 1: also shared.c.  `make tsan-shared` */
#ifndef SHARED
#define SHARED 0
#endif

/* shared.c: a heap shared by processes; the first and last by one thread. */
#define SHARED_AT ((uintptr_t)0x7e8800000000) /* where ThreadSanitizer allows it, and system.c maps no other */
void shared_begin(void);
void turn_shared(uint64_t *random);
void shared_interrupt(uint64_t *random); /* as stress_interrupt, in this heap */
void shared_look(void);
void shared_view(int file); /* shared_view.c: looks at it as another process does */
void shared_end(void);
/* Checks and releases a block of that heap. */
void shared_leave(struct ash_heap *h, struct block *b, uint64_t *r);
/* shared_upkeep.c: a call that looks at the whole heap, or fills it; for ash_heap_walk: counts blocks. */
void shared_upkeep(struct ash_heap *h, uint64_t *r);
void shared_fill_up(struct ash_heap *h, uint64_t *r);
struct ash_heap_owner;
int shared_see(void *count, void *block, size_t size, const struct ash_heap_owner *owner);
/* turns.c. At the end: releases what is left.  The number of threads that ended in a call. */
unsigned turns_end(void);

#endif
