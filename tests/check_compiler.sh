#!/bin/sh
# SPDX-License-Identifier: MIT
# A newer compiler has other warnings: all must build without one there too.
set -u

name='clang-19 builds everything without a warning'
log=$(mktemp)
trap 'rm -f "$log"' EXIT

if ! command -v clang-19 >/dev/null; then
	echo "skip $name: it is not here"
elif "${MAKE:-make}" --no-print-directory BUILD="${BUILD:-build}/clang-19" CC=clang-19 programs \
	>"$log" 2>&1; then
	echo "ok   $name"
else
	cat "$log"
	echo "FAIL $name"
	exit 1
fi
