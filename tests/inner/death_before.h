/* SPDX-License-Identifier: MIT */
/* States of the heap in which a path begins: each sets death_block, if the call needs one. */
#ifndef TESTS_INNER_DEATH_BEFORE_H
#define TESTS_INNER_DEATH_BEFORE_H

#include "inner/death.h"

/* Entry i of the book is the block to be released or resized. */
void before_choose(size_t i);

void before_three(void);
void before_record(void);
void before_take(void);
void before_take_one(void);
void before_take_from_live(void);
void before_take_from_detached(void);
void before_last_from_detached(void);
void before_take_from_ended(void);
void before_to_last_of_group(void);
void before_exhaust(void);
void before_shelve(void);
void before_exhausted(void);
void before_fill_chunks(void);
void before_mail(void);
void before_adopt(void);
void before_take_over(void);
void before_dirty(void);
void before_last_of_slab(void);
void before_last_of_slab_with_spares(void);
void before_last_of_chunk(void);
void before_period_over(void);
void before_hemmed(void);
void before_check_out(void);
void before_take_unowned(void);
void before_last_unowned(void);
void before_another_is_preferred(void);
void before_empty_unowned(void);
void before_no_record(void);
void before_busy(void);

#endif
