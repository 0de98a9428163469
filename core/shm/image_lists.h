/* SPDX-License-Identifier: MIT */
/* The check of the slab lists of vacant records in a file, see image_check.h. */
#ifndef CORE_IMAGE_LISTS_H
#define CORE_IMAGE_LISTS_H

#include "shm/image.h"

/* True: the lists of each vacant record have exactly the slabs that were found in chunks. */
INTERNAL bool image_lists_check(struct image *m);

/*
 * True: a live thread has begun to change units, chunks or slabs since image_records_check.
 * The lists may then be in the middle of a change, and prove nothing.
 */
INTERNAL bool image_is_changing(struct image *m);

#endif
