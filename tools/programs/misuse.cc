// SPDX-License-Identifier: MIT
// Misuses by the names of C and C++; the argument says which.  With -DHOOK the program is told of it.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <new>
#include <unistd.h>

extern "C" void cfree(void *p) __attribute__((weak));
extern "C" void free_sized(void *p, std::size_t size) __attribute__((weak));
extern "C" std::size_t malloc_object_size(const void *p) __attribute__((weak));

#ifdef HOOK
extern "C" __attribute__((visibility("default"))) void ash_on_misuse(const char *line)
{
	ssize_t unused = write(1, line, strlen(line));

	(void)unused;
	_exit(33);
}
#endif

int main(int, char **words)
{
	char *volatile p = static_cast<char *>(malloc(100)), *volatile q;
	const char *what = words[1];

	if (malloc_object_size(p + 10) != 102 || malloc_object_size(&what) != SIZE_MAX ||
	    malloc_object_size(nullptr) != 0)
		return 1;
	if (!strcmp(what, "free"))
		free(p + 16);
	else if (!strcmp(what, "cfree"))
		cfree(p + 16);
	else if (!strcmp(what, "realloc"))
		q = static_cast<char *>(realloc(p + 16, 500));
	else if (!strcmp(what, "realloc0"))
		q = static_cast<char *>(realloc(p + 16, 0));
	else if (!strcmp(what, "usable"))
		q = reinterpret_cast<char *>(malloc_usable_size(p + 16));
	else if (!strcmp(what, "free_sized"))
		free_sized(p + 16, 8);
	else if (!strcmp(what, "delete"))
		::operator delete(p + 16);
	else if (!strcmp(what, "delete_size"))
		::operator delete(p, std::size_t(96));
	else if (!strcmp(what, "delete_aligned"))
		::operator delete[](p, std::size_t(113), std::align_val_t(16));
	(void)q;
	return 0;
}
