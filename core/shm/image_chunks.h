/* SPDX-License-Identifier: MIT */
/* The check of all chunks in a file, see image_check.h. */
#ifndef CORE_IMAGE_CHUNKS_H
#define CORE_IMAGE_CHUNKS_H

#include "shm/image.h"

/* True: all chunks are valid.  m->bits was read. */
INTERNAL bool image_chunks_check(struct image *m);

#endif
