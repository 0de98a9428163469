/* SPDX-License-Identifier: MIT */
/*
 * Lost memory: units, chunks, slots of unowned slabs and owner records that a thread held
 * when it died while building (building.h), so that they are in no bitmap and no slab.
 */
#ifndef CORE_LOST_MEMORY_H
#define CORE_LOST_MEMORY_H

#include "shm/store.h"

/*
 * Searches the whole heap for lost memory and returns it.  Does nothing while another live
 * thread searches.  What cannot be examined at a moment in which no thread builds is left
 * to the next search.
 */
INTERNAL void lost_memory_return(struct store *s);

#endif
