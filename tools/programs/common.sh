# SPDX-License-Identifier: MIT
# What the tests with real programs share.  Sourced by sh from the top of the tree.
# shellcheck shell=sh
set -u

build=${BUILD:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
here=$PWD/tools/programs
library=$build/libashlar_malloc.so
archive=$build/libashlar_malloc.a
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
status=0
limit=1800 # seconds for one command: ends what hangs, judges nothing

# verdict NAME: of the last command
verdict() {
	if [ $? = 0 ]; then
		echo "ok   programs: $1"
	else
		echo "FAIL programs: $1"
		for file in "$folder/out" "$folder/errors"; do
			[ ! -s "$file" ] || tail -n 5 "$file" | cut -c 1-300 | sed 's/^/     | /'
		done
		status=1
	fi
}

skip() {
	echo "skip programs: $1"
}

# have COMMAND...: are all of them installed?
have() {
	for tool in "$@"; do
		command -v "$tool" >/dev/null || return 1
	done
}

# with COMMAND...: under Ashlar.
with() {
	LD_PRELOAD=$library timeout -k 5 $limit "$@"
}

# plain COMMAND...: the same without.
plain() {
	timeout -k 5 $limit "$@"
}

# quiet COMMAND...: what it prints is shown if it fails.
quiet() {
	"$@" >"$folder/out" 2>"$folder/errors"
}

# same NAME COMMAND...: prints the same and ends the same with Ashlar and without.
same() {
	name=$1
	shift
	plain "$@" >"$folder/expected" 2>"$folder/plain_errors"
	plain_status=$?
	with "$@" >"$folder/out" 2>"$folder/errors"
	[ $? = $plain_status ] && [ $plain_status = 0 ] && cmp -s "$folder/expected" "$folder/out"
	verdict "$name"
}
