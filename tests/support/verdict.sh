# SPDX-License-Identifier: MIT
# Sourced first by the scripts of tests/check: `build` is the build folder, `folder` a temporary one, `subject` the
# script's name, and there is a line for each thing checked.
# shellcheck shell=sh disable=SC2034,SC2154

set -u
. tests/support/reason.sh

build=${BUILD:-build}
subject=${0##*/}
subject=${subject%.sh}
status=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM HUP # by way of the trap EXIT, which removes what is temporary

# A file that the system writes to the disk at this moment may seem to have holes (SEEK_HOLE of ext4),
# and what has holes is binary for grep, which then prints no line of it.
grep() {
	command grep -a "$@"
}

# build_flags [NAME=VALUE...]: how make compiles and links programs of this build, or of one with these variables.
build_flags() {
	eval "$("${MAKE:-make}" -s --no-print-directory BUILD="$build" "$@" flags)"
}

# verdict NAME [LOG...]: of the last command, whose status it has; the logs tell why it failed
verdict() {
	if [ $? = 0 ]; then
		echo "ok   $subject: $1"
	else
		echo "FAIL $subject: $1"
		shift
		reason "$@"
		status=1
		return 1
	fi
}

# same NAME: the lists in $folder/expected and $folder/found are equal, and not empty.
same() {
	diff "$folder/expected" "$folder/found" | sed 's/^/     /'
	[ -s "$folder/expected" ] && cmp -s "$folder/expected" "$folder/found"
	verdict "$1"
}
