/* SPDX-License-Identifier: MIT */
/*
 * Litmus tests for a weak memory: small C++ copies of the places where threads of the heap
 * meet, explored by relacy, which follows the C++11 (and so the C11) memory model: a load may
 * return an older value unless an order forbids it, and a plain access that races is an error.
 *
 * Each order that a test names has a label.  A test is run as it stands, and then once for
 * each label with this order weakened by one step (seq_cst -> acq_rel -> one half of it ->
 * relaxed, a fence left out): each of these runs must fail, so each order is needed.
 * Orders without a label are relaxed here, whatever the code has: another test needs them.
 *
 * Limits: relacy does not let a load see a store that comes later in its execution, so load
 * buffering is not explored; and a load returns one of the two latest values.
 */
#ifndef WEAK_LITMUS_H
#define WEAK_LITMUS_H

#include <relacy/relacy.hpp>

/* The order of an operation with this label, weakened if that is this run's fault. */
enum litmus_kind { LITMUS_LOAD, LITMUS_STORE, LITMUS_RMW, LITMUS_FENCE };
rl::memory_order litmus_order(const char *label, rl::memory_order order, litmus_kind kind);
/* A fault that is no order; true: it is this run's. */
bool litmus_fault(const char *label);

typedef rl::atomic<unsigned> word;
typedef rl::var<unsigned> plain;

/* `word` in the notation of relacy, which notes the place. */
#define PEEK(w)		     (w)($).load(rl::mo_relaxed)
#define POKE(w, v)	     (w)($).store((v), rl::mo_relaxed)
#define LOAD(w, label, o)    (w)($).load(litmus_order(label, rl::mo_##o, LITMUS_LOAD))
#define STORE(w, v, label, o) (w)($).store((v), litmus_order(label, rl::mo_##o, LITMUS_STORE))
#define RMW(label, o)	     litmus_order(label, rl::mo_##o, LITMUS_RMW)
#define OR(w, v, label, o)   (w)($).fetch_or((v), RMW(label, o))
#define AND(w, v, label, o)  (w)($).fetch_and((v), RMW(label, o))
#define ADD(w, v, label, o)  (w)($).fetch_add((v), RMW(label, o))
#define SWAP(w, v, label, o) (w)($).exchange((v), RMW(label, o))
#define CAS(w, expected, v, label, o)                                                              \
	(w)($).compare_exchange_strong((expected), (v), RMW(label, o), rl::mo_relaxed)
#define FENCE(label, o)                                                                            \
	do {                                                                                       \
		rl::memory_order fence_order = litmus_order(label, rl::mo_##o, LITMUS_FENCE);      \
		if (fence_order != rl::mo_relaxed)                                                 \
			rl::atomic_thread_fence(fence_order, $);                                   \
	} while (0)

/* A test: runs itself once; true: no execution failed. */
struct litmus {
	const char *name;
	bool (*run)(rl::test_params &params);
	litmus *next;
	litmus(const char *name, bool (*run)(rl::test_params &params));
};

template <typename suite> bool litmus_simulate(rl::test_params &params)
{
	return rl::simulate<suite>(params);
}

#define LITMUS(name, threads)                                                                      \
	struct name;                                                                               \
	static litmus litmus_of_##name(#name, litmus_simulate<name>);                              \
	struct name : rl::test_suite<name, threads>

#endif
