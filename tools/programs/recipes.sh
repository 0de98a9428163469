#!/bin/sh
# SPDX-License-Identifier: MIT
# The recipes whose tools `make setup-programs` brings, which make test may not have found.
export BUILD TOOLS='zig nim nim-musl nolibc go lua5.4 quickjs python3-config'
exec sh tests/check/recipes.sh
