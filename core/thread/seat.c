/* SPDX-License-Identifier: MIT */
#include "thread/seat.h"

#undef seat
#ifdef CPU_TLS_IS_COMPUTED
INTERNAL THREAD_LOCAL struct seat seat = {.self = owner_none, .small = {CLASS_TABLE}};
#define seat (*seat_here()) /* for the files that follow in the amalgamation */
#else
INTERNAL THREAD_LOCAL struct seat seat = {.self = owner_none};
#endif
