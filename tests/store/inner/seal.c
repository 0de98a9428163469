/* SPDX-License-Identifier: MIT */
/* The seal of a heap in a file: when it is set and broken, and what it refuses. */
/* promises: ash_heap_break_seal, ash_heap_seal, ash_heap_vouch_file */
#include "store/recover/builders.h"

#include "heaps/instance.h"
#include "store/process/life.h"
#include "store/file/open.h"
#include "support/handler_at_step.h"
#include "syscall.h"

enum { CAPACITY = 8 << 20, PR_SET_PDEATHSIG = 1, SIGKILL = 9 };

static int fd;
static ash_heap *heap;

static void make(void)
{
	fd = (int)arch_memfd_create("seal", 0);
	heap = NOT_NULL(ash_heap_create_file(fd, CAPACITY, NULL));
}

static uint64_t *seal(void)
{
	return &store_of(heap_of(heap))->seal;
}

DOES(attach, heap = NOT_NULL(ash_heap_attach_file(fd, NULL)));

/* Each change breaks it, and each seal has a number of its own. */
TEST(seal_is_broken_by_changes, 10)
{
	uint64_t number, last = 0;
	unsigned i;
	void *p;

	make();
	p = ash_heap_alloc(heap, 100);
	CHECK_EQ(ash_heap_seal(heap), 0);
	for (i = 0; i < 8; i++) {
		CHECK_EQ(ash_heap_sync(heap), ASH_SYNC_SEALED);
		number = ash_heap_seal(heap);
		CHECK(number != 0 && number != last);
		last = number;
		/* What changes nothing. */
		(void)ash_heap_root(heap);
		CHECK_EQ(ash_heap_usable_size(heap, p), 112);
		CHECK_EQ(ash_heap_sync(heap), ASH_SYNC_SEALED);
		CHECK_EQ(ash_heap_seal(heap), last);
		switch (i) {
		case 0: (void)ash_heap_alloc(heap, 100); break;
		case 1: ash_heap_release(heap, ash_heap_alloc(heap, (size_t)3 << 20)); break;
		case 2: ash_heap_set_root(heap, p); break;
		case 3: (void)ash_heap_recover(heap); break;
		case 4: CHECK(ash_heap_break_seal(heap)); break;
		case 5: (void)ash_heap_trim(heap, 0); break;
		case 6:
			ash_heap_destroy(heap);
			attach();
			break;
		default: ash_heap_release(heap, p); break;
		}
		CHECK_EQ(ash_heap_seal(heap), 0);
	}
}

/* A seal that is left alone stays, over the end of the process, too. */
TEST(seal_stays, 10)
{
	enum ash_attach why;
	struct store head;

	make();
	CHECK(ash_heap_alloc(heap, 100) != NULL);
	CHECK_EQ(ash_heap_sync(heap), ASH_SYNC_SEALED);
	ash_heap_destroy(heap);
	CHECK_EQ(arch_pread64(fd, &head, sizeof head, 0), sizeof head);
	CHECK_EQ(seal_state(head.seal), SEAL_WHOLE);
	head.seal ^= (uint64_t)1 << SEAL_BOOT; /* the system was restarted */
	CHECK_EQ(arch_pwrite64(fd, &head, sizeof head, 0), sizeof head);
	heap = ash_heap_attach_file(fd, &why);
	CHECK(heap != NULL && why == ASH_ATTACHED);
}

/* In memory of no file there is nothing to sync. */
TEST(seal_is_for_files, 10)
{
	static char memory[1 << 16];
	ash_heap *h = ash_heap_create_shared(CAPACITY, NULL);

	CHECK_EQ(ash_heap_sync(h), ASH_SYNC_FAILED);
	CHECK(ash_heap_seal(h) == 0 && ash_heap_break_seal(h));
	h = ash_heap_create(NULL);
	CHECK_EQ(ash_heap_sync(h), ASH_SYNC_FAILED);
	CHECK(ash_heap_seal(h) == 0 && ash_heap_break_seal(h));
	h = ash_heap_create_in(memory, sizeof memory);
	CHECK_EQ(ash_heap_sync(h), ASH_SYNC_FAILED);
	CHECK(ash_heap_seal(h) == 0 && ash_heap_break_seal(h));
}

static _Atomic unsigned *told;

static void holder(bool detaches)
{
	arch_prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	CHECK(ash_heap_alloc(heap, 100) != NULL);
	if (detaches)
		ash_heap_thread_detach(heap);
	*told = 1;
	for (;;)
		rt_sleep(1000000000);
}

/* Another process that holds a record keeps it open, until it detaches or dies. */
TEST(seal_waits_for_others, 10)
{
	long at = arch_mmap(NULL, 4096, 3, 0x21, -1, 0), pid;
	bool detaches;

	told = (void *)at; /* NOLINT: the kernel's word is an address */
	make();
	for (detaches = false;; detaches = true) {
		*told = 0;
		pid = rt_fork();
		if (pid == 0)
			holder(detaches);
		while (*told == 0)
			rt_yield();
		CHECK_EQ(ash_heap_sync(heap), detaches ? ASH_SYNC_SEALED : ASH_SYNC_DURABLE);
		CHECK_EQ(seal_state(*seal()), detaches ? SEAL_WHOLE : SEAL_OPEN);
		rt_kill(pid, SIGKILL);
		(void)rt_wait(pid);
		CHECK_EQ(ash_heap_sync(heap), ASH_SYNC_SEALED);
		if (detaches)
			break;
	}
	/* A stranger that builds. */
	(void)ash_heap_alloc(heap, 100);
	store_of(heap_of(heap))->crowd++;
	CHECK_EQ(ash_heap_sync(heap), ASH_SYNC_DURABLE);
	store_of(heap_of(heap))->crowd--;
	CHECK_EQ(ash_heap_sync(heap), ASH_SYNC_SEALED);
}

/* Who died while it closed or broke the seal leaves a word that the next thread completes. */
TEST(seal_half_done, 10)
{
	make();
	CHECK(ash_heap_alloc(heap, 100) != NULL);
	*seal() = seal_with(*seal(), SEAL_CLOSING);
	CHECK_EQ(ash_heap_sync(heap), ASH_SYNC_SEALED);
	*seal() = seal_with(*seal(), SEAL_BREAKING);
	CHECK_EQ(ash_heap_seal(heap), 0);
	CHECK(ash_heap_alloc(heap, 100) != NULL);
	CHECK_EQ(seal_state(*seal()), SEAL_OPEN);
	CHECK_EQ(ash_heap_sync(heap), ASH_SYNC_SEALED);
	*seal() = seal_with(*seal(), SEAL_CLOSING);
	ash_heap_destroy(heap);
	attach();
	CHECK_EQ(seal_state(*seal()), SEAL_OPEN);
}

static uint64_t sum_of_file(void)
{
	static char page[4096];
	uint64_t sum = 0;
	long n, at;
	size_t i;

	for (at = 0; (n = arch_pread64(fd, page, sizeof page, at)) > 0; at += n)
		for (i = 0; i < (size_t)n; i += 8)
			sum = (sum ^ *(uint64_t *)(void *)(page + i)) * UINT64_C(0x9e3779b97f4a7c15);
	return sum;
}

/* After another start of the system what was not sealed is refused, and nothing is written. */
TEST(seal_torn_file_is_refused, 20)
{
	long place = offsetof(struct store, seal);
	enum ash_attach why;
	uint64_t word, other, sum, number;
	unsigned state;

	make();
	CHECK(ash_heap_alloc(heap, 100) != NULL);
	word = *seal();
	if (word >> SEAL_BOOT == 0)
		rt_skip("the start of the system is unknown without /proc");
	ash_heap_destroy(heap);
	for (state = SEAL_OPEN; state < SEAL_WHOLE; state++) {
		other = seal_with(word ^ (uint64_t)5 << SEAL_BOOT, (enum seal)state);
		CHECK_EQ(arch_pwrite64(fd, &other, 8, place), 8);
		sum = sum_of_file();
		CHECK(ash_heap_attach_file(fd, &why) == NULL);
		CHECK_EQ(why, ASH_ATTACH_TORN);
		CHECK(ash_heap_open_file(fd, CAPACITY, NULL, &why) == NULL);
		CHECK_EQ(why, ASH_ATTACH_TORN);
		CHECK_EQ(sum_of_file(), sum);
	}
	/* The program vouches for it: by F_SETFL and O_APPEND, where a write would go to the end of the file. */
	CHECK_EQ(arch_fcntl(fd, 4, 02000), 0);
	CHECK(ash_heap_vouch_file(fd));
	CHECK_EQ(arch_fcntl(fd, 4, 0), 0);
	attach();
	CHECK_EQ(*seal() >> SEAL_BOOT, word >> SEAL_BOOT);
	CHECK_EQ(seal_state(*seal()), SEAL_OPEN);
	ash_heap_destroy(heap);
	/* Not needed: nothing is written, so no seal appears in a heap that is in use. */
	sum = sum_of_file();
	CHECK(ash_heap_vouch_file(fd));
	CHECK_EQ(sum_of_file(), sum);
	/* A start that is unknown refuses nothing. */
	other = word & ~UINT64_C(0) >> SEAL_BOOT;
	CHECK_EQ(arch_pwrite64(fd, &other, 8, place), 8);
	attach();
	/* Numbers wrap, and 0 is none. */
	*seal() |= ~UINT64_C(0) >> SEAL_BOOT & ~SEAL_STATE;
	CHECK_EQ(ash_heap_sync(heap), ASH_SYNC_SEALED);
	CHECK(ash_heap_break_seal(heap));
	CHECK_EQ(ash_heap_sync(heap), ASH_SYNC_SEALED);
	number = ash_heap_seal(heap);
	CHECK_EQ(number, 1);
	CHECK(!ash_heap_vouch_file(-1));
	CHECK(!ash_heap_vouch_file((int)arch_memfd_create("empty", 0)));
}

/* A handler comes at each instruction of a sync: a seal is never whole while a record is held. */
static void in_the_midst(void)
{
	CHECK(ash_heap_alloc(heap, 40) != NULL);
	CHECK(seal_state(*seal()) == SEAL_OPEN);
}

static void sync(void)
{
	enum ash_sync done = ash_heap_sync(heap);
	const struct owner *o;
	bool held = false;

	stepping = false;
	CHECK(done != ASH_SYNC_FAILED);
	for (o = store_of(heap_of(heap))->heap.owners; o != NULL; o = o->next)
		held |= o->state != OWNER_VACANT;
	if (ash_heap_seal(heap) != 0)
		CHECK(!held && done == ASH_SYNC_SEALED);
}

TEST(seal_with_a_handler_in_each_step, 120)
{
	size_t k, step = rt_in_full() ? 1 : rt_under_qemu() ? 499 : 997, sealed = 0, broken = 0;

	step_begin(in_the_midst);
	make();
	do
		CHECK(ash_heap_alloc(heap, 40) != NULL);
	while (ash_heap_sync(heap) != ASH_SYNC_SEALED);
	CHECK(ash_heap_alloc(heap, 40) != NULL);
	for (k = 0; with_act_at(k, sync); k += step) {
		sealed += ash_heap_seal(heap) != 0;
		broken += ash_heap_seal(heap) == 0;
		if (seal_state(*seal()) != SEAL_OPEN)
			CHECK(ash_heap_alloc(heap, 40) != NULL);
	}
	CHECK(sealed > 0 && broken > 0);
}

/* A file that was open when the system went down is told by the number of the boot in its seal. */
TEST(seal_names_the_boot, 10)
{
	uint64_t number = boot_number();

	if (number == 0)
		rt_skip("the system has no number of its start");
	CHECK(seal_new() >> SEAL_BOOT != 0);
	CHECK(number >> SEAL_BOOT == 0 || seal_new() >> SEAL_BOOT == number >> SEAL_BOOT);
}
