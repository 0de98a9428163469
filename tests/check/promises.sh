#!/bin/sh
# SPDX-License-Identifier: MIT
# Which test holds a public call to its promises: each test names calls in lines `promises: ash_expand, ash_resize`
# behind its head.  Each function that a public header declares is named, and nothing else.  `grep -rw` finds it.
. tests/support/verdict.sh

# declared HEADER...: the functions; named FILE...: the calls that tests name.
declared() {
	sed -n 's/^[a-z][a-z0-9_ ]*[ *]\([a-z0-9_]*\)(.*/\1/p' "$@" | sort -u
}
named() {
	sed -n 's,^\(/\*\|#\) promises: \([a-z0-9_ ,]*[a-z0-9_]\)\( \*/\)*$,\2,p' "$@" | tr -s ', ' '\n' | sort -u
}
# compared HEADERS NAMES: what one list has and the other has not.
compared() {
	comm -23 "$1" "$2" | sed 's/$/ is in no test/'
	comm -13 "$1" "$2" | sed 's/$/ is no public function/'
}

declared core/include/*.h >"$folder/declared"
# shellcheck disable=SC2046 # a list
named $(find tests -name '*.[ch]') tests/check/*.sh >"$folder/named"
compared "$folder/declared" "$folder/named" >"$folder/log"
[ "$(wc -l <"$folder/declared")" -gt 90 ] && [ ! -s "$folder/log" ]
verdict "each public function has a test that names it ($(wc -l <"$folder/declared"))" "$folder/log"

sed '/^ash_expand$/d; s/^ash_trim$/ash_trimm/' "$folder/named" | sort >"$folder/planted"
[ "$(compared "$folder/declared" "$folder/planted" | wc -l)" = 3 ]
verdict 'one that is in no test is found, and a name that is none'
exit $status
