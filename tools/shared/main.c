/* SPDX-License-Identifier: MIT */
/*
 * build/demo-shared [seconds [text [series]]]: a prefork server in miniature.
 *
 * A parent and four workers share a heap, and in it a hash table of the words of a text, found by
 * its name.  The workers count words, replace and delete entries.  A killer ends one of them by
 * SIGKILL every few milliseconds; the parent forks another.  No process sweeps: what a dead worker was
 * doing is done or undone by the heap.  At the end every entry is verified, all is released, and
 * nothing may be left.
 *
 * Exit status 1: something was wrong, or lost.  RT_QEMU=1: fewer kills.  series: also prints
 * lines "series milliseconds operations kills blocks", for tools/shared/plot.
 */
#include <ashlar_heap.h>

#include "rt.h"
#include "table.h"
#include "worker.h"

enum { CAPACITY = 64, RECOVER_EVERY = 16 };
#define KILLED (1000 + 9)

static struct {
	struct session session;
	struct text text;
	struct targets *targets;
	long killer;
	uint64_t kills, seconds, shown, recorded, records;
	bool failed, series;
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
		sum += __atomic_load_n(&server.session.table->place[i].operations, __ATOMIC_RELAXED);
	return sum;
}

static void show(uint64_t start)
{
	uint64_t now = (rt_now() - start) / 1000000, each = server.seconds * 5; /* 200 points */
	struct ash_statistics stats;

	ash_heap_stats(server.session.heap, &stats);
	if (server.series && now >= server.recorded + each) {
		server.recorded = now;
		rt_print("series %llu %llu %llu %llu\n", (unsigned long long)now,
			 (unsigned long long)operations(), (unsigned long long)server.kills,
			 (unsigned long long)stats.blocks);
	}
	if (now / 1000 <= server.shown || now / 1000 > server.seconds)
		return;
	server.shown = now / 1000;
	rt_print("%s s %s %s %s\n", grouped(server.shown, 4), grouped(operations(), 14),
		 grouped(server.kills, 8), grouped(stats.blocks, 9));
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

static void hire(unsigned place)
{
	static uint64_t count;
	uint64_t seed = rt_test_seed() + ++count;
	long pid = rt_fork();

	if (pid == 0) {
		rt_end_with_parent();
		work(server.session, place, seed);
	}
	if (pid < 0)
		wrong("no process to be had", (uint64_t)-pid);
	__atomic_store_n(&server.targets->pid[place], pid < 0 ? 0 : pid, __ATOMIC_RELAXED);
}

/* One child has ended.  True: it was the killer. */
static bool mourn(bool replace)
{
	unsigned place = 0;
	int status;
	long pid = rt_next_ended();

	if (pid < 0)
		return true;
	while (place < WORKERS && server.targets->pid[place] != pid)
		place++;
	if (place < WORKERS)
		target_remove(server.targets, place);
	status = rt_wait(pid);
	if (place == WORKERS)
		return pid == server.killer;
	place_settle(&server.session, &server.session.table->place[place]);
	if (status == KILLED)
		server.kills++;
	else if (status == WRONG_ENTRY)
		wrong("a worker found an entry that no worker wrote; pid", (uint64_t)pid);
	else if (status == HEAP_FULL)
		wrong("a worker had no memory; pid", (uint64_t)pid);
	else if (status != 0 || replace)
		wrong("a worker ended by itself; status", (uint64_t)status);
	if (replace)
		hire(place);
	return false;
}

static void serve(void)
{
	uint64_t start = rt_now();
	unsigned i;

	for (i = 0; i < WORKERS; i++)
		hire(i);
	server.killer = rt_fork();
	if (server.killer == 0) {
		rt_end_with_parent();
		kill_workers(server.targets, server.seconds, rt_test_seed());
	}
	while (!server.failed && !mourn(true)) {
		if (server.kills % RECOVER_EVERY == 0)
			server.records += ash_heap_recover(server.session.heap);
		show(start);
	}
	__atomic_store_n(&server.session.table->stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < WORKERS; i++)
		while (server.targets->pid[i] != 0)
			(void)mourn(false);
	server.records += ash_heap_recover(server.session.heap);
}

static int count_block(void *context, void *block, size_t size, const struct ash_heap_owner *owner)
{
	(void)block;
	(void)size;
	(void)owner;
	++*(uint64_t *)context;
	return 0;
}

static int count_buckets(void *context, void *block, size_t size, const struct ash_heap_owner *owner)
{
	(void)block;
	(void)size;
	*(size_t *)context += owner->tag == TAG_BUCKET;
	return 0;
}

/* Looks at every entry, and compares the books.  Returns the number of entries. */
static size_t verify(void)
{
	const struct session *s = &server.session;
	uint64_t changes = 0, changed = 0;
	size_t entries = 0, bad = 0, named = 0, buckets = 0;
	unsigned i;

	for (i = 0; i < BUCKETS; i++) {
		const struct bucket *b = ash_heap_load(s->heap, &s->table->bucket[i]);

		if (b == NULL)
			continue;
		named++;
		bad += !bucket_is_good(b, s->text);
		changed += b->version;
		entries += b->entries;
	}
	for (i = 0; i < WORKERS; i++)
		changes += s->table->place[i].changes;
	(void)ash_heap_walk(s->heap, count_buckets, &buckets);
	if (bad > 0)
		wrong("buckets that no worker wrote", bad);
	if (changes != changed)
		wrong("the workers' changes are not those of the buckets; off by",
		      changes < changed ? changed - changes : changes - changed);
	if (buckets != named)
		wrong("blocks that nothing names", buckets - named);
	return entries;
}

/* Takes everything down.  Returns the blocks that are left. */
static uint64_t close_down(void)
{
	ash_heap *heap = server.session.heap;
	uint64_t left = 0;
	unsigned i;
	int broken;

	for (i = 0; i < BUCKETS; i++)
		(void)ash_heap_release_from(heap, &server.session.table->bucket[i]);
	if (ash_heap_release_from(heap, ash_heap_slot(heap, "words", NULL)) != ASH_SLOT_DONE)
		wrong("the table had no name", 0);
	ash_heap_release(heap, server.targets);
	broken = ash_heap_check(heap);
	if (broken != 0)
		wrong("the heap is broken: invariant", (uint64_t)broken);
	(void)ash_heap_walk(heap, count_block, &left);
	ash_heap_destroy(heap);
	return left;
}

static bool open_up(const char *path)
{
	ash_heap *heap;

	if (!text_read(&server.text, path)) {
		rt_fprint(2, "demo-shared: no words in %s\n", path);
		return false;
	}
	heap = ash_heap_create_shared(CAPACITY * MIB, NULL);
	if (heap == NULL || table_make(heap) == NULL ||
	    (server.targets = ash_heap_zalloc(heap, 1, sizeof *server.targets)) == NULL) {
		rt_fprint(2, "demo-shared: no memory\n");
		return false;
	}
	server.session = (struct session){heap, ash_heap_find(heap, "words"), &server.text};
	return true;
}

int main(int argc, char **argv, __attribute__((unused)) char **envp)
{
	const char *path = argc > 2 ? argv[2] : "DESIGN.md", *digit;
	uint64_t done, kills, left;
	size_t entries;

	server.seconds = 10;
	server.series = argc > 3;
	if (argc > 1)
		for (server.seconds = 0, digit = argv[1]; *digit >= '0' && *digit <= '9'; digit++)
			server.seconds = server.seconds * 10 + (uint64_t)(*digit - '0');
	if (!open_up(path))
		return 1;
	rt_print("Ashlar %s: one heap of %d MiB shared by a parent and %d workers%s.\n"
		 "They keep a hash table of the %s words of %s in it, while a killer\n"
		 "ends one of them by SIGKILL every %s ms.\n\n"
		 "  time     operations    kills    blocks\n",
		 ash_version(), CAPACITY, WORKERS, rt_under_qemu() ? ", under QEMU" : "",
		 grouped(server.text.count, 0), path, rt_under_qemu() ? "50 to 100" : "2 to 4");
	serve();
	done = operations();
	kills = server.kills;
	entries = verify();
	left = close_down();
	rt_print("\n");
	line("operations", done, "counted, replaced, deleted, looked up");
	line("kills survived", kills, "workers ended by SIGKILL, others forked");
	line("records recovered", server.records, "of dead workers, by the parent; the rest by new workers");
	line("entries verified", entries, "each checksum, each change, no block without a name");
	line("blocks lost", left, "still taken after everything was released");
	if (left != 0)
		wrong("blocks lost", left);
	if (kills == 0)
		wrong("no worker was killed", 0);
	rt_print(server.failed ? "\nFAILED: see above.\n" : "\nNothing was lost.\n");
	return server.failed ? 1 : 0;
}
