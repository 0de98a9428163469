/* SPDX-License-Identifier: MIT */
/* States of the heap in which a path begins: each sets death_block, if the call needs one. */
#ifndef TESTS_STORE_DEATH_BEFORE_H
#define TESTS_STORE_DEATH_BEFORE_H

#include "store/death/harness.h"

/* Entry i of the book is the block to be released or resized. */
void before_choose(size_t i);

void before_three(void);
void before_record(void);
void before_take(void);
void before_take_one(void);
void before_take_from_live(void);
void before_take_notified(void);
void before_take_from_detached(void);
void before_last_from_detached(void);
void before_take_from_ended(void);
void before_to_last_of_group(void);
void before_exhaust(void);
void before_partial(void);
void before_full(void);
void before_exhausted(void);
void before_fill_chunks(void);
void before_remote_frees(void);
void before_take_beside(void);
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
void before_slot(void);
void before_slot_own(void);
void before_slot_one(void);
void before_slot_detached(void);
void before_slot_unowned(void);
void before_slot_none_unowned(void);
void before_slot_drafts(void);
void do_alloc_into(void);
void do_release_from(void);
void do_replace(void);
void do_replace_by_span(void);
void do_replace_late(void);
void before_take_tagged(void);
void do_bind(void);
void do_tagged(void);
void do_load(void);
void ended_armed(void);
void ended_marked(void);
void ended_marked_unowned(void);
void before_no_record(void);
void before_busy(void);
void before_extend(void);

/* ---- a process that died in the middle of everything (store/death/before_unowned.c) ---- */

void ended_over_units(void);
void ended_over_chunks(void);
void ended_over_span(void);
void ended_over_slot_unowned(void);
void ended_over_record(void);
void ended_over_slot(void);
void ended_unmaking_unowned(void);
void ended_over_extend(void);

#endif
