/* SPDX-License-Identifier: MIT */
/* What is printed of a picture and its sums. */
#ifndef LOOK_SHOW_H
#define LOOK_SHOW_H

#include "out.h"
#include "sums.h"

void show_summary(const struct picture *p, const struct sums *t);
void show_classes(const struct picture *p, const struct sums *t);
void show_owners(const struct picture *p, const struct sums *t);
void show_large(const struct picture *p);
void show_json(const struct picture *p, const struct sums *t);
void show_svg(const struct picture *p, const struct sums *t);
void show_blocks(const struct picture *p);
/* False: no heap has the address. */
bool show_find(const struct picture *p, uint64_t address);
/* What changed since the picture before, for --watch. */
void show_changes(const struct picture *p, const struct sums *t, const struct sums *before);

/* "python3 (4711)", "4711, ended", ...: of an owner record. */
const char *owner_text(const struct picture *p, const struct slab *s);

#endif
