/* SPDX-License-Identifier: MIT */
#include "base/version.h"

const char *ash_version(void)
{
	return VERSION_TEXT;
}
