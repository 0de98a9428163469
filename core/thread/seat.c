/* SPDX-License-Identifier: MIT */
#include "thread/seat.h"

INTERNAL THREAD_LOCAL struct seat seat = {.self = owner_none};
