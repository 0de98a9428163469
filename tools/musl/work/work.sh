# SPDX-License-Identifier: MIT
# Variables, a string that grows, functions, a large function, subshells.
i=0 text=
while [ $i -lt 4000 ]; do
	i=$((i + 1))
	eval "v$((i % 997))='value $i of $((i * i % 1000))'"
	text="$text $i"
	[ ${#text} -lt 8000 ] || text=${text#????????????????????}
	set -- $i "$text" $((i * 3))
	case $2 in *" $((i / 2)) "*) n=$((n + 1)) ;; esac
done
f() { local a=$1; [ $a = 0 ] || f $((a - 1)); }
for i in 1 2 3 4 5 6 7 8 9 10; do f 200; done
eval "big() { $(i=0; while [ $i -lt 1500 ]; do echo "case \$1 in $i) echo $i ;; esac;"; i=$((i + 1)); done) :; }"
big 77
for i in 1 2 3 4 5; do x=$(big $i; echo "$text"); done
echo $n ${#x} $v7
