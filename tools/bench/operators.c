/* SPDX-License-Identifier: MIT */
/*
 * Rows of C++'s operators new and delete, by their names in the Itanium C++ ABI: those of the malloc that is measured,
 * where it has any, else those of the host's C++ library.
 */
#define _GNU_SOURCE
#ifdef HOSTED
#include <dlfcn.h>
#endif
#include "row.h"

typedef void *new_function(size_t size);
typedef void delete_function(void *p);
typedef void sized_function(void *p, size_t size);

__attribute__((weak)) new_function _Znwm;
__attribute__((weak)) delete_function _ZdlPv;
__attribute__((weak)) sized_function _ZdlPvm;

static new_function *make;
static delete_function *end;
static sized_function *end_sized;

enum { LIVE = 10000, OPERATIONS = 200000 };
static struct {
	void *p;
	uint32_t size;
} *objects;
static uint32_t *sizes;
static uint64_t state = 88172645463325252u;

static const char *find_operators(void)
{
	make = _Znwm;
	end = _ZdlPv;
	end_sized = _ZdlPvm;
#ifdef HOSTED
	if (make == NULL || end == NULL || end_sized == NULL) {
		(void)dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL);
		make = (new_function *)dlsym(RTLD_DEFAULT, "_Znwm");
		end = (delete_function *)dlsym(RTLD_DEFAULT, "_ZdlPv");
		end_sized = (sized_function *)dlsym(RTLD_DEFAULT, "_ZdlPvm");
	}
#endif
	return make != NULL && end != NULL && end_sized != NULL ? NULL : "no C++ library here";
}

static void fresh(unsigned i, uint64_t random)
{
	objects[i].size = sizes[random % ROW_SIZES];
	objects[i].p = make(objects[i].size);
	*(volatile char *)objects[i].p = 1;
}

static uint64_t replace(void)
{
	for (unsigned k = 0; k < OPERATIONS; k++) {
		uint64_t random = next_random(&state);
		unsigned i = (unsigned)((random & 0xffffffff) * LIVE >> 32);

		end(objects[i].p);
		fresh(i, random >> 40);
	}
	return OPERATIONS;
}

static uint64_t replace_sized(void)
{
	for (unsigned k = 0; k < OPERATIONS; k++) {
		uint64_t random = next_random(&state);
		unsigned i = (unsigned)((random & 0xffffffff) * LIVE >> 32);

		end_sized(objects[i].p, objects[i].size);
		fresh(i, random >> 40);
	}
	return OPERATIONS;
}

static const char *prepare(uint32_t least, uint32_t most, bool uniform)
{
	const char *why = find_operators();

	if (why != NULL)
		return why;
	sizes = row_table(ROW_SIZES * sizeof(*sizes));
	if (!uniform)
		row_sizes(sizes, least, most);
	for (unsigned i = 0; uniform && i < ROW_SIZES; i++)
		sizes[i] = least + (uint32_t)(next_random(&state) >> 40) % (most - least + 1);
	objects = row_table(LIVE * sizeof(*objects));
	for (unsigned i = 0; i < LIVE; i++)
		fresh(i, next_random(&state) >> 40);
	return NULL;
}

/* Each size is as likely as the others. */
static const char *prepare_objects(const char *file)
{
	(void)file;
	return prepare(16, 1024, true);
}

/* Each doubling is. */
static const char *prepare_many(const char *file)
{
	(void)file;
	return prepare(8, 32 * 1024, false);
}

const struct row operator_rows[] = {
	{"new-delete", replace, 100, false, prepare_objects},
	{"new-sized", replace_sized, 100, false, prepare_objects},
	{"new-many", replace_sized, 60, false, prepare_many},
	{NULL, NULL, 0, false, NULL},
};
