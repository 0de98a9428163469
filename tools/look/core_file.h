/* SPDX-License-Identifier: MIT */
/* Cores: which bytes of the file are which addresses, and the files that were mapped. */
#ifndef LOOK_CORE_FILE_H
#define LOOK_CORE_FILE_H

#include "source.h"

const char *core_open(struct source *s);
/* False: these bytes are neither in the core nor in a file that was mapped and is there. */
bool core_read(struct source *s, uint64_t at, void *out, size_t bytes);

#endif
