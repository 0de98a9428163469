/* SPDX-License-Identifier: MIT */
#include "thread/seat.h"

#ifdef ASHLAR_SINGLE_THREAD
struct seat seat = {.self = owner_none};
#else
_Thread_local struct seat seat = {.self = owner_none};
#endif
