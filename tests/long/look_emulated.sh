#!/bin/sh
# SPDX-License-Identifier: MIT
# As many looks at a busy program under QEMU as natively.
RT_QEMU=1 exec "qemu-${ARCH:-$(uname -m)}" "${BUILD:-build}/long/look" look_speed_1000
