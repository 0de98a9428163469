#!/bin/sh
# SPDX-License-Identifier: MIT
# The demonstration of the shared heap, short: workers are killed, nothing is lost.
. tests/support/verdict.sh

demo=${BUILD:-build}/demo-shared
case $demo in /*) ;; *) demo=./$demo ;; esac

# figure NAME: of the report.
figure() {
	sed -n "s/^  $1  *\([0-9 ]*[0-9]\)   .*/\1/p" "$folder/report" | tr -d ' '
}

# run KILLS SECONDS COMMAND...: false: less happened than is to be judged.
run() {
	kills=$1 seconds=$2
	shift 2
	"$@" "$seconds" DESIGN.md >"$folder/report" 2>&1
	result=$?
	killed=$(figure 'kills survived') recovered=$(figure 'records recovered')
	verified=$(figure 'entries verified') lost=$(figure 'blocks lost')
	[ $result != 0 ] || { [ "${killed:-0}" -ge "$kills" ] && [ "${recovered:-0}" -gt 0 ] &&
		[ "${verified:-0}" -gt 100 ]; }
}

# shared HOW SECONDS KILLS COMMAND...: at least so many kills, and each figure counts; a
# busy machine gets more time.
shared() {
	how=$1 seconds=$2 kills=$3
	shift 3
	run "$kills" "$seconds" "$@" || run "$kills" $((seconds * 10)) "$@" ||
		run "$kills" $((seconds * 50)) "$@"
	[ $result = 0 ] && [ "${killed:-0}" -ge "$kills" ] && [ "${recovered:-0}" -gt 0 ] && [ "${verified:-0}" -gt 100 ] &&
		[ "${lost:-1}" = 0 ]
	verdict "$how: $killed workers killed, $recovered records recovered, $verified entries verified, none lost" "$folder/report"
}

shared natively 2 20 "$demo"
RT_QEMU=1
export RT_QEMU
shared 'under QEMU' 3 5 qemu-x86_64 "$demo"
exit $status
