# SPDX-License-Identifier: MIT
# Common functions of the tests with real programs; sourced by sh from the top of the tree.
# shellcheck shell=sh
set -u
. tests/support/reason.sh

build=${BUILD:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
here=$PWD/tools/programs
library=$build/libashlar_malloc${HARDENED:+-hardened}.so
archive=$build/libashlar_malloc.a
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
status=0
limit=1800 # seconds for one command: ends a hang, is no criterion

# verdict NAME: reports the exit status of the last command (above 128: a signal; 124: the limit)
verdict() {
	ended=$?
	if [ $ended = 0 ]; then
		echo "ok   programs: $1"
	else
		echo "FAIL programs: $1: exit status $ended"
		reason "$folder/out" "$folder/errors"
		status=1
	fi
}

skip() {
	echo "skip programs: $1"
}

# have COMMAND...: true if all of them are installed.
have() {
	for tool in "$@"; do
		command -v "$tool" >/dev/null || return 1
	done
}

# with COMMAND...: runs it with Ashlar preloaded.
with() {
	LD_PRELOAD=$library timeout -k 5 $limit "$@"
}

# plain COMMAND...: runs it without Ashlar.
plain() {
	timeout -k 5 $limit "$@"
}

# quiet COMMAND...: its output is kept for verdict, which shows it after a failure.
quiet() {
	"$@" >"$folder/out" 2>"$folder/errors"
}

# same NAME COMMAND...: output and exit status must be the same with Ashlar and without.
same() {
	name=$1
	shift
	plain "$@" >"$folder/expected" 2>"$folder/plain_errors"
	plain_status=$?
	with "$@" >"$folder/out" 2>"$folder/errors"
	[ $? = $plain_status ] && [ $plain_status = 0 ] && cmp -s "$folder/expected" "$folder/out"
	verdict "$name"
}
