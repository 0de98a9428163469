/* SPDX-License-Identifier: MIT */
#include "backend/shared.h"

INTERNAL const struct shared_hooks *shared_hooks;
