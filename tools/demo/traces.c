/* SPDX-License-Identifier: MIT */
#include "demo.h"
#include "replay.h"
#include "rt.h"

struct subject {
	const char *name;
	struct steps steps;
};

static const char *playing; /* for the progress line */

static void show_progress(size_t done, size_t total)
{
	progress(playing, done, total);
}

static bool replay_failed(const struct subject *t, const struct replay *r)
{
	progress_end();
	rt_print("%-8s FAILED at event %zu: %s\n", t->name, r->fault_step, r->fault);
	return false;
}

/* Best of several; 0 when a replay failed. */
static uint64_t best_time(struct replay *r, unsigned rounds)
{
	uint64_t best = UINT64_MAX;

	for (unsigned i = 0; i < rounds; i++) {
		uint64_t time = replay_timed(r);

		progress("timing", i, rounds);
		if (time == 0)
			return 0;
		if (time < best)
			best = time;
	}
	return best;
}

/*
 * Resident memory is that of this process: it has the steps and the tables
 * already, all touched, when the base is taken; what comes is Ashlar's.
 */
static bool replay_row(const void *argument)
{
	const struct subject *t = argument;
	double peak = (double)t->steps.header.peak, resident;
	uint64_t events = t->steps.header.events, time;
	struct replay r;
	size_t base;

	if (!replay_open(&r, &t->steps)) {
		rt_print("%-8s FAILED: no memory for its tables\n", t->name);
		return false;
	}
	r.progress = show_progress;
	playing = t->name;
	rt_resident_peak_reset();
	base = rt_resident();
	if (!replay_verified(&r))
		return replay_failed(t, &r);
	resident = (double)(rt_resident_peak() - base);

	time = best_time(&r, rt_under_qemu() ? 1 : 10);
	if (time == 0)
		return replay_failed(t, &r);
	progress_end();
	rt_print("%-8s %8lu %8u %12.2f", t->name, events, t->steps.header.threads, peak / MIB);
	if (rt_under_qemu())
		rt_print(" %14s %8s", "-", "-");
	else
		rt_print(" %14.2f %8.2f", resident / MIB, resident / peak);
	rt_print(" %10.1f\n", (double)time / (double)events);
	return true;
}

/* "tests/traces/sql.trace" is "sql"; cut at the size of the column. */
static void trace_name(char *out, size_t size, const char *path)
{
	size_t n = 0;

	for (const char *p = path; *p != '\0'; p++)
		if (*p == '/')
			path = p + 1;
	while (n + 1 < size && path[n] != '\0' && path[n] != '.')
		n++;
	memcpy(out, path, n);
	out[n] = '\0';
}

bool traces(char *const *paths)
{
	bool good = true;

	rt_print("5. What real programs asked of malloc, replayed: first with each block filled "
		 "and\n"
		 "   verified, by as many threads as there were; then timed on one thread, blocks\n"
		 "   untouched, best of %s.  Fragmentation is peak resident / live.\n\n",
		 rt_under_qemu() ? "one" : "ten");
	rt_print("%-8s %8s %8s %12s %14s %8s %10s\n", "trace", "events", "threads", "live MiB",
		 "resident MiB", "fragm.", "ns/event");
	for (; *paths != NULL; paths++) {
		struct subject t;
		const char *why = steps_load(&t.steps, *paths);
		char name[9];

		trace_name(name, sizeof(name), *paths);
		t.name = name;
		if (why != NULL) {
			rt_print("%-8s FAILED: %s: %s\n", name, *paths, why);
			good = false;
			continue;
		}
		good &= in_child(replay_row, &t);
		steps_drop(&t.steps);
	}
	return good;
}
