#!/bin/sh
# SPDX-License-Identifier: MIT
# The scripts of tests/check of which make test has less.
status=0
for name in amalgamation asan compiler cxx filter malloc install recipes rust; do
	STEPS_FULL=1 sh "tests/check/$name.sh" || status=1
done
exit $status
