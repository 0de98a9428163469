/* SPDX-License-Identifier: MIT */
/*
 * build/demo-shared [seconds [text]]: a prefork server in miniature.
 *
 * A parent and four workers share a heap, and in it a hash table of the words
 * of a text.  The workers count words, replace and delete entries.  A killer
 * ends one of them by SIGKILL every few milliseconds; the parent forks another
 * and releases what the dead one has left.  At the end every entry is
 * verified, all is released, and nothing may be left.
 *
 * Exit status 1: something was wrong, or lost.  RT_QEMU=1: fewer kills.
 */
#include <ashlar_heap.h>

#include "rt.h"
#include "sweep.h"
#include "table.h"
#include "worker.h"

enum { CAPACITY = 64, SWEEP_EVERY = 16 };
#define KILLED (1000 + 9)

static struct {
	ash_heap *heap;
	struct text text;
	struct table *table;
	struct session session; /* the parent's */
	/* In memory that all share: the killer reads it. */
	long *pids;
	long killer;
	uint64_t kills, unsure, seconds, shown;
	struct swept swept;
	bool failed;
} server;

/* ---- the report ---- */

/* 1234567 as "1 234 567", to the right of a field of `width`. */
static const char *grouped(uint64_t n, unsigned width)
{
	static char text[8][32];
	static unsigned next;
	char *t = text[next++ % 8];
	unsigned at = 31, digits = 0;

	t[at] = '\0';
	do {
		if (digits > 0 && digits % 3 == 0)
			t[--at] = ' ';
		t[--at] = (char)('0' + n % 10);
		digits++;
	} while ((n /= 10) != 0);
	while (31 - at < width)
		t[--at] = ' ';
	return t + at;
}

static uint64_t operations(void)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < WORKERS; i++)
		sum += __atomic_load_n(&server.table->slot[i].operations, __ATOMIC_RELAXED);
	return sum;
}

static void second(uint64_t start)
{
	uint64_t now = (rt_now() - start) / 1000000000;
	struct ash_stats stats;

	if (now <= server.shown || now > server.seconds)
		return;
	server.shown = now;
	ash_heap_stats(server.heap, &stats);
	rt_print("%s s %s %s %s %s\n", grouped(now, 4), grouped(operations(), 14),
		 grouped(server.kills, 8), grouped(server.swept.blocks, 11),
		 grouped(stats.blocks, 9));
}

/* tests/check/shared.sh reads these lines. */
static void line(const char *what, uint64_t n, const char *meaning)
{
	rt_print("  %-18s %s   %s\n", what, grouped(n, 13), meaning);
}

static void wrong(const char *what, uint64_t n)
{
	rt_print("  FAILED: %s: %llu\n", what, (unsigned long long)n);
	server.failed = true;
}

/* ---- the parent ---- */

static void hire(unsigned slot)
{
	static uint64_t count;
	uint64_t seed = rt_test_seed() + ++count;
	long pid = rt_fork();

	if (pid == 0)
		work(session_of(server.heap, &server.text, slot), seed);
	if (pid < 0)
		wrong("no process to be had", (uint64_t)-pid);
	__atomic_store_n(&server.pids[slot], pid < 0 ? 0 : pid, __ATOMIC_RELAXED);
}

/* One child has ended.  True: it was the killer. */
static bool mourn(bool replace)
{
	unsigned slot = 0;
	int status;
	long pid = rt_wait_any(&status);

	if (pid == server.killer || pid < 0)
		return true;
	while (slot < WORKERS && server.pids[slot] != pid)
		slot++;
	if (slot == WORKERS)
		return false;
	__atomic_store_n(&server.pids[slot], 0, __ATOMIC_RELAXED);
	slot_clear(&server.table->slot[slot], &server.unsure);
	if (status == KILLED)
		server.kills++;
	else if (status == WRONG_ENTRY)
		wrong("a worker found an entry that nobody wrote; pid", (uint64_t)pid);
	else if (status == HEAP_FULL)
		wrong("a worker had no memory; pid", (uint64_t)pid);
	else if (status != 0 || replace)
		wrong("a worker ended by itself; status", (uint64_t)status);
	if (replace)
		hire(slot);
	return false;
}

static void serve(void)
{
	uint64_t start = rt_now(), swept = 0;
	unsigned i;

	for (i = 0; i < WORKERS; i++)
		hire(i);
	server.killer = rt_fork();
	if (server.killer == 0)
		kill_workers(server.pids, server.seconds, rt_test_seed());
	while (!server.failed && !mourn(true)) {
		if (server.kills >= swept + SWEEP_EVERY) {
			swept = server.kills;
			sweep(&server.session, server.pids, false, &server.swept);
		}
		second(start);
	}
	__atomic_store_n(&server.table->stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < WORKERS; i++)
		while (server.pids[i] != 0)
			(void)mourn(false);
	/* A sweep takes only so many. */
	do {
		swept = server.swept.blocks;
		sweep(&server.session, server.pids, true, &server.swept);
	} while (server.swept.blocks > swept);
}

/* Looks at every entry, and at what their counts add up to.  Returns their number. */
static size_t verify(void)
{
	int64_t counts = 0, added = 0, unsure = (int64_t)server.unsure;
	size_t entries = 0, bad = 0;
	const struct entry *e;
	unsigned i;

	for (i = 0; i < BUCKETS; i++)
		for (e = table_chain(server.table, i); e != NULL; e = e->next) {
			if (e->hash % BUCKETS != i || !entry_is_good(e, &server.text))
				bad++;
			counts += (int64_t)e->count;
			entries++;
		}
	for (i = 0; i < WORKERS; i++)
		added += server.table->slot[i].sum;
	if (bad > 0)
		wrong("entries that nobody wrote", bad);
	if (counts < added - unsure || counts > added + unsure)
		wrong("the counts are not what the workers added; off by",
		      (uint64_t)(counts < added ? added - counts : counts - added));
	return entries;
}

/* Takes everything down.  Returns the blocks that are left. */
static uint64_t close_down(void)
{
	struct ash_stats stats;
	unsigned i;
	int broken;

	for (i = 0; i < BUCKETS; i++) {
		const struct entry *e = table_chain(server.table, i), *next;

		for (; e != NULL; e = next) {
			next = e->next;
			ash_heap_release(server.heap, (void *)(uintptr_t)e);
		}
	}
	ash_heap_set_root(server.heap, NULL);
	ash_heap_release(server.heap, server.table);
	broken = ash_heap_check(server.heap);
	if (broken != 0)
		wrong("the heap is broken: invariant", (uint64_t)broken);
	ash_heap_stats(server.heap, &stats);
	ash_heap_destroy(server.heap);
	return stats.blocks;
}

static bool open_up(const char *path)
{
	if (!text_read(&server.text, path)) {
		rt_fprint(2, "demo-shared: no words in %s\n", path);
		return false;
	}
	server.heap = ash_heap_create_shared(CAPACITY * MIB, NULL);
	if (server.heap == NULL || (server.table = table_make(server.heap)) == NULL ||
	    (server.pids = ash_heap_zalloc(server.heap, WORKERS, sizeof *server.pids)) == NULL) {
		rt_fprint(2, "demo-shared: no memory\n");
		return false;
	}
	server.session = session_of(server.heap, &server.text, PARENT);
	return true;
}

int main(int argc, char **argv, __attribute__((unused)) char **envp)
{
	const char *path = argc > 2 ? argv[2] : "DESIGN.md", *digit;
	uint64_t done, kills, left;
	size_t entries;

	server.seconds = 10;
	if (argc > 1)
		for (server.seconds = 0, digit = argv[1]; *digit >= '0' && *digit <= '9'; digit++)
			server.seconds = server.seconds * 10 + (uint64_t)(*digit - '0');
	if (!open_up(path))
		return 1;
	rt_print("Ashlar %s: one heap of %d MiB shared by a parent and %d workers%s.\n"
		 "They keep a hash table of the %s words of %s in it, while a killer\n"
		 "ends one of them by SIGKILL every %s ms.\n\n"
		 "  time     operations    kills   recovered    blocks\n",
		 ash_version(), CAPACITY, WORKERS, rt_under_qemu() ? ", under QEMU" : "",
		 grouped(server.text.count, 0), path, rt_under_qemu() ? "50 to 100" : "2 to 4");
	serve();
	done = operations();
	kills = server.kills;
	entries = verify();
	ash_heap_release(server.heap, server.pids);
	left = close_down();
	rt_print("\n");
	line("operations", done, "counted, replaced, deleted, looked up");
	line("kills survived", kills, "workers ended by SIGKILL, others forked");
	line("records recovered", server.swept.records,
	     "of dead workers, by the parent; the rest by new workers");
	line("blocks recovered", server.swept.blocks,
	     "left unreachable by killed workers");
	line("entries verified", entries, "each byte, each checksum, the sum of all counts");
	line("blocks lost", left, "still taken after everything was released");
	if (left != 0)
		wrong("blocks lost", left);
	if (kills == 0)
		wrong("nobody was killed", 0);
	rt_print(server.failed ? "\nFAILED: see above.\n" : "\nNothing was lost.\n");
	return server.failed ? 1 : 0;
}
