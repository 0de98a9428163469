/* SPDX-License-Identifier: MIT */
#include "kernel.h"
#include "rt.h"
#include "syscall.h"

/* Calls go on after the handler: a test with a timer is not a test of EINTR. */
void rt_signal(int number, void (*handler)(int number, void *info, void *context))
{
	struct kernel_sigaction action = {
		.handler = handler,
		.flags = SA_SIGINFO | SA_RESTORER | SA_RESTART,
		.restorer = arch_sigreturn,
	};

	arch_rt_sigaction(number, &action, NULL, sizeof(action.mask));
}

void rt_timer(unsigned microseconds)
{
	struct timeval period = {microseconds / 1000000, microseconds % 1000000};
	struct itimerval timer = {period, period};

	arch_setitimer(ITIMER_REAL, &timer, NULL);
}
