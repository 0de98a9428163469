#!/bin/sh
# SPDX-License-Identifier: MIT
# The single steps and the deaths at every boundary, which take as long as all else.
STEPS_FULL=1 exec "${BUILD:-build}/tests/all" steps_ death_
