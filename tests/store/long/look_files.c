/* SPDX-License-Identifier: MIT */
/* ashlar-look: 1500 damaged images of heaps in files. */
#include "store/program/look_damaged_files.h"

TEST_CALL(look_damaged_heaps_many, 600, damaged_files(1500));
