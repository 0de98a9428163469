/* SPDX-License-Identifier: MIT */
#include "thread/seat.h"

#undef seat
INTERNAL THREAD_LOCAL struct seat seat = {.self = owner_none};
#ifdef CPU_TLS_IS_COMPUTED
#define seat (*seat_here()) /* for the files that follow in the amalgamation */
#endif
