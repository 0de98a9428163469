/* SPDX-License-Identifier: MIT */
/*
 * Places that allocate known amounts, with a thread, a signal and a child: what profile.sh and cross.sh look for in the
 * profile.  With CROSS, for a CPU whose C library has no headers here, it ends by the signal that writes the profile.
 */
void *malloc(unsigned long size);
void *calloc(unsigned long count, unsigned long size);
void *realloc(void *p, unsigned long size);
void free(void *p);
void exit(int status);
int pthread_create(unsigned long *id, void *attributes, void *(*body)(void *), void *argument);
int pthread_join(unsigned long id, void **result);
void (*signal(int number, void (*handler)(int number)))(int);
int raise(int number);
int fork(void);
int wait(int *status);

enum { SIGUSR1 = 10, SIGUSR2 = 12 };
#define SITE __attribute__((noinline, noclone))
static void *volatile kept;

SITE static void small(void) { kept = malloc(100); __asm__(""); }
SITE static void passing(void) { kept = malloc(700); free(kept); __asm__(""); }
SITE static void middle(void) { kept = calloc(9, 1000); __asm__(""); }
SITE static void thread(void) { kept = malloc(200); __asm__(""); }
SITE static void handler(int number) { (void)number; kept = malloc(500); __asm__(""); }
#ifndef CROSS
SITE static void large(void) { kept = malloc(300000); __asm__(""); }
SITE static void span(void) { kept = malloc(3 << 20); __asm__(""); }
SITE static void grown(void) { kept = realloc(malloc(2 << 20), 4 << 20); __asm__(""); }
SITE static void child(void) { kept = malloc(1000); __asm__(""); }
#endif

SITE static void *work(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		thread();
	__asm__("");
	return unused;
}

SITE static void times(int n, void (*f)(void))
{
	while (n-- > 0)
		f();
	__asm__("");
}

#ifdef CROSS
void begin(void)
#else
int main(void)
#endif
{
	unsigned long id;

	pthread_create(&id, 0, work, 0);
	pthread_join(id, 0);
	times(ROUNDS, small);
	times(ROUNDS, passing);
#ifndef CROSS
	raise(SIGUSR2);
	times(40, large);
	times(8, span);
	times(8, grown);
#endif
	times(1000, middle);
	signal(SIGUSR1, handler);
	for (int i = 0; i < ROUNDS / 5; i++)
		raise(SIGUSR1);
#ifdef CROSS
	raise(SIGUSR2); /* no crt1.o, no destructors */
#else
	if (fork() == 0)
		times(10000, child);
	else
		wait(0);
#endif
	exit(0);
}
