#!/bin/sh
# SPDX-License-Identifier: MIT
# The recipes whose tools `make setup-programs` brings, which make test may not have found.
export BUILD TOOLS='zig nim nolibc'
exec sh tests/check/recipes.sh
