/* SPDX-License-Identifier: MIT */
/* Output, collected and written at the end or when there is much. */
#ifndef LOOK_OUT_H
#define LOOK_OUT_H

#include "rt.h"

void out(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A text of the target: what no terminal, XML or JSON should get is shown as '?'. */
void out_name(const char *text);
/* Writes what is left.  False: something could not be written. */
bool out_end(void);

/* "12.3 MiB", right-aligned to 10 columns or as it is; for one call of out at most 8 of them. */
const char *bytes_wide(uint64_t bytes);
const char *bytes_text(uint64_t bytes);

#endif
