/* SPDX-License-Identifier: MIT */
/* The preparation of a path of single steps: a heap in which the call takes that path. */
#ifndef TESTS_INNER_STEPS_BEFORE_H
#define TESTS_INNER_STEPS_BEFORE_H

struct slab;
extern struct slab *path_sleepers; /* of a thread that sleeps */

void path_take(void);
void path_take_from_other(void);
void path_take_from_passing(void);
void path_take_shared(void);
void path_take_shared_last(void);
void path_dirty_span(void);
void path_retained_elsewhere(void);
void path_empty_shared(void);
void path_exhaust_slab(void);
void path_last_of_group(void);
void path_partial(void);
void path_full(void);
void path_all_full(void);
void path_current_full(void);
void path_inbox(void);
void path_adoptable(void);
void path_full_chunks(void);
void path_alone(void);
void path_spares_full(void);
void path_last_of_slab(void);
void path_hemmed_span(void);
void path_roomy_span(void);
void path_period_over(void);
void path_sleeping_owner(void);
void path_emptied_by_others(void);
void path_sparse_span(void);
void path_detached(void);

#endif
