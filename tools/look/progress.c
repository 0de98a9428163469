/* SPDX-License-Identifier: MIT */
#include "picture.h"

static uint64_t begun, shown;

void progress(const char *what, uint64_t done, uint64_t of)
{
	uint64_t now = rt_now();

	if (begun == 0)
		begun = now;
	if (of == 0 || now - begun < 300000000 || now - shown < 100000000 || rt_columns(2) == 0)
		return;
	shown = now;
	rt_fprint(2, "\r%s: %u %%", what, (unsigned)(done * 100 / of));
}

void progress_end(void)
{
	if (shown != 0)
		rt_fprint(2, "\r                              \r");
	begun = shown = 0;
}
