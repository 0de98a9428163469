/* SPDX-License-Identifier: MIT */
#ifndef STRESS_H
#define STRESS_H

/* Called within system calls: uses the heap as a signal handler would. */
void stress_interrupt(void);

#endif
