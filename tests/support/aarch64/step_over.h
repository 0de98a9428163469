/* SPDX-License-Identifier: MIT */
#include "support/step_over_none.h"
