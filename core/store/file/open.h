/* SPDX-License-Identifier: MIT */
/*
 * Opening a heap in a file: the right to make the heap, making it, attaching to it, and attaching to a heap of
 * another build.
 *
 * The claim names the thread that makes the heap in a file.  Only one thread at a time makes the heap.  No thread
 * waits for the maker, and if the maker dies the next thread starts over.  The claim is the life of that thread
 * (life.h: a word that identifies a thread or process, also after the id is reused).
 *
 *   length 0 --grow--> a page of zeros --CAS--> magic = MAKING
 *                                                 | CAS: claim = the caller's life
 *                                                 v
 *                      truncated to that page, extended, set up, magic = STORE_MAGIC
 *
 *   claim    0, or the life of a dead thread: free to be taken by compare-and-swap
 *            the life of a live thread: it is making the heap
 *
 * The first page is never removed, because other processes may have this page mapped and read the page at any time.
 * No process reads beyond this page until magic is STORE_MAGIC, and from then on the file is never truncated.
 */
#ifndef CORE_OPEN_H
#define CORE_OPEN_H

#include "ashlar_heap.h"
#include "store/process/share.h"
#include "store/file/store.h"

#define CLAIM_MAKING ((uint64_t)0x65646e616d736100) /* "\0asmande" */

enum claim {
	CLAIM_FREE,    /* empty, or half-made by a dead thread: a heap can be made there */
	CLAIM_BUSY,    /* a live thread is making a heap                                 */
	CLAIM_HEAP,    /* the file has a heap                                            */
	CLAIM_FOREIGN  /* anything else                                                  */
};

/* Returns the state of the file.  Sets *half if a thread had begun to make a heap. */
INTERNAL enum claim claim_look(int fd, bool *half);

/*
 * Sleeps a moment, for a caller that found the file BUSY.  Returns false if the caller need not look again: because
 * the maker is the calling thread, interrupted by a signal handler, or because the maker has not changed the file for
 * PATIENCE looks.  Then the maker is stopped, or waits itself, perhaps for the caller.  All members are zero at
 * first.
 */
enum { CLAIM_PATIENCE = 1000 };
struct claim_wait {
	struct share_file file;
	uint64_t words[4]; /* magic, format, claim, world */
	unsigned looks;	   /* looks since any of them changed */
};
INTERNAL bool claim_wait(int fd, struct claim_wait *w);

/* Returns CLAIM_FREE if the caller now has the claim.  The file has a page and is mapped at s. */
INTERNAL enum claim claim_take(struct store *s);

/* Clears the page except magic and claim.  The caller has the claim. */
INTERNAL void claim_clear(struct store *s);

/* Gives the claim up, and clears the page. */
INTERNAL void claim_give(struct store *s);

/* ---- open_create.c ---- */

struct store_size {
	size_t chunks; /* chunks at first                          */
	size_t limit;  /* most chunks, not fewer: see store_extend */
};

/* Creates a store without a file.  Returns NULL if there is no memory, or options->address is taken. */
INTERNAL struct store *store_create(struct store_size n, const struct ash_heap_options *options);
/* Creates a store in a file that is empty or half-made. */
INTERNAL struct store *store_create_file(int fd, struct store_size n,
					const struct ash_heap_options *options,
					enum ash_attach *why);

/* ---- open_attach.c ---- */

/*
 * Reads the head of the heap in the file.  Returns true if each word that follows from address and size is right.
 * Otherwise the reason is in *why.
 */
INTERNAL bool store_look(int fd, struct store *head, enum ash_attach *why);

/*
 * Attaches to the store in a file.  *file becomes the identity of the file, for reattach.  Returns NULL with the
 * reason in *why.  ASH_ATTACH_NO_HEAP means that a heap may be made there.
 */
INTERNAL struct store *store_attach(int fd, const struct layout *layout, uint64_t *file, enum ash_attach *why);

/* Makes the caller's namespaces those of the heap in the file.  No process is attached to the heap. */
INTERNAL bool store_adopt(int fd);

/* Seals the heap in a torn file (building.h).  Returns false if there is no heap of this version, or the write failed. */
INTERNAL bool store_vouch(int fd);

/*
 * Attaching to a heap that other processes left.  The lists, bins, spares and inboxes of owner records in the file
 * are only hints of the last process that worked there: a record is rebuilt from the slabs (seating.h) before any
 * word of the record is followed.
 *
 *   a record with         is rebuilt
 *   a holder that died    always
 *   no holder             unless a living process is attached, whose lists are right
 *   a living holder       never; it is not touched
 *
 * A life in the file proves nothing: the file may be a copy, or an older state that was written back.  So a living
 * process counts as attached only if the kernel says that the process has this file mapped at the heap's address.  If
 * that cannot be read, the records are rebuilt.
 */

/*
 * Returns whether this is a copy of a heap in which other processes were working: the pages may be of different
 * moments.  `file` is the identity of the file; s is mapped.
 */
INTERNAL bool reattach_is_torn(struct store *s, uint64_t file);

/* Rebuilds the records, before the calling process uses any of them. */
INTERNAL void reattach(struct store *s, uint64_t file);

/* ---- open_renew.c ---- */

/*
 * Rebuilding the caches of a file: all words in the file that are not the truth (store.h).  For a process with
 * structures other than those of the processes that worked there before, when none of these processes is attached any
 * more.
 *
 *   caches    N ---> CACHES_NONE --(all of it is rebuilt)--> store_caches() of the caller
 *   renewer   0 ---> the caller's life ----------------------------------------> 0
 *
 * If the caller dies, the next process finds CACHES_NONE and a dead renewer, and starts over.  Rebuilding writes only
 * words that are not the truth, so another process may repeat the rebuilding any number of times.
 *
 * A process that attaches enters the census, and then reads `caches`.  A process that rebuilds the caches sets
 * CACHES_NONE, and then looks for living processes in the census.  So one of the two sees the other.  A child of fork
 * enters when it gets a record.  If that is after the parent's file was rebuilt, the child is stopped, because the
 * child has not used the heap before and knows other structures.
 */

/* reattach_is_torn by the census alone, because the records cannot be read. */
INTERNAL bool renew_is_torn(const struct store *s, uint64_t file);

/* Rebuilds the caches.  Returns ASH_ATTACHED, or the reason for failure.  s is mapped, and the truth in s is checked. */
INTERNAL enum ash_attach renew(struct store *s, int fd);

/*
 * Makes the calling process attached, for processes that renew.  Returns false if the caches are not, or no longer,
 * those of the process's structures.  Called before any word but the truth is written.
 */
INTERNAL bool renew_enter(struct store *s);

/* For a thread that gets a record: stops a process that must not use the heap. */
INTERNAL void renew_check(struct store *s);

#endif
