#!/bin/sh
# SPDX-License-Identifier: MIT
# tools/RECIPES.md tells the truth: its programs compile and run by its commands and print what it
# says (tests/support/document.sh).
. tests/support/document.sh

mkdir -p "$tree/build/recipes"
extract tools/RECIPES.md
[ "$(wc -l <"$folder/programs")" -ge 5 ] && [ -f "$folder/6.sh" ]
verdict "has five files and the commands for them: $(tr '\n' ' ' <"$folder/programs")"

# The crate is built by rust.sh, libraries of another CPU by make test itself.
LATER='go rust-musl rust-1.68 qemu-aarch64'
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD CC # the commands are the reader's
run_document tools/RECIPES.md
exit $status
