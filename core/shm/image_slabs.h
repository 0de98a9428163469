/* SPDX-License-Identifier: MIT */
/* The check of a chunk of slabs in a file, see image_check.h. */
#ifndef CORE_IMAGE_SLABS_H
#define CORE_IMAGE_SLABS_H

#include "shm/image.h"

/* True: the units and slab records of chunk i, which was read into m->copy, are valid. */
INTERNAL bool image_slabs_check(struct image *m, size_t i);

#endif
