/* SPDX-License-Identifier: MIT */
/*
 * Who makes the heap in a file.  One at a time does; nobody waits for him, and
 * if he dies the next one begins anew.
 *
 *   length 0 --grow--> a page of zeros --swap--> magic = MAKING
 *                                                  | swap: claim = my life
 *                                                  v
 *                      cut to that page, made long, set up, magic = STORE_MAGIC
 *
 *   claim    0, or the life of a dead one: free to be taken, by swap
 *            of a live one: somebody is at work
 *
 * The page stays, once it is there: whoever has it mapped may look at it at any
 * time.  Beyond it nobody looks until magic is STORE_MAGIC, and from then on
 * nothing is ever cut.
 */
#ifndef CORE_CLAIM_H
#define CORE_CLAIM_H

#include "internal.h"
#include "shm/store.h"

#define CLAIM_MAKING ((uint64_t)0x65646e616d736100) /* "\0asmande" */

enum claim {
	CLAIM_FREE,    /* empty, or left half-made: what is wanted can be made there */
	CLAIM_BUSY,    /* a live thread is about to                                  */
	CLAIM_HEAP,    /* it is done                                                 */
	CLAIM_FOREIGN  /* no heap of any version, nor room for one                   */
};

/* A look at the file; *half: of one that is free, somebody had begun. */
INTERNAL enum claim claim_look(int fd, bool *half);

/* CLAIM_FREE: it is the caller's.  s: the file is mapped there, and has a page. */
INTERNAL enum claim claim_take(struct store *s);

/* The page is zero but for magic and claim: for whoever has it. */
INTERNAL void claim_clear(struct store *s);

/* The caller's is free again, and the page zero. */
INTERNAL void claim_give(struct store *s);

#endif
