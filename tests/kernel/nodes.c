/* SPDX-License-Identifier: MIT */
/*
 * Several nodes of memory (NUMA): on which of them the pages of a thread's blocks are.  The kernel allocates a page
 * on the node of the thread that touches it first.  So fresh memory is local; memory that another thread used
 * before may be remote.
 */
/* promises: ash_alloc, ash_trim */
#include "support/resident.h"
#include "syscall.h"

enum { NODES = 4, SIZES = 4, BLOCKS = 8192, BATCH = 512 };

static const size_t sizes[SIZES] = {400, 3000, 20000, 300000};
static struct rt_barrier together;
static unsigned nodes, cpus[NODES];

static unsigned number_in(const char *file, unsigned node)
{
	char path[96];

	rt_format(path, sizeof(path), "/sys/devices/system/node/node%u/%s", node, file);
	return (unsigned)rt_number_of(path, "");
}

static void needs_nodes(void)
{
	for (nodes = 0; nodes < NODES; nodes++) {
		cpus[nodes] = number_in("cpulist", nodes);
		if (cpus[nodes] == ~0u)
			break;
	}
	if (nodes < 2)
		rt_skip("this machine has one node");
	together.count = nodes;
}

/* ---- the blocks of a thread ---- */

struct blocks {
	unsigned node;
	size_t number, from, pages, remote; /* from: the first that is looked at */
	unsigned char *p[BLOCKS];
	size_t size[BLOCKS];
};
static struct blocks held[NODES];

static void take(struct blocks *b, size_t bytes, unsigned kinds)
{
	for (unsigned s = 0; s < kinds; s++)
		for (size_t done = 0; done < bytes && b->number < BLOCKS; done += sizes[s]) {
			unsigned char *p = NOT_NULL(ash_alloc(sizes[s]));

			memset(p, 1, sizes[s]);
			b->size[b->number] = sizes[s];
			b->p[b->number++] = p;
		}
}

static void give_back(struct blocks *b)
{
	while (b->number > 0)
		ash_release(b->p[--b->number]);
}

static void ask(struct blocks *b, void **pages, size_t n)
{
	int status[BATCH];

	CHECK_EQ(arch_move_pages(0, n, pages, NULL, status, 0), 0);
	for (size_t i = 0; i < n; i++) {
		CHECK(status[i] >= 0);
		b->pages++;
		b->remote += (unsigned)status[i] != b->node;
	}
}

/* The pages in which a block begins, and all others of large ones; each once, as far as blocks stand in order. */
static void look(struct blocks *b)
{
	void *pages[BATCH];
	uintptr_t last = 0, page;
	size_t n = 0;

	b->pages = b->remote = 0;
	for (size_t i = b->from; i < b->number; i++)
		for (size_t at = 0; at < b->size[i]; at += 4096) {
			page = ((uintptr_t)b->p[i] + at) & ~(uintptr_t)4095;
			if (page == last)
				continue;
			last = page;
			pages[n++] = (void *)page; /* NOLINT: an address */
			if (n == BATCH) {
				ask(b, pages, n);
				n = 0;
			}
		}
	ask(b, pages, n);
}

/* Bytes of anonymous memory on the node, of the whole process. */
static size_t on_node(unsigned node)
{
	static char text[1 << 20];
	char name[8];
	size_t pages = 0;

	CHECK(rt_read_file("/proc/self/numa_maps", text, sizeof(text)) > 0);
	rt_format(name, sizeof(name), " N%u=", node);
	for (const char *at = text; (at = rt_strstr(at, name)) != NULL;) {
		at += rt_strlen(name);
		pages += rt_number_in(at);
	}
	return pages;
}

static void tell(const char *when)
{
	for (unsigned i = 0; i < nodes; i++)
		rt_print("     %s: node %u: %zu pages of blocks, %zu remote; %zu of the process here\n", when, i,
			 held[i].pages, held[i].remote, on_node(i));
}

static void all(void (*body)(void *))
{
	struct rt_thread *thread[NODES];

	for (unsigned i = 0; i < nodes; i++) {
		held[i].node = i;
		thread[i] = rt_thread_start(body, &held[i]);
	}
	rt_threads_join(thread, nodes);
}

/* ---- what is new ---- */

static void take_new(void *argument)
{
	struct blocks *b = argument;

	rt_pin(cpus[b->node]);
	rt_barrier_wait(&together);
	take(b, 2 * MIB, SIZES);
	look(b);
	rt_barrier_wait(&together);
}

/* Threads of all nodes at once share chunks, but no page that is not huge. */
TEST(nodes_new_memory_is_near, 60)
{
	needs_nodes();
	all(take_new);
	tell("new");
	for (unsigned i = 0; i < nodes && !huge_unasked(); i++) {
		CHECK(held[i].pages > 1500);
		CHECK(held[i].remote <= held[i].pages / 50);
	}
	for (unsigned i = 0; i < nodes; i++)
		give_back(&held[i]);
	CHECK_EQ(ash_check(), 0);
}

/* ---- what another had ---- */

static void take_and_give_back(void *argument)
{
	struct blocks *b = argument;

	rt_pin(cpus[b->node]);
	take(b, 2 * MIB, SIZES);
	give_back(b);
}

static void take_alone(void *argument)
{
	struct blocks *b = argument;

	rt_pin(cpus[b->node]);
	take(b, 2 * MIB, SIZES);
	look(b);
}

/*
 * A thread of node 0 ends; one of the last node comes.  What is retained may be far: that is counted; what was
 * trimmed is near.
 */
static void after_an_end(bool trimmed)
{
	unsigned last;

	needs_nodes();
	last = nodes - 1;
	held[0].node = 0;
	held[last].node = last;
	rt_thread_join(rt_thread_start(take_and_give_back, &held[0]));
	if (trimmed)
		(void)ash_trim(0);
	rt_thread_join(rt_thread_start(take_alone, &held[last]));
	tell(trimmed ? "after an end and a trim" : "after an end");
	CHECK(held[last].pages > 1500);
	if (trimmed)
		CHECK(held[last].remote <= held[last].pages / 50);
	give_back(&held[last]);
	CHECK_EQ(ash_check(), 0);
}

TEST_CALL(nodes_retained_memory_is_counted, 60, after_an_end(false));

TEST(nodes_trimmed_memory_is_near, 60)
{
	needs_small_pages();
	after_an_end(true);
}

/* ---- what another releases ---- */

static void release_others(void *argument)
{
	struct blocks *b = argument, *other = &held[(b->node + 1) % nodes];

	rt_pin(cpus[b->node]);
	rt_barrier_wait(&together);
	take(b, MIB, 2);
	rt_barrier_wait(&together);
	/* No slab becomes empty: an empty one is anybody's. */
	for (size_t i = 0; i < other->number; i++)
		if (i % 4 != 0) {
			ash_release(other->p[i]);
			other->p[i] = NULL;
		}
	rt_barrier_wait(&together);
	b->from = b->number;
	take(b, MIB / 2, 2);
	look(b);
	rt_barrier_wait(&together);
}

/* Small blocks that a thread of another node releases come back to their own thread: its pages stay near. */
TEST(nodes_released_far_away_comes_back, 60)
{
	size_t pages = 0, remote = 0;

	needs_nodes();
	all(release_others);
	tell("released by others");
	for (unsigned i = 0; i < nodes; i++) {
		pages += held[i].pages;
		remote += held[i].remote;
		give_back(&held[i]);
	}
	CHECK(pages > 300);
	if (!huge_unasked())
		CHECK(remote <= pages / 10);
	CHECK_EQ(ash_check(), 0);
}
