/* SPDX-License-Identifier: MIT */
/* The kinds of words of a heap: which member of which structure lies at an address. */
#ifndef WORDS_NAMES_H
#define WORDS_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* At most 64: a set of kinds is a word. */
enum { KINDS_MOST = 64 };

/* The kind of the 8 bytes at an address. */
unsigned kind_at(uint64_t address);
const char *kind_name(unsigned kind);

/* Slabs made and unmade in the default heap so far. */
uint64_t slabs_changed(void);

#endif
