/* SPDX-License-Identifier: MIT */
/*
 * A heap in a file, whose processes are all killed at once, 100 times.  After
 * each time this program is started again, attaches, and finds everything that
 * was reachable from the root.
 *
 *   root -> table -> list of writer 0, of writer 1, ...
 *
 * A writer fills a node before it links it, and unlinks it before it releases
 * it; so at most what it had in hand is not reachable.
 */
/* promises: ash_heap_attach_file, ash_heap_check, ash_heap_root, ash_heap_set_root */
#include "ashlar_heap.h"
#include "support/pattern.h"

#include "heaps/instance.h"
#include "store/file/store.h"
#include "syscall.h"
#include "thread/owner.h"

enum { WRITERS = 3, RDWR_CREATE = 0102, SIGKILL = 9, PR_SET_PDEATHSIG = 1, IN_HAND = 2, SEEK_END = 2 };

struct node {
	struct node *next;
	uint64_t size;
	unsigned key;
	char bytes[];
};
struct table {
	struct node *_Atomic head[WRITERS];
	_Atomic uint64_t work[WRITERS];
};

static char path[64];

/* ---- writers ---- */

static void push(ash_heap *h, struct table *t, unsigned w, struct rt_random *r)
{
	size_t size = rt_below(r, 100) == 0 ? rt_below(r, 3 << 20) : rt_below(r, 3000);
	struct node *n = ash_heap_alloc(h, sizeof *n + size);

	if (n == NULL)
		return;
	n->size = size;
	n->key = (unsigned)rt_next(r) & 0xff;
	fill(n->bytes, size < 4096 ? size : 4096, n->key);
	n->next = t->head[w];
	t->head[w] = n;
}

static void pop(ash_heap *h, struct table *t, unsigned w)
{
	struct node *n = t->head[w];

	t->head[w] = n->next;
	ash_heap_release(h, n);
}

static _Noreturn void writer(ash_heap *h, unsigned w)
{
	struct table *t = ash_heap_root(h);
	unsigned length = 0;
	struct rt_random r;
	struct node *n;

	for (n = t->head[w]; n != NULL; n = n->next)
		length++;
	for (rt_seed(&r, rt_now() + w);; t->work[w]++) {
		/* To and fro between 10 and 400 nodes. */
		bool more = length < 10 || (length < 400 && rt_below(&r, 2) == 0);

		if (more) {
			push(h, t, w, &r);
			length++;
		} else {
			pop(h, t, w);
			length -= t->head[w] != NULL;
		}
		if (t->head[w] == NULL)
			length = 0;
		if (rt_below(&r, 100) == 0)
			ash_heap_thread_detach(h);
		if (rt_below(&r, 500) == 0)
			(void)ash_heap_trim(h, 0);
	}
}

/* ---- the reader: a program of its own ---- */

static size_t reachable, blocks;

static int is_reachable(void *context, const void *p)
{
	struct table *t = ash_heap_root(context);
	const struct node *n;
	unsigned w;

	for (w = 0; w < WRITERS; w++)
		for (n = t->head[w]; n != NULL; n = n->next)
			if (n == p)
				return 1;
	return p == t;
}

static void *lost[WRITERS * IN_HAND];
static size_t lost_count;

static int visit(void *context, void *p, UNUSED size_t size, const struct ash_heap_owner *owner)
{
	CHECK(!owner->live && owner->id != 0);
	blocks++;
	if (!is_reachable(context, p)) {
		CHECK(lost_count < WRITERS * IN_HAND);
		lost[lost_count++] = p;
	}
	return 0;
}

static int reader(void)
{
	int fd = (int)arch_open(path, RDWR_CREATE, 0600);
	enum ash_attach why;
	ash_heap *h = ash_heap_attach_file(fd, &why);
	struct store *s = store_of(heap_of(h));
	struct table *t;
	struct owner *o;
	unsigned w, class;
	size_t i;

	CHECK_EQ(why, ASH_ATTACHED);
	CHECK_EQ(ash_heap_check(h), 0);
	/* Nothing in it points into a program. */
	for (o = s->heap.owners; o != NULL; o = o->next)
		for (class = 0; class < CLASSES; class++)
			CHECK((uintptr_t)bin_slab(o, &o->bins[class]) - (uintptr_t)s < s->bytes);
	t = ash_heap_root(h);
	for (w = 0; w < WRITERS; w++)
		for (const struct node *n = t->head[w]; n != NULL; n = n->next, reachable++) {
			CHECK(ash_heap_usable_size(h, n) >= sizeof *n + n->size);
			holds(n->bytes, n->size < 4096 ? n->size : 4096, n->key);
		}
	(void)ash_heap_walk(h, visit, h);
	CHECK_EQ(blocks, reachable + 1 + lost_count);
	for (i = 0; i < lost_count; i++)
		ash_heap_release(h, lost[i]);
	for (i = 0; i < 200; i++)
		ash_heap_release(h, ash_heap_alloc(h, (size_t)8 << (i % 17)));
	CHECK_EQ(ash_heap_check(h), 0);
	ash_heap_destroy(h);
	return 0;
}

/* ---- the parent ---- */

static long start(const char *role)
{
	long pid = rt_fork();

	if (pid == 0) {
		char *arguments[4] = {(char *)"reopen", (char *)(uintptr_t)role, path, NULL};

		(void)arch_execve("/proc/self/exe", arguments, rt_envp());
		rt_exit(97);
	}
	return pid;
}

/* One group of processes, which is killed as one. */
static void work_until_killed(int fd, uint64_t nanoseconds)
{
	long pid[WRITERS];
	unsigned w;

	for (w = 0; w < WRITERS; w++) {
		pid[w] = rt_fork();
		if (pid[w] == 0) {
			enum ash_attach why;
			ash_heap *h = ash_heap_attach_file(fd, &why);

			arch_prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
			CHECK_EQ(why, ASH_ATTACHED);
			writer(h, w);
		}
		CHECK(pid[w] > 0);
		CHECK_EQ(arch_setpgid(pid[w], pid[0]), 0);
	}
	rt_sleep(nanoseconds);
	CHECK_EQ(arch_kill(-pid[0], SIGKILL), 0);
	for (w = 0; w < WRITERS; w++)
		CHECK_EQ(rt_wait(pid[w]), 1000 + SIGKILL);
}

TEST(reopen_after_kills, 120)
{
	int fd, kills = 100, k;
	struct rt_random r;

	rt_format(path, sizeof path, "/tmp/ashlar-reopen-%lu", rt_now());
	fd = (int)arch_open(path, RDWR_CREATE, 0600);
	CHECK(fd >= 0);
	/* Without its name from now on, so that nothing stays, however the test ends. */
	arch_unlink(path);
	rt_format(path, sizeof path, "/proc/self/fd/%d", fd);
	/* Who made it is gone, too. */
	IN_CHILD {
		ash_heap *h = NOT_NULL(ash_heap_create_file(fd, (size_t)192 << 20, NULL));

		ash_heap_set_root(h, ash_heap_zalloc(h, 1, sizeof(struct table)));
	}
	rt_seed(&r, rt_test_seed());
	for (k = 0; k < kills; k++) {
		int status;

		work_until_killed(fd, (rt_under_qemu() ? 20000000 : 3000000) + rt_below(&r, 9000000));
		status = rt_wait(start("read"));
		if (status == 97 && rt_under_qemu())
			rt_skip("QEMU starts no programs of another CPU");
		if (status != 0)
			rt_print("     reopen: kill %d\n", k);
		CHECK_EQ(status, 0);
	}
}

TEST(reopen_refusals, 20)
{
	int fd = (int)arch_memfd_create("heap", 0), other = (int)arch_memfd_create("garbage", 0);
	enum ash_attach why = ASH_ATTACHED;
	ash_heap *h = ash_heap_create_file(fd, (size_t)8 << 20, NULL);
	char garbage[4096];

	CHECK(h != NULL);
	CHECK(ash_heap_attach_file(fd, &why) == NULL);
	CHECK_EQ(why, ASH_ATTACH_TAKEN);
	CHECK(ash_heap_create_file(fd, (size_t)8 << 20, NULL) == NULL); /* it is a heap already */
	ash_heap_destroy(h);
	h = NOT_NULL(ash_heap_attach_file(fd, NULL));
	ash_heap_destroy(h);
	CHECK(ash_heap_attach_file(other, &why) == NULL); /* empty */
	CHECK_EQ(why, ASH_ATTACH_NO_HEAP);
	memset(garbage, 'x', sizeof garbage);
	CHECK_EQ(arch_write(other, garbage, sizeof garbage), sizeof garbage);
	CHECK(ash_heap_attach_file(other, &why) == NULL);
	CHECK_EQ(why, ASH_ATTACH_NO_HEAP);
	CHECK_EQ(arch_ftruncate(fd, arch_lseek(fd, 0, SEEK_END) / 2), 0);
	CHECK(ash_heap_attach_file(fd, &why) == NULL);
	CHECK_EQ(why, ASH_ATTACH_NO_HEAP);
	CHECK(ash_heap_attach_file(-1, &why) == NULL);
	CHECK_EQ(why, ASH_ATTACH_NO_HEAP);
}

int main(int argc, char **argv, UNUSED char **envp)
{
	if (argc == 3 && rt_strcmp(argv[1], "read") == 0) {
		rt_format(path, sizeof path, "%s", argv[2]);
		return reader();
	}
	return rt_run_tests(argc, argv);
}
