#!/bin/sh
# SPDX-License-Identifier: MIT
# The programs of real.sh with the hardened library: a false accusation ends them.
HARDENED=1 exec sh tools/programs/real.sh
