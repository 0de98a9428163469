#!/bin/sh
# SPDX-License-Identifier: MIT
# libashlar-field.a: no system call, no thread-local word, no symbol from elsewhere, little text
# and data; the same for CPUs of 32 bits, of which two run it under QEMU.
. tests/support/verdict.sh

build_flags
text_limit=$LIMIT_field # tools/make/products.mk
data_limit=1024

# whole ARCHIVE: as one object.
whole() {
	ld.lld -r --whole-archive "$1" -o "$folder/whole.o"
}

# lean NAME: of $folder/whole.o
lean() {
	nm -u "$folder/whole.o" >"$folder/undefined" && [ ! -s "$folder/undefined" ]
	verdict "$1: no symbol from elsewhere" "$folder/undefined"
	# shellcheck disable=SC2046 # two numbers
	set -- "$1" $(llvm-size -A "$folder/whole.o" | awk '
		$1 ~ /^\.(text|rodata)/ { text += $2 }
		$1 ~ /^\.(data|bss)/ { data += $2 }
		$1 ~ /^\.t(data|bss)/ { local += $2 }
		END { print text + 0, data + 0, local + 0 }')
	[ "$2" -gt 1000 ] && [ "$2" -le "$text_limit" ] && [ "$3" -le "$data_limit" ] && [ "$4" = 0 ]
	verdict "$1: $2 bytes of text and constants (at most $text_limit), $3 of data (at most $data_limit)"
}

# calls OBJECT: its instructions that ask the system, or name the thread.
calls() {
	llvm-objdump -d --no-show-raw-insn "$1" |
		grep -E '[[:space:]](syscall|sysenter|int|svc|ecall|hvc|smc)([[:space:]]|$)|%fs|%gs|tpidr|\btp\b'
}

whole "$build/libashlar-field.a" && lean "$(uname -m)"
! calls "$folder/whole.o" | grep .
verdict 'no system call, no thread-local word'
[ "$(calls "$build/libashlar.a" | wc -l)" -gt 20 ]
verdict 'libashlar.a has both: the patterns are right'

# ---- CPUs of 32 bits ----

case $(${CC:-clang} --version) in
*clang*) ;;
*)
	echo "skip field: 32 bits: the compiler is not clang"
	exit $status
	;;
esac

# product NAME FLAG...: built and looked at.
product() {
	name=$1
	shift
	"${MAKE:-make}" -s --no-print-directory CC="${CC:-clang}" BUILD="$folder/$name" ARCH=field32 HOST=field32 \
		TARGET="$*" AR=llvm-ar field >"$folder/log" 2>&1 && whole "$folder/$name/libashlar-field.a" 2>>"$folder/log"
	verdict "$name: builds" "$folder/log"
	lean "$name"
}

# runs NAME: its tests, linked with start.S.
runs() {
	for part in tests/check/field32.c "$folder/start.S"; do
		# shellcheck disable=SC2086 # a list of flags
		${CC:-clang} $2 -std=c17 -O1 -ffreestanding -nostdlibinc -fno-pie -Wall -Wextra -Werror \
			-fno-asynchronous-unwind-tables -I"$folder/$1/include" -c "$part" -o "$folder/${part##*/}.o" || exit 1
	done
	ld.lld -static "$folder/start.S.o" "$folder/field32.c.o" "$folder/$1/libashlar-field.a" -o "$folder/program" &&
		[ "$(timeout 3600 "$3" "$folder/program")" = ok ]
	verdict "$1: its tests pass under $3"
}

if command -v qemu-arm >/dev/null; then
	cat >"$folder/start.S" <<'S'
	.syntax unified
	.arm
	.macro	function name
	.globl	\name
	.type	\name, %function
\name:
	.endm
	function _start
	blx	begin
	function leave
	mov	r7, #248
	svc	0
	function say
	push	{r7, lr}
	mov	r2, r1
	mov	r1, r0
	mov	r0, #1
	mov	r7, #4
	svc	0
	pop	{r7, pc}
	function pause_here
	push	{r7, lr}
	mov	r7, #158
	svc	0
	pop	{r7, pc}
	function thread_start
	push	{r4, r5, r6, r7, r8, lr}
	mov	r5, r0
	mov	r6, r1
	ldr	r0, =0x50f00
	mov	r1, r2
	mov	r2, #0
	mov	r3, #0
	mov	r4, #0
	mov	r7, #120
	svc	0
	cmp	r0, #0
	popne	{r4, r5, r6, r7, r8, pc}
	mov	r0, r6
	blx	r5
	mov	r7, #1
	svc	0
	.section .note.GNU-stack, "", %progbits
S
	for kind in arm thumb; do
		flags="--target=armv7a-none-linux-gnueabi -m$kind"
		# shellcheck disable=SC2086 # a list
		product armv7-$kind $flags
		runs armv7-$kind "$flags" qemu-arm
	done
else
	echo 'skip field: armv7: no qemu-arm'
fi

if command -v qemu-i386 >/dev/null; then
	cat >"$folder/start.S" <<'S'
	.globl	_start, leave, say, pause_here, thread_start
_start:
	andl	$-16, %esp
	call	begin
leave:
	movl	4(%esp), %ebx
	movl	$252, %eax
	int	$0x80
say:
	pushl	%ebx
	movl	$1, %ebx
	movl	8(%esp), %ecx
	movl	12(%esp), %edx
	movl	$4, %eax
	int	$0x80
	popl	%ebx
	ret
pause_here:
	movl	$158, %eax
	int	$0x80
	ret
thread_start:
	pushl	%ebx
	pushl	%esi
	pushl	%edi
	pushl	%ebp
	movl	28(%esp), %ecx
	movl	20(%esp), %ebp
	movl	24(%esp), %eax
	subl	$16, %ecx
	movl	%eax, (%ecx)
	movl	$0x50f00, %ebx
	xorl	%edx, %edx
	xorl	%esi, %esi
	xorl	%edi, %edi
	movl	$120, %eax
	int	$0x80
	testl	%eax, %eax
	jnz	1f
	call	*%ebp
	movl	$1, %eax
	xorl	%ebx, %ebx
	int	$0x80
1:	popl	%ebp
	popl	%edi
	popl	%esi
	popl	%ebx
	ret
	.section .note.GNU-stack, "", @progbits
S
	product i386 --target=i686-linux-gnu
	runs i386 --target=i686-linux-gnu qemu-i386
else
	echo 'skip field: i386: no qemu-i386'
fi

# Built only: what microcontrollers are.
product cortex-m3 --target=armv7m-none-eabi -mcpu=cortex-m3
! "${MAKE:-make}" -s --no-print-directory CC="${CC:-clang}" BUILD="$folder/m0" ARCH=field32 HOST=field32 TARGET='--target=armv6m-none-eabi -mcpu=cortex-m0' \
	field >"$folder/log" 2>&1 && grep -q 'Cortex-M0.*will not be' "$folder/log"
verdict 'cortex-m0: refused' "$folder/log"
if command -v arm-none-eabi-gcc >/dev/null; then
	cat >"$folder/gcc.c" <<'C'
#include <ashlar_heap.h>
enum small { ONE, TWO } volatile one = ONE;
void _start(void) { ash_heap_release(ash_heap_create_in((void *)0, one), (void *)0); }
C
	arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -O2 -ffreestanding -nostdlib -I"$folder/cortex-m3/include" "$folder/gcc.c" \
		"$folder/cortex-m3/libashlar-field.a" -o "$folder/gcc.elf" 2>"$folder/log" && ! grep enum "$folder/log"
	verdict 'cortex-m3: a program by arm-none-eabi-gcc, with its short enumerations' "$folder/log"
else
	echo 'skip field: cortex-m3: no arm-none-eabi-gcc'
fi
product rv32imac --target=riscv32-none-elf -march=rv32imac -mabi=ilp32
exit $status
