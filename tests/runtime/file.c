/* SPDX-License-Identifier: MIT */
/* Raw memory and whole files. */
#include "kernel.h"
#include "rt.h"
#include "syscall.h"

static void *map(size_t bytes, long flags)
{
	long p = arch_mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	return KERNEL_FAILED(p) ? NULL : (void *)p;
}

void *rt_map(size_t bytes)
{
	return map(bytes, MAP_PRIVATE);
}

void *rt_map_shared(size_t bytes)
{
	return map(bytes, MAP_SHARED);
}

void rt_unmap(void *p, size_t bytes)
{
	arch_munmap(p, bytes);
}

bool rt_code_writable(void *p, size_t bytes)
{
	return arch_mprotect(p, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) == 0;
}

const void *rt_map_file(const char *path, size_t *length)
{
	long fd = arch_open(path, O_RDONLY | O_CLOEXEC, 0);
	long size, p;

	if (KERNEL_FAILED(fd))
		return NULL;
	size = arch_lseek(fd, 0, SEEK_END);
	p = KERNEL_FAILED(size) ? size
				: arch_mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	arch_close(fd);
	if (KERNEL_FAILED(p))
		return NULL;
	*length = (size_t)size;
	return (const void *)p;
}

long rt_read_file(const char *path, char *out, size_t size)
{
	long fd = arch_open(path, O_RDONLY | O_CLOEXEC, 0);
	size_t used = 0;
	long n;

	if (KERNEL_FAILED(fd))
		return fd;
	/* Files of /proc are returned in pieces; the end is a read of 0 bytes. */
	while (used + 1 < size) {
		n = arch_read(fd, out + used, size - 1 - used);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	arch_close(fd);
	out[used] = '\0';
	return (long)used;
}

bool rt_write_file(const char *path, const char *text)
{
	long fd = arch_open(path, O_WRONLY | O_CLOEXEC, 0), bytes = (long)rt_strlen(text), n;

	if (KERNEL_FAILED(fd))
		return false;
	n = arch_write(fd, text, (size_t)bytes);
	arch_close(fd);
	return n == bytes;
}

size_t rt_number_of(const char *path, const char *name)
{
	char text[4096];
	const char *at;

	if (rt_read_file(path, text, sizeof(text)) <= 0 || (at = rt_strstr(text, name)) == NULL)
		return SIZE_MAX;
	for (at += rt_strlen(name); *at == ' ' || *at == '\t'; at++)
		;
	return *at >= '0' && *at <= '9' ? rt_number_in(at) : SIZE_MAX;
}

int rt_memory_file(const char *name)
{
	return (int)arch_memfd_create(name, 0);
}

uint64_t rt_file_memory(int fd)
{
	struct arch_stat st;

	return arch_fstat(fd, &st) == 0 ? (uint64_t)st.blocks * 512 : 0;
}
