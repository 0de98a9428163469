/* SPDX-License-Identifier: MIT */
#include "kernel.h"
#include "rt.h"
#include "syscall.h"

enum { SIGNALS = 64 };
static void (*handlers[SIGNALS + 1])(int number, void *info, void *context);

ABI_HANDLER static void enter(int number, void *info, void *context)
{
	handlers[number](number, info, context);
}

/* SA_RESTART: a test with a timer is not a test of EINTR. */
void rt_signal(int number, void (*handler)(int number, void *info, void *context))
{
	struct kernel_sigaction action = {
		.handler = enter,
		.flags = SA_SIGINFO | ABI_SA_RESTORER | SA_RESTART,
		ABI_RESTORER_IS
	};

	handlers[number] = handler;
	arch_rt_sigaction(number, &action, NULL, sizeof(action.mask));
}

void rt_timer(unsigned microseconds)
{
	struct timeval period = {microseconds / 1000000, microseconds % 1000000};
	struct itimerval timer = {period, period};

	arch_setitimer(ITIMER_REAL, &timer, NULL);
}

long rt_timer_here(unsigned microseconds)
{
	struct sigevent event = {.signal = SIGALRM,
				 .notify = SIGEV_THREAD_ID,
				 .thread = (int)arch_gettid()};
	struct timespec period = {microseconds / 1000000, microseconds % 1000000 * 1000};
	struct itimerspec every = {period, period};
	int timer;

	if (arch_timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
		return -1;
	if (arch_timer_settime(timer, 0, &every, NULL) != 0) {
		arch_timer_delete(timer);
		return -1;
	}
	return timer;
}

void rt_timer_end(long timer)
{
	arch_timer_delete(timer);
}
