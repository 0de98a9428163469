/* SPDX-License-Identifier: MIT */
/* What MemorySanitizer is told, if the program is linked with it: which bytes have been written. */
#ifndef TOOLS_SANITIZE_SHADOW_H
#define TOOLS_SANITIZE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>

/* True: the program has MemorySanitizer. */
bool shadow_is_there(void);
/* The library wrote these bytes, or they read zero. */
void shadow_written(void *p, size_t size);
/* Nobody has. */
void shadow_unwritten(void *p, size_t size);
/* As memcpy, with what is known of each byte. */
void shadow_copy(void *to, const void *from, size_t size);

#endif
