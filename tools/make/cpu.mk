# SPDX-License-Identifier: MIT
# The CPUs, a row each, and the flags of the compilers.

# A CPU has a folder in arch/, and a row here of these words:
#
#	page           the largest page of its kernels, which load no program whose segments share a page
#	code           for all code
#	static         for code in programs
#	field          for libashlar-field.a
#	marks          marks of an archive of ash_... if they cost nothing; without them a program has no shadow stacks
#	malloc-marks   the same of malloc's names and of shared objects, and signed return addresses; on x86_64 an
#	               instruction at the head of each function that may be called by its address
#	clang-resize   for ash_resize
#	profile        for libashlar_profile.so
#	calls-early    shared objects are called before their relocation: tools/prereloc
#
# aarch64: atomic operations without calls of the compiler's library; by the large-system atomics with
# make ARCH=aarch64 FOR_aarch64=-march=armv8.1-a BUILD=build/aarch64-lse.  Outlined, the code that the fast path of
# ash_resize shares with a slow function would be a call.
# riscv64: no relaxing, which lld 14 cannot, and no section of small objects, because linker.ld has none.
# field32: 32 bits, for libashlar-field.a alone.
CPU_x86_64  = page=4096 marks=-fcf-protection=return malloc-marks=-fcf-protection calls-early=yes
CPU_aarch64 = page=65536 code=-mno-outline-atomics malloc-marks=-mbranch-protection=standard \
	clang-resize=-mno-outline profile=-DADDRESS_BITS=48
CPU_riscv64 = page=65536 code=-march=rv64gc code=-mabi=lp64d code=-mno-relax static=-msmall-data-limit=0 \
	profile=-DFRAME_RECORD=-16
CPU_field32 = field=-fno-pie field=-fno-unwind-tables field=-fno-asynchronous-unwind-tables

# $(call cpu,WORD): the values of a word in the row of ARCH.
cpu = $(patsubst $1=%,%,$(filter $1=%,$(CPU_$(ARCH))))

# ---- the CPU of this build: the compiler's, unless ARCH is given ----

HOST := $(shell uname -m)
own   = $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
# If there is no compiler yet, the set-up installs it.
OWN  := $(or $(own),$(shell sh tools/setup >&2)$(own))
FOR_$(ARCH) = $(call cpu,code)
$(if $(OWN),,$(error $(CC) does not run here. Libraries without tests can be built by gcc and lld: make CC=gcc))
TARGET = $(if $(filter-out $(OWN),$(ARCH)),--target=$(ARCH)-linux-gnu)
# The CPUs that can start a program.
ALL_CPUS = $(patsubst arch/%/start.S,%,$(sort $(wildcard arch/*/start.S)))
# Checked here, because each file would give this error, and others.
$(if $(if $(wildcard arch/$(ARCH)/host.h),$(findstring Ashlar is for,$(shell \
	$(CC) $(TARGET) -fsyntax-only -x c arch/$(ARCH)/host.h 2>&1)),no folder),$(error \
	Ashlar is for Linux on $(ALL_CPUS), in C; this is $(CC) for $(ARCH)))
FOREIGN  = $(filter-out $(HOST),$(ARCH))
EMULATOR = $(if $(FOREIGN),qemu-$(ARCH) )
# QEMU 7.2 forks while another of its threads may hold a lock of glib's slices, and the child waits for it for ever.
export G_SLICE = always-malloc
AR       = $(if $(TARGET),llvm-ar,ar)
NM       = $(if $(TARGET),llvm-nm,nm)
OBJCOPY  = $(if $(TARGET),llvm-objcopy,objcopy)

# A folder in this one by its shorter name: see DEBUG.
override BUILD := $(BUILD:$(CURDIR)/%=%)

# ---- flags ----

# Gcc builds the library alone: the tests, the figures and the limits of size are for clang.
ifneq ($(shell $(CC) --version 2>/dev/null | grep -c clang),0)
# The compiler's own headers (stdint.h and such) and no others.
NO_HEADERS  = -nostdlibinc
PLAIN_LOOPS = -fno-vectorize -fno-slp-vectorize -fno-unroll-loops
IN_BOUNDS   = -fsanitize=bounds -fsanitize-trap=bounds
FOR_SIZE    = -Oz $(LESS_CODE)
FOR_RESIZE  = $(call cpu,clang-resize)
# A program of the tests' runtime.
LOOK        = $(BUILD)/ashlar-look
else
NO_HEADERS := -nostdinc -isystem $(shell $(CC) -print-file-name=include)
PLAIN_LOOPS = -fno-tree-vectorize -fno-unroll-loops
FOR_SIZE    = -Os
endif
# Passes of clang that make code longer, by private names: with them the four main calls have 2.5 % more bytes by clang
# 14, 3 % by clang 19.  Merging tails of two instructions, the outliner, no tail duplication, other limits of inlining and
# other register allocators gained nothing.  Without these passes ash_resize takes 44 instructions for 37, because it
# saves registers before it knows that the block stays, and libashlar-field.a exceeds its limit on CPUs of 32 bits.
LESS_CODE = $(addprefix -mllvm ,-disable-machine-licm -disable-lsr -disable-block-placement -enable-pre=false \
	-two-entry-phi-node-folding-threshold=0 -bonus-inst-threshold=0)

WARNINGS = -Wall -Wextra -Wundef -Wconversion -Wsign-conversion -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wcast-align -Werror
# The same sources give the same bytes in whatever folder, because no object names it.
# DWARF 4: valgrind before 3.20 gives up on the DWARF 5 of clang.
DEBUG = -gdwarf-4 -ffile-prefix-map=$(CURDIR)=. $(if $(filter-out build,$(BUILD)),-ffile-prefix-map=$(BUILD)=build)
# Unwind tables: profilers, crash reporters and debuggers walk the stack from each instruction of the library.
BASE = $(TARGET) $(FOR_$(ARCH)) -std=c17 -ffreestanding -nostdlib $(NO_HEADERS) -O2 $(DEBUG) -fno-stack-protector \
	-fasynchronous-unwind-tables -ffunction-sections -fdata-sections -MMD -MP $(WARNINGS)

# Code for static programs, position-independent or not, reads a thread-local word by one instruction (local-exec), and
# cannot be in a shared object.
STATIC_CODE = -fPIE -ftls-model=local-exec $(call cpu,static)
SHARED_CODE = -fPIC -fno-plt -ftls-model=initial-exec
# INNER is for the library itself and for the tests in INNER_TESTS.
INNER     = -Iarch/$(ARCH) -Isys -Icore -Icore/include
LIB_FLAGS = $(BASE) $(PLAIN_LOOPS) -falign-functions=1 $(STATIC_CODE) $(call cpu,marks) $(INNER)
# The warnings of the amalgamation were given when the sources were compiled one by one.
MARKED_FLAGS      = $(BASE) $(call cpu,malloc-marks)
AMALGAMATED_FLAGS = $(filter-out -Werror -W%,$(MARKED_FLAGS)) $(PLAIN_LOOPS) -falign-functions=1
