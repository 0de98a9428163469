/* SPDX-License-Identifier: MIT */
/*
 * Opening a heap in a file: who makes it, making it, attaching to it, and to one of another build.
 *
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
#ifndef CORE_OPEN_H
#define CORE_OPEN_H

#include "ashlar_heap.h"
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

/* ---- open_create.c: also what every heap has that the program creates ---- */

struct store_size {
	size_t chunks; /* at first                         */
	size_t limit;  /* that it may have, not fewer: see store_extend */
};

/* A store without a file; NULL: no memory, or options->address is taken. */
INTERNAL struct store *store_create(struct store_size n, const struct ash_heap_options *options);
/* The same in a file that is empty or was left half-made. */
INTERNAL struct store *store_create_file(int fd, struct store_size n,
					const struct ash_heap_options *options,
					enum ash_attach *why);

/* An id that no other heap of this process has, nor a shared heap of another process. */
INTERNAL uint64_t heap_new_id(bool shared);

/* Sets the heap's options: the program's, or the defaults, with this cap. */
INTERNAL void heap_configure(struct heap *h, size_t cap, const struct ash_heap_options *options);

/* ---- open_attach.c ---- */

/*
 * Reads the head of the heap in the file.  False: *why is the reason.  True: each word that
 * follows from its address and size is right.
 */
INTERNAL bool store_look(int fd, struct store *head, enum ash_attach *why);

/*
 * The store in a file, whose identity *file becomes, for reattach; NULL: *why is the reason.
 * ASH_ATTACH_NO_HEAP: one may be made there.
 */
INTERNAL struct store *store_attach(int fd, const struct layout *layout, uint64_t *file, enum ash_attach *why);

/* Makes the caller's namespaces those of the heap in the file, to which no process is attached. */
INTERNAL bool store_adopt(int fd);

/* Seals the heap in a torn file (building.h).  False: no heap of this version, or the write failed. */
INTERNAL bool store_vouch(int fd);

/*
 * Attaching to a heap that others left.  What the file has of owner records (lists, bins,
 * spares, inboxes) is only a hint of the last process that worked there: a record is rebuilt
 * from what is in the slabs (seating.h) before anything of it is followed.
 *
 *   a record with         is rebuilt
 *   a holder that died    always
 *   no holder             unless a living process is attached, whose lists are right
 *   a living holder       never; it is not touched
 *
 * A life in the file proves nothing: the file may be a copy, or an older state of it that was
 * written back.  So a living process counts as attached only if the kernel says that it has
 * this file mapped at the heap's address.  If that cannot be read, the records are rebuilt.
 */

/*
 * True: this is a copy (file: the identity of the file) of a heap in which others were working:
 * its pages may be of different moments.  s: mapped.
 */
INTERNAL bool reattach_is_torn(struct store *s, uint64_t file);

/* Rebuilds the records.  Before any of them is used by the calling process. */
INTERNAL void reattach(struct store *s, uint64_t file);

/* ---- open_renew.c ---- */

/*
 * Rebuilding the caches of a file: everything in it that is not the truth (store.h).  For a
 * process whose structures differ from those of the processes that worked there before, when
 * none of them is attached any more.
 *
 *   caches    N ---> CACHES_NONE --(all of it is rebuilt)--> store_caches() of the caller
 *   renewer   0 ---> the caller's life ----------------------------------------> 0
 *
 * If the caller dies, the next one finds CACHES_NONE and a dead renewer, and starts over: only
 * what is not the truth is written, so that may be done any number of times.
 *
 * Who attaches enters the census, and then reads `caches`; who rebuilds them sets CACHES_NONE,
 * and then looks for living processes in the census.  So one of the two sees the other.  A
 * child of fork enters when it gets a record.  If that is after its parent's file was rebuilt,
 * it is stopped: it has not used the heap before, and its code knows other structures.
 */

/* As reattach_is_torn, by the census: the records cannot be read. */
INTERNAL bool renew_is_torn(const struct store *s, uint64_t file);

/* Rebuilds the caches.  ASH_ATTACHED: that was done; else the reason why not.  s: mapped, the truth in it checked. */
INTERNAL enum ash_attach renew(struct store *s, int fd);

/*
 * The calling process is attached, for those who renew.  False: the caches are not those of its structures
 * (any more).  Before anything is written but the truth.
 */
INTERNAL bool renew_enter(struct store *s);

/* For a thread that gets a record: stops the process if it has no business there. */
INTERNAL void renew_check(struct store *s);

#endif
