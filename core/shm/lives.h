/* SPDX-License-Identifier: MIT */
/*
 * Lives in a heap shared by processes.  A life is a word that identifies a thread or a
 * process, also when its id is in use again (life.h).  It is valid only in the namespaces
 * of the processes that made the heap (world.h).
 */
#ifndef CORE_LIVES_H
#define CORE_LIVES_H

#include "life.h"
#include "shm/store.h"

/*
 * The lives of the calling thread and of its process, for words of this heap.  0: no
 * process that uses the heap could judge it, as the caller is in other namespaces; of the
 * process also in a child of vfork, which has no memory of its own.
 */
INTERNAL uint64_t lives_thread(struct heap *h);
INTERNAL uint64_t lives_process(struct heap *h);

/*
 * True: the life is certainly over.  Never true for a caller in other namespaces than
 * those of the heap, where other lives have the same ids.
 */
INTERNAL bool lives_thread_is_over(const struct store *s, uint64_t life);
INTERNAL bool lives_process_is_over(const struct store *s, uint64_t life);

#endif
