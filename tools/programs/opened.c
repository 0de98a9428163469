/* SPDX-License-Identifier: MIT */
/*
 * Opens the shared object with dlopen, after other libraries that use up static TLS.
 * Arguments: the shared object, then the other libraries.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void *(*theirs)(size_t);
static void (*free_theirs)(void *);

static void *work(void *unused)
{
	unsigned i;

	(void)unused;
	for (i = 0; i < 10000; i++)
		free_theirs(memset(theirs(i % 3000 + 1), 1, i % 3000 + 1));
	return NULL;
}

int main(int argc, char **argv)
{
	void *library;
	pthread_t t;
	int (*is_malloc)(void);
	int i;

	for (i = 2; i < argc; i++)
		(void)dlopen(argv[i], RTLD_NOW);
	library = dlopen(argv[1], RTLD_NOW);
	if (library == NULL) {
		puts(dlerror());
		return 3;
	}
	is_malloc = (int (*)(void))dlsym(library, "ashlar_is_malloc"); /* libashlar.so has none of these three */
	theirs = (void *(*)(size_t))dlsym(library, is_malloc != NULL ? "malloc" : "ash_alloc");
	free_theirs = (void (*)(void *))dlsym(library, is_malloc != NULL ? "free" : "ash_release");
	if (theirs == NULL || free_theirs == NULL || (is_malloc != NULL && is_malloc() != 0))
		return 4;
	work(NULL);
	if (pthread_create(&t, NULL, work, NULL) != 0 || pthread_join(t, NULL) != 0)
		return 5;
	dlclose(library);
	if (pthread_create(&t, NULL, work, NULL) != 0 || pthread_join(t, NULL) != 0)
		return 6;
	puts("opened and used");
	return 0;
}
