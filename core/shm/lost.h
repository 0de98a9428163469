/* SPDX-License-Identifier: MIT */
/* Memory that nobody has: of threads that died between two bitmaps, see recover.h. */
#ifndef CORE_LOST_H
#define CORE_LOST_H

#include "internal.h"
#include "shm/store.h"

/*
 * Looks over the whole heap for what is in no bitmap and no slab, and gives it
 * back.  Does nothing while another live thread looks; gives up what it
 * cannot look at in a moment in which nobody builds, until the next time.
 */
INTERNAL void lost_look(struct store *s);

#endif
