/* SPDX-License-Identifier: MIT */
#include "heaps/kind.h"

INTERNAL const struct instance_kind *instance_kinds[INSTANCE_KINDS];
