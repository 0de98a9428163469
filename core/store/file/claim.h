/* SPDX-License-Identifier: MIT */
/*
 * The claim: which thread makes the heap in a file.  One thread at a time does; no thread
 * waits for it, and if it dies the next one starts over.  The claim is the life of that
 * thread (life.h: a word that identifies a thread or process, also after its id is reused).
 *
 *   length 0 --grow--> a page of zeros --CAS--> magic = MAKING
 *                                                 | CAS: claim = the caller's life
 *                                                 v
 *                      truncated to that page, extended, set up, magic = STORE_MAGIC
 *
 *   claim    0, or the life of a dead thread: free to be taken by compare-and-swap
 *            the life of a live thread: it is making the heap
 *
 * The first page is never removed, as other processes may have it mapped and read it at
 * any time.  No process reads beyond it until magic is STORE_MAGIC, and from then on the
 * file is never truncated.
 */
#ifndef CORE_CLAIM_H
#define CORE_CLAIM_H

#include "share.h"
#include "store/file/store.h"

#define CLAIM_MAKING ((uint64_t)0x65646e616d736100) /* "\0asmande" */

enum claim {
	CLAIM_FREE,    /* empty, or left half-made: a heap can be made there */
	CLAIM_BUSY,    /* a live thread is making one                        */
	CLAIM_HEAP,    /* it has one                                         */
	CLAIM_FOREIGN  /* something else                                     */
};

/* The state of the file; *half: some thread had begun to make a heap. */
INTERNAL enum claim claim_look(int fd, bool *half);

/*
 * For a caller that found the file BUSY: sleeps a moment.  False: it need not look again, as the maker is
 * the calling thread, interrupted by a signal handler, or has done nothing to the file for PATIENCE
 * looks: it is stopped, or waits itself, perhaps for the caller.  All zero at first.
 */
enum { CLAIM_PATIENCE = 1000 };
struct claim_wait {
	struct share_file file;
	uint64_t words[4]; /* magic, format, claim, world */
	unsigned looks;	   /* since any of them changed    */
};
INTERNAL bool claim_wait(int fd, struct claim_wait *w);

/* CLAIM_FREE: the caller has the claim.  s: the file is mapped there, and has a page. */
INTERNAL enum claim claim_take(struct store *s);

/* Clears the page but for magic and claim.  The caller has the claim. */
INTERNAL void claim_clear(struct store *s);

/* Gives the claim up, and clears the page. */
INTERNAL void claim_give(struct store *s);

#endif
