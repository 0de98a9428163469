/* SPDX-License-Identifier: MIT */
/* Names of C, POSIX and glibc, of which no header is here, and the library's functions behind operators new and delete. */
#ifndef TESTS_SUPPORT_MALLOC_NAMES_H
#define TESTS_SUPPORT_MALLOC_NAMES_H

#include <stdbool.h>
#include <stddef.h>

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *p, size_t size);
void *reallocarray(void *p, size_t count, size_t size);
void free(void *p);
void free_sized(void *p, size_t size);
void free_aligned_sized(void *p, size_t alignment, size_t size);
int posix_memalign(void **out, size_t alignment, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size);
void *valloc(size_t size);
void *pvalloc(size_t size);
size_t malloc_usable_size(void *p);
size_t malloc_object_size(const void *p);

/* The operators themselves are those of libashlar_start.a in the tests. */
void *ash_alloc_or(size_t size, void *rest(size_t));
void ash_delete(void *p);
void ash_delete_sized(void *p, size_t size);
void ash_delete_aligned_sized(void *p, size_t size, size_t alignment);

#endif
