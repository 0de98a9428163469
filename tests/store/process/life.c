/* SPDX-License-Identifier: MIT */
/* Which threads and processes are dead: zombies, stopped processes, first threads that end. */
#include "store/process/life_child.h"
#include "store/process/proc_stat.h"

enum { SIGSTOP = 19, SIGCONT = 18, WUNTRACED = 2, NO_WAIT = 1, BIRTH = 22, BOOT = 43, IMAGE = 49, FORKED = 61 };

TEST(life_plain, 10)
{
	long pid;

	told_make();
	CHECK(!life_thread_is_over(life_of_thread()));
	CHECK(!life_process_is_over(life_of_process()));
	pid = child();
	CHECK(!life_thread_is_over(told->thread));
	CHECK(!life_process_is_over(told->process));
	kill_and_wait(pid);
	CHECK(life_thread_is_over(told->thread));
	CHECK(life_process_is_over(told->process));
}

/* Changes the field at `shift` to another value that is not 0, because 0 is unknown. */
static uint64_t changed(uint64_t life, unsigned shift)
{
	unsigned bits = shift == BIRTH ? BOOT - BIRTH : shift == BOOT ? IMAGE - BOOT : FORKED - IMAGE;
	uint64_t field = life >> shift & (((uint64_t)1 << bits) - 1);

	return life ^ (uint64_t)(field == 1 ? 2 : 1) << shift;
}

TEST(life_forged, 10)
{
	uint64_t me = life_of_thread();

	/* The same id, born at another time, or before the system was restarted. */
	CHECK(life_thread_is_over(changed(me, BIRTH)));
	CHECK(life_process_is_over(changed(me, BIRTH)));
	CHECK(life_thread_is_over(changed(me, BOOT)));
	/* Nothing is known of the birth: any thread with the id counts as it. */
	CHECK(!life_thread_is_over(LIFE_ID(me)));
	/* Another program now; or it was seen when it had just been forked. */
	CHECK(life_thread_is_over(changed(me, IMAGE)));
	CHECK(me >> FORKED == 1); /* tests run in children */
	CHECK(!life_thread_is_over(me ^ (uint64_t)1 << FORKED));
	/* No process may judge it. */
	CHECK(!life_thread_is_over(0) && !life_process_is_over(0));
	/* No id is that large. */
	CHECK(life_thread_is_over((me & ~LIFE_ID(~(uint64_t)0)) | LIFE_ID(~(uint64_t)0)));
}

TEST(life_zombie, 10)
{
	long pid;

	told_make();
	pid = child();
	CHECK_EQ(arch_kill(pid, SIGKILL), 0);
	/* It is dead some time soon, though no process waits for it. */
	while (!life_thread_is_over(told->thread) || !life_process_is_over(told->process))
		rt_yield();
	CHECK_EQ(arch_kill(pid, 0), 0); /* the id is still there */
	CHECK_EQ(rt_wait(pid), 1000 + SIGKILL);
}

TEST(life_stopped, 10)
{
	int status;
	long pid;

	told_make();
	pid = child();
	CHECK_EQ(arch_kill(pid, SIGSTOP), 0);
	CHECK_EQ(arch_wait4(pid, &status, WUNTRACED, NULL), pid);
	CHECK_EQ(status & 0xff, 0x7f);
	CHECK(!life_thread_is_over(told->thread));
	CHECK(!life_process_is_over(told->process));
	kill_and_wait(pid);
}

TEST(life_first_thread_ends, 10)
{
	long pid;

	if (rt_under_qemu())
		rt_skip("QEMU ends the process with its first thread");
	told_make();
	pid = rt_fork();
	if (pid == 0) {
		CHECK(rt_thread_start(stay, NULL) != NULL);
		told->thread = life_of_thread();
		told->process = life_of_process();
		for (;;)
			arch_exit(0); /* this thread only */
	}
	while (told->process == 0 || !life_thread_is_over(told->thread))
		rt_yield();
	CHECK(!life_process_is_over(told->process));
	kill_and_wait(pid);
	CHECK(life_process_is_over(told->process));
}

static void sleep_as_program(UNUSED void *argument)
{
	char *const words[] = {"sleep", "1000", NULL};

	CHECK_EQ(arch_execve("/bin/sleep", words, rt_envp()), 0); /* it does not return */
}

static void ends_with_exec(bool by_thread)
{
	const uint64_t forked = (uint64_t)1 << FORKED, image = ((uint64_t)1 << FORKED) - ((uint64_t)1 << IMAGE);
	long pid;

	told_make();
	pid = child_that(sleep_as_program, by_thread);
	while (!life_thread_is_over(told->thread) || !life_process_is_over(told->process))
		rt_yield();
	CHECK_EQ(arch_kill(pid, 0), 0);
	/* Also where the image is not to be seen. */
	CHECK(life_process_is_over(told->process & ~image));
	/*
	 * The same, had it been made by exec: not seen in its flags, but in the image, once that is
	 * there.
	 */
	while (!life_process_is_over(told->process & ~forked) ||
	       !life_thread_is_over(told->thread & ~forked))
		rt_yield();
	kill_and_wait(pid);
}

TEST_CALL(life_ends_with_exec, 20, ends_with_exec(false));
TEST_CALL(life_ends_with_exec_by_thread, 20, ends_with_exec(true));

enum { NO_SUCH_USER = 77 };

/* A member that may not be seen counts as equal. */
static void judge_as_another(uint64_t root)
{
	if (arch_setuid(65534) != 0)
		rt_exit(NO_SUCH_USER);
	CHECK(!life_thread_is_over(root) && !life_process_is_over(told->process));
	CHECK(!life_thread_is_over(changed(root, IMAGE)));
	CHECK(life_thread_is_over(changed(root, BIRTH)));
	/* One's own is seen all the same. */
	CHECK(!life_thread_is_over(life_of_thread()));
	CHECK(life_thread_is_over(changed(life_of_thread(), IMAGE)));
	rt_exit(0);
}

TEST(life_of_other_user, 10)
{
	uint64_t root = life_of_thread();
	long pid, other;
	int status;

	told_make();
	pid = child();
	other = rt_fork();
	if (other == 0)
		judge_as_another(root);
	status = rt_wait(other);
	kill_and_wait(pid);
	if (status == NO_SUCH_USER)
		rt_skip("needs root");
	CHECK_EQ(status, 0);
}

TEST(life_without_proc, 10)
{
	static const struct { uint64_t soft, hard; } none = {0, 0};
	uint64_t me = life_of_thread();
	long pid;

	told_make();
	pid = child();
	CHECK_EQ(arch_setrlimit(7, &none), 0); /* RLIMIT_NOFILE: nothing can be opened */
	if (arch_open("/proc/self/stat", 0, 0) >= 0)
		rt_skip("files can be opened whatever the limit (an emulator)");
	CHECK_EQ(life_of_thread(), LIFE_ID(me));
	CHECK(!life_thread_is_over(me));
	CHECK(!life_thread_is_over(told->thread));
	/* Another one may have the id: that is unknown, so it counts as alive. */
	CHECK(!life_thread_is_over(changed(me, BIRTH)));
	kill_and_wait(pid);
	CHECK(life_thread_is_over(told->thread));
	CHECK(life_process_is_over(told->process));
}

/* Of a thread that is no more nothing is known. */
TEST(inner_life_no_stat_of_the_dead, 10)
{
	struct proc_stat st;
	long pid = rt_fork();

	if (pid == 0)
		rt_exit(0);
	CHECK_EQ(rt_wait(pid), 0);
	CHECK(!proc_stat_read((uint64_t)pid, &st));
	CHECK(proc_stat_read((uint64_t)arch_getpid(), &st) && st.number[PROC_THREADS] >= 1);
}
