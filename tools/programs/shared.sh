#!/bin/sh
# SPDX-License-Identifier: MIT
# Processes killed in a heap that they share, in short (tools/bench/kills): those beside them go on, and nothing is left.
. tools/programs/common.sh

if ! have objcopy || [ "$(uname -m)" != x86_64 ]; then
	skip 'shared: no objcopy, or this is no x86_64'
	exit 0
fi
quiet env BUILD="$build" HEAPS=ashlar KILLS=20 timeout -k 5 $limit sh tools/bench/kills &&
	grep -q '^| kills after .* | 20 of 20 |$' "$folder/out" && grep -q '^| blocks .* | 0 of [0-9]* |$' "$folder/out"
verdict 'shared: 20 processes killed in a heap, two others went on'
exit $status
