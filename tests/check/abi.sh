#!/bin/sh
# SPDX-License-Identifier: MIT
# The binary interface is the one in tests/golden/abi.txt: names and versions in the shared objects, functions, layouts
# of public structures, values of constants (tools/abi).
. tests/support/verdict.sh

sh tools/abi "$build" >"$folder/abi" 2>"$folder/errors" && [ ! -s "$folder/errors" ] && [ "$(wc -l <"$folder/abi")" -gt 300 ]
verdict 'it can be told' "$folder/errors"
diff tests/golden/abi.txt "$folder/abi" >"$folder/differences"
verdict 'it is as it was; if that is meant: sh tools/abi build >tests/golden/abi.txt' "$folder/differences"
exit $status
