/* SPDX-License-Identifier: MIT */
/* A process joins the census (census.h): it gets a tag. */
#ifndef CORE_CENSUS_JOIN_H
#define CORE_CENSUS_JOIN_H

#include "shm/store.h"

/*
 * The calling process's tag.  TAG_UNKNOWN: all processes in the census live or left a
 * block, or no process could judge the caller's life (lives.h).
 */
INTERNAL uint16_t census_join(struct store *s);

/* The same for a thread with the record o, or none (NULL). */
INTERNAL uint16_t census_mine(struct store *s, const struct owner *o);

#endif
