/* SPDX-License-Identifier: MIT */
/*
 * libashlar_names.a: the names of ashlar_names.h for objects that were compiled with that header in 1.0, or that
 * declare these functions themselves.  The names are not in libashlar.a, because a program whose own library stands
 * behind that archive would get Ashlar's `resize` instead of its library's.
 */
#include <stdbool.h>
#include <stddef.h>

bool ash_names_init(size_t num_chunks);
void *ash_names_alloc(size_t size);
void *ash_names_resize(void *p, size_t size);
void ash_names_release(void *p);

bool init_global_allocator(size_t num_chunks);
void *alloc(size_t size);
void *resize(void *p, size_t size);
void release(void *p);

bool init_global_allocator(size_t num_chunks)
{
	return ash_names_init(num_chunks);
}

void *alloc(size_t size)
{
	return ash_names_alloc(size);
}

void *resize(void *p, size_t size)
{
	return ash_names_resize(p, size);
}

void release(void *p)
{
	ash_names_release(p);
}
