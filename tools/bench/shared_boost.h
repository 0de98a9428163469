/* SPDX-License-Identifier: MIT */
/* Boost.Interprocess's side of shared.c; -DMAPPED: its heap is in a file. */
#ifndef BENCH_SHARED_BOOST_H
#define BENCH_SHARED_BOOST_H

#include <boost/interprocess/managed_mapped_file.hpp>
#include <boost/interprocess/managed_shared_memory.hpp>

#include "shared_host.h"

#define _Alignas(n) alignas(n)

namespace ipc = boost::interprocess;

#ifdef MAPPED
typedef ipc::managed_mapped_file segment_type;
#else
typedef ipc::managed_shared_memory segment_type;
#endif
static segment_type *segment;

#define take(n) segment->allocate(n, std::nothrow)
#define give(p) segment->deallocate(p)

#include "shared_two_steps.h"

/* Files of /dev/shm are what managed_shared_memory makes. */
static const char *segment_name(void)
{
#ifdef MAPPED
	return heap_name;
#else
	return heap_name + sizeof "/dev/shm/" - 1;
#endif
}

static bool heap_make(size_t capacity)
{
	segment = new segment_type(ipc::create_only, segment_name(), capacity);
	return true;
}

static bool heap_again(void)
{
	segment = new segment_type(ipc::open_only, segment_name());
	return true;
}

static void heap_leave(void)
{
	delete segment;
}

static bool heap_join(void)
{
	return true;
}

static bool heap_give_back(void)
{
	return false;
}

/* Its name is needed only until all have it: by fork here, so not at all. */
static bool heap_open(const char *)
{
	heap_make(CAPACITY);
	heap_remove();
	return true;
}

static uint64_t blocks_left(void)
{
	return segment->all_memory_deallocated() ? 0 : 1;
}

#endif
