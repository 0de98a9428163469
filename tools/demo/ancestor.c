/* SPDX-License-Identifier: MIT */
#include <ashlar_names.h>

int main(void)
{
	init_global_allocator(64);
	void *p = alloc(1024);
	release(p);
	return 0;
}
