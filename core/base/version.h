/* SPDX-License-Identifier: MIT */
/* The version of the library, as text. */
#ifndef CORE_VERSION_H
#define CORE_VERSION_H

#include "ashlar.h"

#define VERSION_WORD(x)	  #x
#define VERSION_NUMBER(x) VERSION_WORD(x)
#define VERSION_TEXT                                                                               \
	VERSION_NUMBER(ASH_VERSION_MAJOR)                                                          \
	"." VERSION_NUMBER(ASH_VERSION_MINOR) "." VERSION_NUMBER(ASH_VERSION_PATCH)

#endif
