/* SPDX-License-Identifier: MIT */
/* The check of the owner records in a file, see image_check.h. */
#ifndef CORE_IMAGE_RECORDS_H
#define CORE_IMAGE_RECORDS_H

#include "shm/image.h"

/* Reads the store again.  True: store, owner records, inboxes and hints are valid. */
INTERNAL bool image_records_check(struct image *m);

#endif
