/* SPDX-License-Identifier: MIT */
/* Runs the litmus tests: all, or those whose names are given.  See litmus.h. */
#include <stdio.h>
#include <string.h>

#include "litmus.h"

/* No containers of the standard library: relacy replaces the operator new that they use. */
struct fault {
	const char *label;
	rl::memory_order weak;
};
enum { FAULTS = 64 };
static fault faults[FAULTS]; /* that this test offers, found by its first run */
static unsigned fault_count;
static const fault *planted;
static litmus *first;

litmus::litmus(const char *test, bool (*how)(rl::test_params &)) : name(test), run(how), next(NULL)
{
	litmus **at = &first;

	while (*at != NULL)
		at = &(*at)->next;
	*at = this;
}

/* Enters a fault once. */
static void offer(const char *label, rl::memory_order weak)
{
	unsigned i;

	for (i = 0; i < fault_count; i++)
		if (strcmp(faults[i].label, label) == 0 && faults[i].weak == weak)
			return;
	if (planted == NULL && fault_count < FAULTS)
		faults[fault_count++] = {label, weak};
}

rl::memory_order litmus_order(const char *label, rl::memory_order order, litmus_kind kind)
{
	if (order == rl::mo_relaxed)
		return order;
	if (order == rl::mo_acq_rel) {
		offer(label, rl::mo_acquire);
		offer(label, rl::mo_release);
	} else if (order == rl::mo_seq_cst) {
		offer(label, kind == LITMUS_LOAD    ? rl::mo_acquire
			     : kind == LITMUS_STORE ? rl::mo_release
						    : rl::mo_acq_rel);
	} else {
		offer(label, rl::mo_relaxed);
	}
	return planted != NULL && strcmp(planted->label, label) == 0 ? planted->weak : order;
}

bool litmus_fault(const char *label)
{
	offer(label, rl::mo_relaxed);
	return planted != NULL && strcmp(planted->label, label) == 0;
}

enum { MOST = 3000000 };

/* One search of all executions; *complete: all were searched. */
static bool search(const litmus *t, bool *complete, unsigned long *executions,
		   const char **why)
{
	std::ostream out(NULL);
	rl::test_params p;
	bool right;

	p.search_type = rl::sched_full;
	p.iteration_count = MOST;
	p.output_stream = p.progress_stream = &out;
	p.progress_output_period = ~0u;
	right = t->run(p);
	*executions = (unsigned long)p.stop_iteration;
	*complete = !right || p.stop_iteration < MOST;
	*why = right ? "" : rl::test_result_str(p.test_result);
	return right;
}

/* The test and its faults; prints a line for each. */
static void test(const litmus *t, unsigned *passed, unsigned *failed, bool verbose)
{
	unsigned long executions, n;
	unsigned missed = 0, i;
	const char *why;
	bool complete;

	fault_count = 0;
	planted = NULL;
	if (!search(t, &complete, &executions, &why) || !complete) {
		printf("FAIL weak %s: %s, execution %lu\n", t->name,
		       complete ? why : "too many executions", executions);
		++*failed;
		return;
	}
	for (i = 0; i < fault_count; i++) {
		const fault &f = faults[i];

		planted = &f;
		if (search(t, &complete, &n, &why)) {
			printf("FAIL weak %s: not needed: %s\n", t->name, f.label);
			missed++;
		} else if (verbose) {
			printf("     %s -> %s: %s\n", f.label, rl::format(f.weak), why);
		}
	}
	planted = NULL;
	*failed += missed != 0;
	*passed += missed == 0;
	if (missed == 0)
		printf("ok   weak %s: %lu executions, each of %u orders is needed\n", t->name, executions,
		       fault_count);
}

int main(int argc, char **argv)
{
	unsigned passed = 0, failed = 0;
	bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
	const litmus *t;
	int i;

	for (t = first; t != NULL; t = t->next) {
		bool wanted = argc == 1 + verbose;

		for (i = 1 + verbose; i < argc; i++)
			wanted |= strcmp(argv[i], t->name) == 0;
		if (wanted)
			test(t, &passed, &failed, verbose);
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
