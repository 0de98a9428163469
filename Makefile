# SPDX-License-Identifier: MIT
#
#	make help       prints this
#	make            the library: build/libashlar.a, build/include/ashlar.h; build/ashlar-look
#	make test       everything that is checked, natively and under QEMU; of other CPUs a part
#	make test-arch  every test program of every CPU, under QEMU; ARCHES="aarch64 riscv64" for some
#	make steps      ARCH=aarch64, ARCH=riscv64: single steps under QEMU; STEPS=all for all paths
#	make test-kernel  tests as the only company of real kernels under qemu-system: KERNELS="x86_64 aarch64 riscv64";
#	                and cuts of power: POWER="ext4 xfs btrfs" CUTS=200
#	make setup-kernel  the kernels for that
#	make test-long  what takes minutes (tests/long, and in full what make test thins), natively
#	make field      libashlar-field.a alone; for CPUs of 32 bits, by clang, into build/field32: ARCH=field32
#	                TARGET='--target=armv7m-none-eabi -mcpu=cortex-m3'
#	make programs   the library, the tests and the demonstrations, without running them
#	make demo       the demonstration, natively and under QEMU
#	make demo-shared  a heap shared by processes that are killed; SECONDS=60 for longer
#	make bench      Ashlar against every malloc that is installed: SHORT=1, ROUNDS=n, PEERS=name:library
#	make bench-accept  takes the last figures into tools/bench/accepted, BENCHMARKS.md and README.md's summary
#	make bench-footprint  text, memory and mappings of the smallest programs
#	make bench-cost  instructions, misses, mispredicted branches and page faults of the rows, which nothing else on the
#	                machine changes: ROWS="new-sized buffers-zero" PEERS=name:library (valgrind)
#	make bench-peaks  peak memory of the rows where it matters, and what it is made of (python3)
#	make bench-seeds  the experiments against the mallocs that are installed
#	make bench-threads  threads, the same way
#	make bench-scale  heaps up to 64 GiB, up to 10 000 threads, the same way, and the instructions of the worst call: SHORT=1
#	make bench-words  how often each kind of word is written and moves from thread to thread, and a model of many cores: SHORT=1
#	make bench-limits  what bounds the fast paths on this CPU, in cycles
#	make bench-shared  heaps shared by processes, against private ones, Boost's, libpmemobj, arenas: SHORT=1
#	make tsan       the heap under ThreadSanitizer; tsan-plant: with faults that it must find;
#	                tsan-shared: also a heap shared by processes
#	make figures    how much there is to read, beside its limits (python3, valgrind)
#	make mutants    each thing of the sources changed in turn: FILES=... SAMPLE=k/n SLOW=n JOBS=n (python3)
#	make soak       what make test does thinly, in full and with other seeds: SEEDS="1 2 3"
#	make golden-accept  takes the instructions of the fast paths as they are now for right
#	make model      the protocol of the bitmaps, by spin; memory orders, by relacy
#	make setup      looks for the tools that all of this needs
#	make setup-checkers  installs what tsan, model and the check of gdb's script need, where it may
#	make setup-programs  and what test-programs needs
#	make asan       build/asan/libashlar-asan.a: the same for tests of programs under AddressSanitizer, MemorySanitizer or valgrind
#	make amalgamation  build/amalgamation/ashlar.c and public headers: the library as one source
#	make crate      the Rust crate, build/crate/target/package/ashlar-VERSION.crate
#	make test-programs  real programs with Ashlar as their malloc: PARTS="linked real servers origin deb builds recipes musl"
#	make flags      prints how a test program is compiled and linked, for scripts
#	make format     clang-format over all sources
#	make install    PREFIX=/usr/local LIBDIR=PREFIX/lib DESTDIR=; make uninstall with the same removes its files
#	make deb        Debian packages into build/deb: DEBFULLNAME and DEBEMAIL are their maintainer
#	make dist       the source release build/ashlar-VERSION.tar.gz
#	make clean      removes build/
#
# Another compiler or place: make CC=clang-19 BUILD=/tmp/there; whole commands, and each test: make V=1
# Another CPU, by clang and lld alone: make ARCH=aarch64 or riscv64, into build/CPU
# A source file is found by its place and name.  What is kept by hand: the sources built for
# speed (FAST), and core/amalgamation.c.

MAKEFLAGS += --no-builtin-rules

# QEMU 7.2 forks while another of its threads may hold a lock of glib's slices, and the child waits for it for ever.
export G_SLICE = always-malloc

CC    = clang
PYTHON = python3

# Make takes it for two.
ifneq ($(word 2,$(CURDIR)),)
$(error The path of this folder, $(CURDIR), has a space in it, which make cannot work with: clone into another one)
endif

# The CPU: what the compiler is for, unless ARCH is given: make ARCH=aarch64 by clang and lld alone.
HOST  := $(shell uname -m)
OWN   := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
ARCH  = $(or $(OWN),$(HOST))
# No compiler yet: make has the set-up build a file that it wants to include, and begins again.
ifeq ($(OWN)$(MAKE_RESTARTS),)
include build/setup.mk
build/setup.mk: setup
	mkdir -p build
	touch $@
else ifeq ($(OWN),)
$(error $(CC) does not run here)
endif
ifeq ($(wildcard arch/$(ARCH)/host.h),)
$(error Ashlar is for x86_64, aarch64 and riscv64 Linux, in C; this is for $(ARCH))
endif
ifneq ($(ARCH),$(OWN))
TARGET = --target=$(ARCH)-linux-gnu
endif
BUILD = build$(if $(filter-out $(HOST),$(ARCH)),/$(ARCH))
ifneq ($(word 2,$(BUILD)),)
$(error BUILD, $(BUILD), has a space in it, which make cannot work with)
endif
# The same place, by its shorter name: see DEBUG.
override BUILD := $(BUILD:$(CURDIR)/%=%)
AR    = $(if $(TARGET),llvm-ar,ar)
OBJCOPY = $(if $(TARGET),llvm-objcopy,objcopy)
# What runs its programs here.
EMULATOR = $(if $(filter-out $(HOST),$(ARCH)),qemu-$(ARCH) )

# What gcc calls otherwise.  It builds the library; the tests, the figures and the limits of
# size are for clang.
ifeq ($(shell $(CC) --version 2>/dev/null | grep -c clang),0)
NO_HEADERS := -nostdinc -isystem $(shell $(CC) -print-file-name=include)
PLAIN_LOOPS = -fno-tree-vectorize -fno-unroll-loops
FOR_SIZE    = -Os $(NO_RED_ZONE)
else
# A program of the tests' runtime, which is for clang.
LOOK        = $(BUILD)/ashlar-look
NO_HEADERS  = -nostdlibinc
PLAIN_LOOPS = -fno-vectorize -fno-slp-vectorize -fno-unroll-loops
IN_BOUNDS   = -fsanitize=bounds -fsanitize-trap=bounds
FOR_SIZE    = -Oz $(LESS_CODE) $(NO_RED_ZONE) $(LESS_TUNED)
# For ash_resize: at -Oz what its fast path shares with a slow function would be a call.
NO_OUTLINER = $(if $(filter aarch64,$(ARCH)),-mno-outline)
endif
# One lea of three operands, not lea and add, which the generic tuning prefers: 0.5 % fewer bytes, and fewer
# instructions.  Only the order and choice of instructions: every CPU has them.
LESS_TUNED  = $(if $(filter x86_64,$(ARCH)),-mtune=znver3)
NO_RED_ZONE = $(if $(filter x86_64,$(ARCH)),-mno-red-zone)
# aarch64: atomic operations without calls of the compiler's library; by the large-system atomics with
# make ARCH=aarch64 FOR_aarch64=-march=armv8.1-a BUILD=build/aarch64-lse.  riscv64: no relaxing,
# which lld 14 cannot, and no section of small objects, as linker.ld has none.
FOR_CPU = $(FOR_$(ARCH))
FOR_aarch64 = -mno-outline-atomics
FOR_riscv64 = -march=rv64gc -mabi=lp64d -mno-relax
# Of 32 bits, for libashlar-field.a alone: make field ARCH=field32 TARGET='--target=armv7m-none-eabi'
FOR_FIELD = $(if $(filter field32,$(ARCH)),-fno-pie -fno-unwind-tables -fno-asynchronous-unwind-tables)
# Not -Oz: the search for memory, but for CPUs of 32 bits, where its 400 bytes are a fifteenth; and
# what divides by a constant, which at -Oz would be a call of the compiler's library where CPUs
# have no such instruction.
FIELD_OS = $(addprefix $(BUILD)/field/,$(if $(FOR_FIELD),,core/arena/arena_alloc.o core/arena/arena_summary.o) core/arena/arena.o \
	$(if $(findstring rv32im,$(TARGET)),,sys/text.o))
# The same of libashlar-small.a, as far as its limit allows.
SMALL_OS = $(addprefix $(BUILD)/small/core/,arena/arena_alloc.o arena/arena_summary.o)
NO_SMALL = $(if $(filter riscv64,$(ARCH)),-msmall-data-limit=0)
# Kernels with pages of 64 KiB load no program whose segments share one.
PAGE_MOST = $(if $(filter x86_64,$(ARCH)),4096,65536)
# Passes of clang, by private names, that keep addresses and sums in registers over a loop,
# which in small functions means saving registers, and that align or double code to save a
# jump.  Tried with clang 14 and 19: without them the four main calls have 2.5 and 3 % more bytes.
# No partial redundancy elimination: 32 bytes less with clang 14.  Tried besides, with no gain or a loss: merging
# tails of two instructions, the outliner, no tail duplication, other limits of inlining, other register allocators.
LESS_CODE = $(addprefix -mllvm ,-disable-machine-licm -disable-lsr -disable-block-placement -enable-pre=false \
	-two-entry-phi-node-folding-threshold=0 -bonus-inst-threshold=0)

# Here once, or each file would say it and more.
ifneq ($(findstring Ashlar is for,$(shell $(CC) $(TARGET) -fsyntax-only -x c arch/$(ARCH)/host.h 2>&1)),)
$(error Ashlar is for x86_64, aarch64 and riscv64 Linux, in C; $(CC) is for something else)
endif

WARNINGS = -Wall -Wextra -Wundef -Wconversion -Wsign-conversion -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wcast-align -Werror
# -nostdlibinc: the compiler's own headers (stdint.h and such) and no others.
# Unwind tables: profilers, crash reporters and debuggers walk the stack from each instruction
# of the library; its tests and tools do without.
# DWARF 4: valgrind before 3.20 gives up on the DWARF 5 of clang.
BASE = $(TARGET) $(FOR_CPU) -std=c17 -ffreestanding -nostdlib $(NO_HEADERS) -O2 $(DEBUG) -fno-stack-protector \
	$(UNWIND) -ffunction-sections -fdata-sections -MMD -MP $(WARNINGS)
# Nothing says in which folder it was built, and into which: the same bytes come of each.
DEBUG  = -gdwarf-4 -ffile-prefix-map=$(CURDIR)=. $(if $(filter-out build,$(BUILD)),-ffile-prefix-map=$(BUILD)=build)
UNWIND = -fasynchronous-unwind-tables

# What an object says of itself, else a program with it runs without.  Shadow stacks cost nothing.  A mark at
# each function that may be called by its address is an instruction at the head of each call: the archives of ash_...
# are without, those with malloc's names and the shared objects have it; on aarch64 return addresses are signed there.
SHADOWED = $(if $(filter x86_64,$(ARCH)),-fcf-protection=return)
GUARDED_x86_64  = -fcf-protection
GUARDED_aarch64 = -mbranch-protection=standard
GUARDED = $(GUARDED_$(ARCH))

# The library goes into static programs, position independent or not; local-exec
# makes its thread-local words one instruction, and keeps it out of shared objects.
LIB_FLAGS   = $(BASE) $(NO_SMALL) $(PLAIN_LOOPS) -falign-functions=1 -fPIE -ftls-model=local-exec $(SHADOWED) $(INNER)
# Programs see the staged header and the runtime, tests what is in tests/support, too.
# INNER is for the library itself and for the tests in INNER_TESTS.
PROG_FLAGS  = $(BASE) $(NO_SMALL) -fno-asynchronous-unwind-tables -fno-pie -I$(BUILD)/include \
	-Itests/runtime -Itests/runtime/$(ARCH) -Itests -Itests/support/$(ARCH)
INNER       = -Iarch/$(ARCH) -Isys -Icore -Icore/include
ASM_FLAGS   = $(TARGET) $(FOR_CPU) $(SHADOWED) $(DEBUG) -MMD -MP $(NO_HEADERS) -Iarch/$(ARCH)

# -u: libashlar_start.a refers to ash_thread_detach only weakly, which draws nothing out of
# an archive.
LINK = $(CC) $(TARGET) -static -nostdlib -fuse-ld=lld -Wl,-T,linker.ld -Wl,--gc-sections \
	-Wl,-z,max-page-size=$(PAGE_MOST) -Wl,--build-id=none -Wl,--orphan-handling=error \
	-Wl,--no-eh-frame-hdr -Wl,--fatal-warnings
LINK_ASHLAR = $(LINK) -Wl,-u,ash_thread_detach

# ---- lists ----

# What is called once in 64 allocations or less is built for size: the four main calls must
# stay below 32 KiB (tests/check/size.sh).  These are built for speed.
FAST = core/front/alloc core/front/release core/arena/arena core/arena/arena_alloc core/arena/arena_summary \
	core/heaps/instance_alloc core/heaps/instance_release core/store/recover/intent core/heaps/instance_draft core/store/data/slots

RUNTIME_ASM = $(addprefix arch/$(ARCH)/,start.S thread.S syscall_runtime.S)
# Of the amalgamation alone: with ASHLAR_MALLOC, or another one for programs with a C library; with ASHLAR_HARDENED.
AMALGAMATED = core/diagnostics/malloc_needs.c sys/back.c
HARDENED_SOURCES = sys/chance.c core/front/guard.c core/front/guarded.c
LIB_SOURCES = $(filter-out $(RUNTIME_ASM),$(wildcard arch/$(ARCH)/*.[cS])) \
	$(filter-out core/malloc/% core/field/% core/small/% core/front/sample.c $(AMALGAMATED) $(HARDENED_SOURCES),$(wildcard sys/*.c core/*/*.c core/*/*/*.c))
# libashlar-field.a: heaps in the caller's memory alone.
FIELD_SOURCES = arch/$(ARCH)/memory.c sys/panic.c sys/text.c core/base/misuse.c \
	$(filter-out %/arena_list.c,$(wildcard core/arena/*.c)) core/field/field.c
# libashlar-small.a: the same heap over memory from the system.
SMALL_SOURCES = $(filter-out $(RUNTIME_ASM),$(wildcard arch/$(ARCH)/*.[cS])) $(addprefix sys/,$(addsuffix .c,pages pages_map pages_move panic process text)) \
	$(addprefix core/base/,bits.c misuse.c version.c) $(filter-out %/arena_list.c,$(wildcard core/arena/*.c)) core/front/hook.c $(wildcard core/small/*.c)
# libashlar-core.a: everything but what asks Linux; instead what asks the program.
CORE_SOURCES = sys/panic.c $(wildcard sys/system/*.c)
# Those that differ where allocations are sampled (core/front/sample.h).
SAMPLE_SOURCES = $(addprefix core/front/,alloc.c zalloc.c slot.c resize.c remote.c sample.c)
SLOW = $(filter-out $(FAST),$(basename $(filter %.c,$(LIB_SOURCES))))
# Those who call the kernel by other calls than the library's.
CALLS       = $(addprefix arch/$(ARCH)/,thread.S syscall_runtime.S syscall.S)
START_SOURCES = $(CALLS) $(wildcard sys/start/*.c) core/malloc/new.c
RT_SOURCES  = $(CALLS) $(wildcard tests/runtime/*.c)
# What an archive has as objects of their own: names that a program may have itself, what few programs call, and
# ash_heap_walk, as its object says.  All else is one object (the rule for whole/).
APART = core/store/data/global_names core/diagnostics/heap_walk arch/$(ARCH)/memory sys/start/cxx core/malloc/new

# One object folder per set of flags, named by its product; assembly has the same everywhere.
#
#	lib     libashlar.a, libashlar_names.a
#	small   libashlar-small.a: fewest bytes, no thread-local storage
#	core    libashlar-core.a, with most of lib: without sys/, for a system of the program's own
#	field   libashlar-field.a: heaps in the caller's memory alone, also for CPUs of 32 bits
#	sample  libashlar-sample.a: what differs from libashlar.a
#	malloc  libashlar_malloc.a: of the amalgamation
#	so      libashlar_malloc.so: of the amalgamation
#	hardened, hardened-so  libashlar_malloc-hardened.a, .so: the same, hardened
#	profile libashlar_profile.so: the same, with samples, and tools/profile
#	shared  libashlar.so: of the amalgamation
#	start   libashlar_start.a
#	prog    tests, tools and their runtime
#	asm     assembly, for all but the amalgamation
objects      = $(patsubst %.c,$(BUILD)/$1/%.o,$(filter %.c,$2)) \
	$(patsubst %.S,$(BUILD)/asm/%.o,$(filter %.S,$2))
LIB_OBJECTS  = $(call objects,lib,$(LIB_SOURCES))
SMALL_OBJECTS = $(call objects,small,$(SMALL_SOURCES))
CORE_OBJECTS = $(filter-out $(BUILD)/lib/sys/% %/syscall.o,$(LIB_OBJECTS)) $(call objects,lib,sys/text.c) \
	$(call objects,core,$(CORE_SOURCES))
FIELD_OBJECTS = $(call objects,field,$(FIELD_SOURCES))
SAMPLE_OBJECTS = $(call objects,sample,$(SAMPLE_SOURCES)) \
	$(call objects,lib,$(filter-out $(SAMPLE_SOURCES),$(LIB_SOURCES)))
START_OBJECTS = $(call objects,start,$(START_SOURCES))
RT_OBJECTS   = $(call objects,prog,$(RT_SOURCES))
# tests/README.md says what is in the folders of tests; those that see core's headers:
INNER_TESTS = inner program malloc hardened small field system long
test_sources = $(foreach folder,$1,$(wildcard tests/$(folder)/*.c tests/$(folder)/*/*.c))
# The traces are replayed by a test too.
TEST_OBJECTS = $(call objects,prog,$(call test_sources,api inner) tools/demo/steps.c tools/demo/replay.c)
# The public calls on the default heap, against the other libraries as they are shipped.
DEFAULT_TESTS = $(addprefix tests/api/,$(addsuffix .c,api align aligned expand expand_remote fork large misuse misuse_threads resize \
	shadow signal threads)) tools/demo/steps.c
MALLOC_TESTS = $(call objects,prog,$(DEFAULT_TESTS) tests/api/misuse_aligned.c tests/api/misuse_released.c tests/api/trim.c \
	tests/api/zalloc.c tests/api/zalloc_taken.c tests/inner/base/misuse_end.c tests/inner/thread/vfork_stepped.c $(wildcard tests/malloc/*.c))
# What is the same there; of the files' other tests see hardened_differs in tools/test.
HARDENED_TESTS = $(call objects,prog,$(addprefix tests/api/,$(addsuffix .c,api align aligned fork large larger resize shadow \
	signal threads zalloc)) tests/malloc/names.c tools/demo/steps.c $(wildcard tests/hardened/*.c))
# Heaps are not guarded, but their slabs are in a hardened library.
HARDENED_HEAPS = $(call objects,prog,tests/api/heap_aligned.c tests/api/heap_use.c)
SMALL_TESTS = $(call objects,prog,$(filter-out tests/api/misuse.c,$(DEFAULT_TESTS)) $(wildcard tests/small/*.c))
FIELD_TESTS = $(call objects,prog,tests/api/heap_in.c tests/api/heap_in_shadow.c tests/api/heap_use.c \
	tests/inner/arena/arena_each_step.c $(wildcard tests/field/*.c))
# Without those that ask about the kernel's memory, or for more than there is.
SYSTEM_TESTS = $(call objects,prog,$(filter-out %/align.c %/fork.c %/large.c,$(DEFAULT_TESTS)) $(wildcard tests/system/*.c))
SAMPLE_TESTS = $(call objects,prog,$(call test_sources,sample) tests/api/api.c)
SERVER_OBJECTS = $(call objects,prog,$(wildcard tools/shared/*.c))
LOOK_OBJECTS = $(call objects,prog,$(wildcard tools/look/*.c))
DEMO_OBJECTS = $(call objects,prog,$(filter-out %/ancestor.c,$(wildcard tools/demo/*.c)))

LIBRARY  = $(BUILD)/libashlar.a
SMALL_LIBRARY = $(BUILD)/libashlar-small.a
CORE_LIBRARY = $(BUILD)/libashlar-core.a
FIELD_LIBRARY = $(BUILD)/libashlar-field.a
SAMPLE_LIBRARY = $(BUILD)/libashlar-sample.a
LIBRARY_SO = $(BUILD)/libashlar.so
NAMES_LIBRARY = $(BUILD)/libashlar_names.a
START    = $(BUILD)/libashlar_start.a
# The tests' own: printing, the test runner, ...; and the libraries as separate objects, whose
# names tests of the insides see.
RUNTIME  = $(BUILD)/runtime.a $(START)
SEPARATE = $(BUILD)/parts.a
SMALL_SEPARATE = $(BUILD)/parts-small.a
FIELD_SEPARATE = $(BUILD)/parts-field.a
HEADERS  = $(patsubst core/include/%,$(BUILD)/include/%,$(wildcard core/include/*.h core/include/*.hpp)) \
	$(BUILD)/include/ashlar_start.h
TESTS    = $(addprefix $(BUILD)/tests/,all malloc hardened hardened-heaps small field system sample $(patsubst tests/program/%.c,%,$(wildcard tests/program/*.c)))
LONG     = $(addprefix $(BUILD)/long/,steps forged full look_emulated $(FULL_CHECKS) $(filter-out forged,$(patsubst tests/long/%.c,%,$(wildcard tests/long/*.c))))
DEMO     = $(if $(DEMO_OBJECTS),$(BUILD)/demo $(BUILD)/ancestor $(BUILD)/demo-shared)

# Ashlar as malloc: one object, made of the amalgamation; the operators of C++; in the archive
# malloc_info, which alone needs something of a C library.
AMALGAMATION   = $(BUILD)/amalgamation/ashlar.c
MALLOC         = $(BUILD)/libashlar_malloc.a
MALLOC_SO      = $(BUILD)/libashlar_malloc.so
MALLOC_OBJECTS = $(addprefix $(BUILD)/malloc/,ashlar_malloc.o ashlar_new.o ashlar_xml.o)
SO_OBJECTS     = $(BUILD)/so/ashlar_malloc.o $(BUILD)/so/ashlar_new.o

# The same, hardened.
HARDENED    = $(BUILD)/libashlar_malloc-hardened.a
HARDENED_SO = $(BUILD)/libashlar_malloc-hardened.so

# The same, with what makes heap profiles of samples: a tool, for programs with a C library.
PROFILE_SO     = $(BUILD)/libashlar_profile.so
PROFILE_OBJECTS = $(BUILD)/profile/ashlar_malloc.o $(BUILD)/so/ashlar_new.o \
	$(patsubst tools/profile/%.c,$(BUILD)/profile/%.o,$(wildcard tools/profile/*.c))

all: $(LIBRARY) $(SMALL_LIBRARY) $(SAMPLE_LIBRARY) $(CORE_LIBRARY) $(FIELD_LIBRARY) $(NAMES_LIBRARY) $(START) $(LIBRARY_SO) $(HEADERS) $(MALLOC) $(MALLOC_SO) $(HARDENED) $(HARDENED_SO) \
	$(PROFILE_SO) $(LOOK)

amalgamation: $(AMALGAMATION)

# The head of this file.
help:
	sed -n '3,/^$$/s/^#\t\{0,1\}//p' Makefile

field: $(FIELD_LIBRARY) $(HEADERS)

programs: all $(if $(TARGET),,asan) $(TESTS) $(DEMO) $(BUILD)/tests/filtered

PREFIX  = /usr/local
LIBDIR  = $(PREFIX)/lib
DESTDIR =
INSTALL = BUILD=$(BUILD) PREFIX=$(PREFIX) LIBDIR=$(LIBDIR) DESTDIR=$(DESTDIR) sh tools/install
install: all
	$(INSTALL)/install

uninstall: all
	$(INSTALL)/uninstall

deb: all
	ARCH=$(ARCH) $(INSTALL)/deb

dist:
	BUILD=$(BUILD) sh tools/install/dist

setup:
	sh tools/setup
	$(if $(filter setup,$(MAKECMDGOALS)),echo 'setup: all that the build and the tests need is here')

# Scripts that make test has less of.
FULL_CHECKS = amalgamation compiler malloc install

# What runs for minutes ends with make, with all that it started.
GUARD = exec sh tools/guard
# $(call need,TOOL,PACKAGE): what a target needs that make setup does not install.
need = command -v $1 >/dev/null || { echo 'make $@ needs $1; install it with: sudo apt-get install $2' >&2; exit 1; }
CPUS = $(filter-out $(ARCH),x86_64 aarch64 riscv64)
RUN_TESTS = BUILD=$(BUILD) MAKE="$(MAKE)" PROGRAMS="$(TESTS)" ARCH=$(ARCH) CPUS="$(CPUS)"

# The tools must be there before anything is compiled: hence the second make.
test: setup
	$(MAKE) --no-print-directory programs
	$(if $(EMULATOR),,$(foreach cpu,$(CPUS),$(MAKE) --no-print-directory ARCH=$(cpu) BUILD=$(BUILD)/$(cpu) \
		$(addprefix $(BUILD)/$(cpu)/,$(addprefix tests/,all arch tls_large) steps.so libashlar_malloc.so libashlar_profile.so) &&) :)
	$(RUN_TESTS) $(if $(EMULATOR),SECTIONS=emulated) $(GUARD) sh tools/test

# Every test program of every CPU, under QEMU.  With the large-system atomics the library alone is built: the tests' own
# objects are those of aarch64.
ARCHES = $(ARCH) $(CPUS)
test-arch: setup
	$(MAKE) --no-print-directory programs
	$(foreach cpu,$(CPUS),$(MAKE) --no-print-directory ARCH=$(cpu) BUILD=$(BUILD)/$(cpu) programs \
		$(BUILD)/$(cpu)/steps.so &&) :
	$(if $(filter aarch64,$(CPUS)),mkdir -p $(BUILD)/aarch64-lse && ln -sfn ../aarch64/prog $(BUILD)/aarch64-lse/prog)
	$(if $(filter aarch64,$(CPUS)),$(MAKE) --no-print-directory ARCH=aarch64 FOR_aarch64=-march=armv8.1-a \
		BUILD=$(BUILD)/aarch64-lse $(addprefix $(BUILD)/aarch64-lse/,tests/all libashlar.a))
	$(RUN_TESTS) SECTIONS="$(ARCHES:%=every_%)" $(GUARD) sh tools/test

# Single steps where programs have no trap flag: make steps ARCH=aarch64 STEPS=all
STEPS =
steps: setup
	$(MAKE) --no-print-directory $(BUILD)/tests/all $(BUILD)/steps.so
	BUILD=$(BUILD) $(GUARD) sh tools/steps $(ARCH) $(STEPS)

# Kernels of their own, under qemu-system; each boots once for each list in tests/kernel/boots.
KERNELS = x86_64 aarch64 riscv64
BOOTS = $(wildcard tests/kernel/boots/*)
POWER = ext4 xfs btrfs
CUTS  = 200
setup-kernel:
	$(foreach kernel,$(KERNELS),sh tests/kernel/setup $(kernel) $(BUILD)/kernels &&) :

# What cannot be had here is said, and its boots are skipped.
test-kernel: setup
	$(foreach kernel,$(KERNELS),sh tests/kernel/setup $(kernel) $(BUILD)/kernels || true;)
	$(MAKE) --no-print-directory programs kernel-programs
	$(foreach cpu,$(filter-out $(ARCH),$(filter aarch64 riscv64,$(KERNELS))),$(MAKE) --no-print-directory ARCH=$(cpu) \
		BUILD=$(BUILD)/$(cpu) programs kernel-programs &&) :
	BUILD=$(BUILD) KERNELS="$(KERNELS)" BOOTS="$(BOOTS)" POWER="$(POWER)" CUTS="$(CUTS)" $(GUARD) sh tests/kernel/all

test-long: setup
	$(MAKE) --no-print-directory $(LONG)
	$(RUN_TESTS) PROGRAMS="$(LONG)" SECTIONS="first second rest" $(GUARD) sh tools/test

demo: setup
	$(MAKE) --no-print-directory $(BUILD)/demo $(BUILD)/ancestor
	BUILD=$(BUILD) ARCH=$(ARCH) EMULATOR="$(EMULATOR)" sh tools/demo/run $(BUILD)/demo

demo-shared: setup
	$(MAKE) --no-print-directory $(BUILD)/demo-shared
	BUILD=$(BUILD) $(GUARD) sh tools/shared/run $(SECONDS)

# With the C libraries and programs that are here; PARTS="linked real servers origin deb builds recipes musl"
PARTS =
test-programs: setup
	$(MAKE) --no-print-directory programs
	BUILD=$(BUILD) $(GUARD) sh tools/programs/run $(PARTS)

setup-programs:
	BUILD=$(BUILD) sh tools/programs/setup

# What tsan, model and tests/check/gdb.sh need besides; without it they are skipped.
setup-checkers:
	CC="$(CC)" sh tools/setup checkers

# What make test does thinly, in full and with other seeds: make soak SEEDS="1 2 3"
SEEDS = 1 2
soak: setup
	$(MAKE) --no-print-directory programs
	for seed in $(SEEDS); do \
		STEPS_SOAK=1 RT_SEED=$$seed $(BUILD)/tests/all steps_ && \
		STEPS_SOAK=1 RT_SEED=$$seed $(BUILD)/tests/all death_ && \
		STEPS_SOAK=1 RT_SEED=$$seed $(BUILD)/tests/all shared_sums && \
		RT_SEED=$$seed $(BUILD)/tests/all shadow && \
		RT_SEED=$$seed $(BUILD)/tests/all threads_ && \
		STEPS_SOAK=1 RT_SEED=$$seed $(BUILD)/tests/power || exit 1; \
	done

bench bench-footprint: setup
	$(MAKE) --no-print-directory all $(RUNTIME) $(BUILD)/tests/hello
	CC="$(CC)" BUILD=$(BUILD) MAKE="$(MAKE)" sh tools/bench/build
	$(if $(filter bench,$@),BUILD=$(BUILD) sh tools/bench/compare $(ROUNDS))
	CC="$(CC)" BUILD=$(BUILD) MAKE="$(MAKE)" sh tools/bench/footprint

bench-cost: setup
	$(call need,valgrind,valgrind)
	$(MAKE) --no-print-directory $(BUILD)/libashlar_malloc.so $(RUNTIME) $(LIBRARY) $(HEADERS)
	CC="$(CC)" BUILD=$(BUILD) MAKE="$(MAKE)" sh tools/bench/build
	BUILD=$(BUILD) sh tools/bench/cost

bench-peaks: setup
	$(call need,$(PYTHON),python3)
	$(MAKE) --no-print-directory all $(RUNTIME)
	CC="$(CC)" BUILD=$(BUILD) MAKE="$(MAKE)" sh tools/bench/build
	BUILD=$(BUILD) sh tools/bench/peaks $(ROUNDS)

# Puts what the benchmarks left into tools/bench/accepted, and from there into BENCHMARKS.md and README.md.
bench-accept:
	BUILD=$(BUILD) sh tools/bench/accept

# Against the peers that are installed; the hosted twin needs the host's headers.
bench-seeds: setup
	$(MAKE) --no-print-directory $(BUILD)/bench/seeds
	$(CC) -O2 -fno-builtin -DHOSTED -Itests/runtime -pthread tools/bench/seeds*.c tools/bench/host.c \
		-o $(BUILD)/bench/seeds-hosted || rm -f $(BUILD)/bench/seeds-hosted
	BUILD=$(BUILD) sh tools/bench/run $(ROUNDS)

bench-threads: setup
	$(MAKE) --no-print-directory $(BUILD)/bench/threads
	CC="$(CC)" BUILD=$(BUILD) sh tools/bench/threads $(ROUNDS)

bench-scale: setup
	$(MAKE) --no-print-directory $(BUILD)/bench/scale
	CC="$(CC)" BUILD=$(BUILD) sh tools/bench/scale $(ROUNDS)

bench-words: setup
	$(MAKE) --no-print-directory $(SEPARATE) $(RUNTIME) $(HEADERS)
	CC="$(CC)" BUILD=$(BUILD) MAKE="$(MAKE)" sh tools/bench/words/run $(MEASURED)

bench-limits: setup
	$(MAKE) --no-print-directory $(BUILD)/bench/limits
	CC="$(CC)" BUILD=$(BUILD) sh tools/bench/limits $(ROUNDS)

bench-shared: setup
	$(MAKE) --no-print-directory $(BUILD)/bench/shared
	BUILD=$(BUILD) sh tools/bench/shared $(ROUNDS)

tsan:
	CC="$(CC)" BUILD=$(BUILD) $(GUARD) sh tools/tsan/run $(SECONDS)

# The same with a heap shared by processes, which takes longer to be sure of: not among what CI runs.
tsan-shared:
	SHARED=1 CC="$(CC)" BUILD=$(BUILD) $(GUARD) sh tools/tsan/run $(SECONDS)

tsan-plant:
	CC="$(CC)" $(GUARD) sh tools/tsan/plant

# FILES="bits.c map.c" SAMPLE=1/6 SHARD=1/4 JOBS=2 SLOW=1; see tools/mutants/run
FILES =
mutants: setup
	$(call need,$(PYTHON),python3)
	BUILD=$(BUILD) $(PYTHON) tools/mutants/run $(FILES)

# What the tree may have of lines, files, words, and how far a call goes.
figures: setup
	$(call need,$(PYTHON),python3)
	$(call need,valgrind,valgrind)
	$(PYTHON) tools/figures

golden-accept: programs
	! command -v clang-19 >/dev/null || \
		$(MAKE) --no-print-directory CC=clang-19 BUILD=$(BUILD)/clang-19 programs
	sh tools/golden accept $(BUILD) $(BUILD)/clang-19 $(addprefix $(BUILD)/,$(CPUS))

model:
	BUILD=$(BUILD) CC="$(CC)" $(GUARD) sh tools/model/run

# For scripts that build programs of their own: eval "$(make -s flags)"
flags:
	echo 'COMPILE="$(CC) $(PROG_FLAGS)" LINK="$(LINK_ASHLAR)" LIBRARY_FLAGS="$(LIB_FLAGS)"'

format:
	clang-format -i $$(git ls-files '*.c' '*.h' | grep -v /stub.h)

clean:
	rm -rf $(BUILD)

# ---- the library: many threads, and one (no locked instructions) ----

# One object of all, in which only names that begin with ash are left for others to see:
# a program may have a class_of of its own.  Sections stay apart, for --gc-sections.
# lld 14 keeps a common symbol, and adds a section of its size that nothing refers to: COMMON.
# $(call archive,NAME,ARCHIVE,OBJECTS,NAMES): names that begin with NAMES, or ash
define archive
$(BUILD)/whole/$1.o: $(filter-out $(foreach apart,$(APART),$(BUILD)/%/$(apart).o),$3) $(BUILD)/sources Makefile
	mkdir -p $$(@D)
	echo 'LINK $$@'
	$(CC) $(TARGET) -nostdlib -r -fuse-ld=lld $$(filter %.o,$$^) -o $$@.new
	$(OBJCOPY) -w --keep-global-symbol='$(or $4,ash)*' -R .llvm_addrsig -R COMMON $$@.new $$@
	rm $$@.new
$2: $(BUILD)/whole/$1.o $(filter $(foreach apart,$(APART),$(BUILD)/%/$(apart).o),$3)
endef
$(eval $(call archive,ashlar,$(LIBRARY),$(LIB_OBJECTS)))
$(eval $(call archive,ashlar_small,$(SMALL_LIBRARY),$(SMALL_OBJECTS)))
$(eval $(call archive,ashlar_sample,$(SAMPLE_LIBRARY),$(SAMPLE_OBJECTS)))
$(eval $(call archive,ashlar_core,$(CORE_LIBRARY),$(CORE_OBJECTS)))
$(eval $(call archive,ashlar_field,$(FIELD_LIBRARY),$(FIELD_OBJECTS)))
$(eval $(call archive,ashlar_start,$(START),$(filter-out %/start/thread.o,$(START_OBJECTS))))
# Threads apart, with what they call.
$(eval $(call archive,ashlar_threads,$(START),$(filter-out %/begin.o,$(START_OBJECTS)),ash_thread))
$(START): $(BUILD)/asm/arch/$(ARCH)/start.o $(BUILD)/lib/arch/$(ARCH)/memory.o
$(NAMES_LIBRARY): $(call objects,lib,core/malloc/ancestor.c)
$(BUILD)/runtime.a: $(RT_OBJECTS)
$(SEPARATE): $(LIB_OBJECTS)
$(SMALL_SEPARATE): $(SMALL_OBJECTS)
$(FIELD_SEPARATE): $(FIELD_OBJECTS)

# libashlar.a with what tells AddressSanitizer, MemorySanitizer and valgrind of its blocks: the public calls are renamed, and
# others stand before them.  The ancestor's calls stay apart, and call those.
ASAN       = $(BUILD)/asan/libashlar-asan.a
ASAN_CALLS = alloc zalloc aligned_alloc aligned_zalloc resize aligned_resize expand release release_sized \
	release_aligned_sized usable_size trim trim_step thread_detach find stats stats_class stats_threads \
	heap_zalloc heap_aligned_zalloc heap_alloc_into heap_resize heap_aligned_resize heap_stats heap_walk
ASAN_WRAPS = region_create pages_reserve pages_release pages_cut
ASAN_LINK  = $(CC) $(TARGET) -nostdlib -r -fuse-ld=lld $(ASAN_WRAPS:%=-Wl,--wrap=%)
asan: $(ASAN)
ASAN_OWN   = $(patsubst tools/sanitize/%.c,$(BUILD)/asan/%.o,$(wildcard tools/sanitize/*.c))
$(BUILD)/asan/%.o: tools/sanitize/%.c Makefile
	mkdir -p $(@D)
	echo 'CC   $<'
	$(CC) $(filter-out $(NO_HEADERS),$(LIB_FLAGS)) -c $< -o $@
$(ASAN): $(ASAN_OWN) $(LIB_OBJECTS) $(BUILD)/lib/arch/$(ARCH)/memory.o $(BUILD)/sources
	echo 'AR   $@'
	rm -f $@
	$(ASAN_LINK) $(filter-out $(ASAN_OWN) %/global_names.o,$(filter %.o,$^)) -o $(@D)/all.o
	$(OBJCOPY) $(foreach call,$(ASAN_CALLS),--redefine-sym ash_$(call)=plain_$(call)) $(@D)/all.o $(@D)/plain.o
	$(ASAN_LINK) $(@D)/plain.o $(ASAN_OWN) -o $(@D)/all.o
	$(OBJCOPY) -w --keep-global-symbol='ash*' -R .llvm_addrsig -R COMMON $(@D)/all.o $(@D)/ashlar.o
	$(AR) qcsD $@ $(@D)/ashlar.o $(filter %/global_names.o,$^)

# ---- Ashlar as malloc ----

.PHONY: amalgamation crate install uninstall dist deb test-programs setup-programs setup-checkers

$(AMALGAMATION): tools/amalgamate core/amalgamation.c $(BUILD)/sources $(filter-out %_runtime.S,$(wildcard \
		$(addsuffix /*.[chS],arch arch/* sys core/* core/*/*)))
	mkdir -p $(@D)
	echo 'MAKE $@'
	sh tools/amalgamate $(@D)

# Staged with the amalgamation in it, packed, and built once from the package.
crate: $(AMALGAMATION)
	BUILD=$(BUILD) sh tools/rust/stage $(BUILD)/crate
	cd $(BUILD)/crate && cargo package --offline --allow-dirty --quiet

# Its warnings were given when the sources were compiled one by one.
MALLOC_FLAGS = $(filter-out -Werror -W%,$(BASE)) $(GUARDED) $(PLAIN_LOOPS) -falign-functions=1 -DASHLAR_MALLOC
$(BUILD)/malloc/%.o: KIND = -fPIE -ftls-model=local-exec $(NO_SMALL)
# No table of jumps: the linker makes those without unwind tables.
$(BUILD)/so/%.o: KIND = -fPIC -fno-plt -ftls-model=initial-exec -DASHLAR_SO
# Frame pointers: tools/profile/stack.c.
$(BUILD)/profile/%.o: KIND = -fPIC -fno-plt -ftls-model=initial-exec -DASHLAR_SO -DASHLAR_SAMPLE -fno-omit-frame-pointer \
	$(if $(filter riscv64,$(ARCH)),-DFRAME_RECORD=-16) $(if $(filter aarch64,$(ARCH)),-DADDRESS_BITS=48)

$(BUILD)/hardened/%.o: KIND = -fPIE -ftls-model=local-exec $(NO_SMALL) -DASHLAR_HARDENED
$(BUILD)/hardened-so/%.o: KIND = -fPIC -fno-plt -ftls-model=initial-exec -DASHLAR_SO -DASHLAR_HARDENED
$(addprefix $(BUILD)/,$(addsuffix /ashlar_malloc.o,malloc so hardened hardened-so profile)): $(AMALGAMATION) Makefile
	mkdir -p $(@D)
	echo 'CC   $@'
	$(CC) $(MALLOC_FLAGS) $(KIND) -c $< -o $@

# With the tables that an exception needs on its way through.
$(BUILD)/malloc/ashlar_new.o $(BUILD)/so/ashlar_new.o: core/malloc/new.c Makefile
	mkdir -p $(@D)
	echo 'CC   $@'
	$(CC) $(BASE) $(GUARDED) -Isys -Icore/include -fexceptions $(KIND) -DASHLAR_MALLOC -c $< -o $@

$(BUILD)/malloc/ashlar_xml.o: core/malloc/xml.c Makefile
	mkdir -p $(@D)
	echo 'CC   $@'
	$(CC) $(BASE) $(GUARDED) -Isys -Icore/include $(KIND) -c $< -o $@

$(BUILD)/profile/%.o: tools/profile/%.c Makefile | $(HEADERS)
	mkdir -p $(@D)
	echo 'CC   $<'
	$(CC) $(BASE) $(GUARDED) -fvisibility=hidden -I$(BUILD)/include -Icore/include $(KIND) -c $< -o $@

$(MALLOC): $(MALLOC_OBJECTS)
$(HARDENED): $(BUILD)/hardened/ashlar_malloc.o $(filter-out %/ashlar_malloc.o,$(MALLOC_OBJECTS))
$(MALLOC) $(HARDENED):
	echo 'AR   $@'
	rm -f $@
	$(AR) qcsD $@ $^

# What programs ask for: libashlar.so.1.
MAJOR = $(firstword $(subst ., ,$(shell sh tools/install/version)))
# A program that is linked with -Wl,-rpath,BUILD finds it by this name.
NAMED = ln -sf $(@F) $@.$(MAJOR)

# The calls of libashlar.a for programs with a C library, of the amalgamation, too; a program's own
# hooks and ash_defaults replace those in it.  nodelete: its memory would stay.
$(BUILD)/shared/%.o: KIND = -fPIC -fno-plt -ftls-model=initial-exec
$(BUILD)/shared/ashlar.o $(BUILD)/hardened/ashlar.o: $(AMALGAMATION) Makefile
	mkdir -p $(@D)
	echo 'CC   $@'
	$(CC) $(filter-out -DASHLAR_MALLOC,$(MALLOC_FLAGS)) $(KIND) -c $< -o $@

$(LIBRARY_SO): $(BUILD)/shared/ashlar.o core/version.map
	echo 'LINK $@'
	$(CC) $(TARGET) -shared -nostdlib -fuse-ld=lld -Wl,-soname,$(@F).$(MAJOR) -Wl,--version-script=core/version.map \
		-Wl,-z,nodelete -Wl,-z,now -Wl,--no-rosegment -Wl,--gc-sections -Wl,--build-id=none \
		-Wl,--fatal-warnings $< -o $@
	$(NAMED)

# nodelete: threads hold the address of a destructor of ours.  separate-loadable-segments: else the
# constants that hold addresses begin where the code ends, and may be on two pages that are written.
$(MALLOC_SO): $(SO_OBJECTS)
$(HARDENED_SO): $(BUILD)/hardened-so/ashlar_malloc.o $(filter-out %/ashlar_malloc.o,$(SO_OBJECTS))
$(PROFILE_SO): $(PROFILE_OBJECTS)
$(MALLOC_SO) $(HARDENED_SO) $(PROFILE_SO): core/malloc/version.map core/malloc/dynamic.list core/malloc/sections.ld tools/prereloc \
		arch/$(ARCH)/cpu.h
	echo 'LINK $@'
	$(CC) $(TARGET) -shared -nostdlib -fuse-ld=lld -Wl,-soname,$(@F).$(MAJOR) \
		-Wl,--version-script=core/malloc/version.map -Wl,--dynamic-list=core/malloc/dynamic.list \
		-Wl,-z,nodelete -Wl,-z,now -Wl,--no-rosegment -Wl,-z,separate-loadable-segments \
		-Wl,--gc-sections -Wl,--build-id=none \
		-Wl,--fatal-warnings -Wl,-T,core/malloc/sections.ld $(filter %.o,$^) -o $@
	$(if $(filter x86_64,$(ARCH)),sh tools/prereloc $@)
	$(NAMED)

# For QEMU on this machine, whatever the CPU of the programs is.
$(BUILD)/steps.so: tests/support/steps_plugin.c tests/support/stepper_calls.h
	echo 'LINK $@'
	mkdir -p $(@D)
	$(CC) -std=c17 -ffreestanding -nostdlib $(NO_HEADERS) -O2 $(WARNINGS) \
		-fvisibility=hidden -fPIC -shared -fuse-ld=lld -Itests $< -o $@

# Changes when a source comes or goes: what is made of all of them is then made again.  Two makes may be here at a time.
$(BUILD)/sources: FORCE
	mkdir -p $(@D)
	echo $(LIB_SOURCES) $(START_SOURCES) $(RT_SOURCES) $(TEST_OBJECTS) $(MALLOC_TESTS) $(HARDENED_TESTS) $(SMALL_TESTS) $(SAMPLE_TESTS) $(HARDENED_HEAPS) $(FIELD_OBJECTS) $(CORE_OBJECTS) $(FIELD_TESTS) $(SYSTEM_TESTS) $(DEMO_OBJECTS) $(SERVER_OBJECTS) $(LOOK_OBJECTS) >$@.$$$$; \
	if cmp -s $@.$$$$ $@; then rm $@.$$$$; else mv $@.$$$$ $@; fi

# Anew each time, or members whose source is gone would stay; q and not r, which would
# replace one member by another of the same name from another folder.
$(LIBRARY) $(SMALL_LIBRARY) $(SAMPLE_LIBRARY) $(CORE_LIBRARY) $(FIELD_LIBRARY) $(NAMES_LIBRARY) $(START) $(SEPARATE) $(SMALL_SEPARATE) $(FIELD_SEPARATE) $(BUILD)/runtime.a: $(BUILD)/sources
	mkdir -p $(@D)
	echo 'AR   $@'
	rm -f $@
	$(AR) qcsD $@ $(filter %.o,$^)

$(BUILD)/include/%.h: sys/start/%.h
	mkdir -p $(@D)
	echo 'COPY $@'
	cp $< $@

$(BUILD)/include/%: core/include/%
	mkdir -p $(@D)
	echo 'COPY $@'
	cp $< $@

define library_object
$(BUILD)/$1/%.o: %.c Makefile
	mkdir -p $$(@D)
	echo 'CC   $$< ($1)'
	$$(CC) $$(LIB_FLAGS) $$(KIND) -c $$< -o $$@
endef
$(foreach folder,lib small sample start core field,$(eval $(call library_object,$(folder))))
$(BUILD)/small/%.o: KIND = -DASHLAR_SMALL $(if $(filter $(SMALL_OS),$@),-Os $(NO_RED_ZONE),$(FOR_SIZE))
$(BUILD)/sample/%.o: KIND = -DASHLAR_SAMPLE
$(BUILD)/start/%.o: KIND = -Isys/start $(FOR_SIZE)
$(BUILD)/core/%.o: KIND = -DASHLAR_SYSTEM $(FOR_SIZE)
$(BUILD)/field/%.o: KIND = -DASHLAR_FIELD $(if $(filter $(FIELD_OS),$@),-Os,$(FOR_SIZE)) $(FOR_FIELD)
$(SLOW:%=$(BUILD)/lib/%.o) $(SLOW:%=$(BUILD)/sample/%.o): LIB_FLAGS += $(FOR_SIZE)
$(BUILD)/lib/core/front/resize.o $(BUILD)/sample/core/front/resize.o: LIB_FLAGS += $(NO_OUTLINER)

$(BUILD)/asm/%.o: %.S Makefile
	mkdir -p $(@D)
	echo 'AS   $<'
	$(CC) $(ASM_FLAGS) -c $< -o $@

# ---- programs ----

# The runtime's own folder sees the raw system calls; so do tests of the insides.
$(BUILD)/prog/tests/runtime/%.o $(BUILD)/prog/tests/kernel/%.o: PROG_FLAGS += -Iarch/$(ARCH)
# The smallest programs print, and are weighed: tests/check/link.sh.
$(BUILD)/prog/tests/runtime/format.o: PROG_FLAGS += $(FOR_SIZE)
$(INNER_TESTS:%=$(BUILD)/prog/tests/%/%.o): PROG_FLAGS += $(INNER)
$(BUILD)/prog/tests/api/traces.o: PROG_FLAGS += -Itools/demo

# It reads what others may have forged: an index out of bounds is a trap, and a test that fails.
$(BUILD)/prog/tools/look/%.o: PROG_FLAGS += $(IN_BOUNDS)

$(BUILD)/prog/%.o: %.c Makefile | $(HEADERS)
	mkdir -p $(@D)
	echo 'CC   $<'
	$(CC) $(PROG_FLAGS) -c $< -o $@

# Where pages have several sizes: those of a faked kernel, RT_PAGE=65536 (tests/runtime/page.c).
FAKED = $(if $(filter-out x86_64,$(ARCH)),mmap munmap madvise mremap mincore mprotect msync)
$(BUILD)/tests/all: LINK_ASHLAR += $(FAKED:%=-Wl,--wrap=arch_%)

$(BUILD)/tests/all: $(TEST_OBJECTS) $(SEPARATE)

# The tests' own use of what the archive keeps to itself.
MALLOC_ASIDE = $(call objects,lib,arch/$(ARCH)/memory.c arch/$(ARCH)/syscall.S core/base/class.c)
$(BUILD)/tests/malloc: $(MALLOC_TESTS) $(MALLOC_ASIDE) $(MALLOC)
$(BUILD)/tests/hardened: $(HARDENED_TESTS) $(MALLOC_ASIDE) $(HARDENED)
$(BUILD)/tests/hardened-heaps: $(HARDENED_HEAPS) $(BUILD)/hardened/ashlar.o
$(BUILD)/tests/small: $(SMALL_TESTS) $(SMALL_SEPARATE)

# The public headers' tests with the archive, whose code is apart from the runtime's: for tests/check/filter.sh.
$(BUILD)/tests/filtered: LINK_ASHLAR += -Wl,-Map=$@.map
$(BUILD)/tests/filtered: $(filter-out $(BUILD)/prog/tests/inner/%,$(TEST_OBJECTS)) $(LIBRARY)

# What one test needs of the whole library.
FIELD_ASIDE = $(call objects,lib,sys/pages.c sys/pages_map.c)
$(BUILD)/tests/field: LINK_ASHLAR = $(LINK) -Wl,--wrap=ash_heap_create_in
$(BUILD)/tests/field: $(FIELD_TESTS) $(FIELD_ASIDE) $(FIELD_SEPARATE)
$(BUILD)/tests/system: $(SYSTEM_TESTS) $(CORE_LIBRARY)
$(BUILD)/tests/sample: $(SAMPLE_TESTS) $(SAMPLE_LIBRARY)
$(addprefix $(BUILD)/tests/,all filtered malloc hardened hardened-heaps small field system sample): $(RUNTIME) $(BUILD)/sources linker.ld
	mkdir -p $(@D)
	echo 'LINK $@'
	$(LINK_ASHLAR) $(filter %.o,$^) $(filter %.a,$^) -o $@

# Ashlar's ancestor's example, a program of its own beside the demonstration.
$(BUILD)/demo: $(DEMO_OBJECTS) $(BUILD)/sources
$(BUILD)/ancestor: $(BUILD)/prog/tools/demo/ancestor.o
$(BUILD)/bench/seeds: $(call objects,prog,$(wildcard tools/bench/seeds_*.c))
$(BUILD)/bench/%: $(BUILD)/prog/tools/bench/%.o $(RUNTIME) $(LIBRARY) linker.ld
	mkdir -p $(@D)
	echo 'LINK $@'
	$(LINK_ASHLAR) $(filter %.o %.a,$^) -o $@

# The first process of the kernels that run tests (tests/kernel/run), and what only they run.
KERNEL_PROGRAMS = $(patsubst tests/kernel/%.c,$(BUILD)/kernel/%,$(wildcard tests/kernel/*.c))
kernel-programs: $(KERNEL_PROGRAMS) $(addprefix $(BUILD)/,demo ancestor demo-shared libashlar_malloc.a)
$(KERNEL_PROGRAMS): $(BUILD)/kernel/%: $(BUILD)/prog/tests/kernel/%.o

$(BUILD)/demo-shared: $(SERVER_OBJECTS) $(BUILD)/sources
$(BUILD)/ashlar-look: $(LOOK_OBJECTS) $(BUILD)/sources
$(BUILD)/ashlar-look $(BUILD)/demo $(BUILD)/ancestor $(BUILD)/demo-shared $(KERNEL_PROGRAMS): $(RUNTIME) $(LIBRARY) linker.ld
	mkdir -p $(@D)
	echo 'LINK $@'
	$(LINK_ASHLAR) $(filter %.o %.a,$^) -o $@

# A test that is a program of its own: a function __wrap_NAME of its object is called in place of NAME (tests/support/wrap.h).
WRAPS = $$(grep -ao '__wrap_[a-z0-9_]*' $< | sort -u | sed 's/__wrap_/-Wl,--wrap=/')
$(BUILD)/tests/%: $(BUILD)/prog/tests/program/%.o $(RUNTIME) $(SEPARATE) linker.ld
	mkdir -p $(@D)
	echo 'LINK $@'
	$(LINK_ASHLAR) $(filter %.o %.a,$^) -o $@ $(WRAPS)

# What asks rt_in_full(): the single steps and the deaths at every boundary, which take as long as all else; more kills and calls.
FULL_STEPS = steps_ death_
FULL = $(FULL_STEPS) signal_at_ midst_of_settling pass_blocks ring_of kills_at fork_in_the_middle publish_ \
	signal_handlers shadow_model zalloc_products threads_check arena_interrupted under_a_limit_gib \
	small_handler_at small_survives_death
# And of other programs: those that have some of these, and all of each that make test thins as a whole.
FULL_SOME = malloc small system
FULL_ALL = storm faults faults_foreign race beside attach_killed advice
$(BUILD)/long/steps: $(BUILD)/tests/all Makefile
	mkdir -p $(@D)
	echo '#!/bin/sh' >$@
	echo 'export STEPS_FULL=1; exec $(BUILD)/tests/all $(FULL_STEPS)' >>$@
	chmod +x $@

$(BUILD)/long/full: $(addprefix $(BUILD)/tests/,all $(FULL_SOME) $(FULL_ALL)) Makefile
	mkdir -p $(@D)
	echo '#!/bin/sh' >$@
	echo 'export STEPS_FULL=1; status=0' >>$@
	echo "$(BUILD)/tests/all $(filter-out $(FULL_STEPS),$(FULL)) $(FULL_STEPS:%=-%) || status=1" >>$@
	for program in $(FULL_SOME); do echo "$(BUILD)/tests/$$program $(FULL) || status=1"; done >>$@
	for program in $(FULL_ALL); do echo "$(BUILD)/tests/$$program || status=1"; done >>$@
	echo 'exit $$status' >>$@
	chmod +x $@

$(addprefix $(BUILD)/long/,$(FULL_CHECKS)): $(BUILD)/long/%: programs Makefile
	mkdir -p $(@D)
	echo '#!/bin/sh' >$@
	echo 'STEPS_FULL=1 BUILD=$(BUILD) exec sh tests/check/$*.sh' >>$@
	chmod +x $@

# As many looks under QEMU as natively.
$(BUILD)/long/look_emulated: $(BUILD)/long/look Makefile
	mkdir -p $(@D)
	echo '#!/bin/sh' >$@
	echo 'RT_QEMU=1 exec qemu-$(ARCH) $(BUILD)/long/look look_speed_1000' >>$@
	chmod +x $@

# The same, but it takes minutes.
$(BUILD)/long/%: $(BUILD)/prog/tests/long/%.o $(RUNTIME) $(SEPARATE) linker.ld
	mkdir -p $(@D)
	echo 'LINK $@'
	$(LINK_ASHLAR) $(filter %.o %.a,$^) -o $@ $(WRAPS)

.PHONY: all asan help field programs setup test setup-kernel test-kernel test-long test-arch steps model demo demo-shared soak bench bench-cost bench-footprint bench-peaks bench-accept bench-seeds bench-threads bench-scale bench-words bench-limits bench-shared tsan tsan-shared tsan-plant mutants figures golden-accept flags format clean FORCE
.SECONDARY:
$(if $(V),,.SILENT:)
.DELETE_ON_ERROR:

# Of this build's own objects: in $(BUILD) are other builds, too.
ifneq ($(MAKECMDGOALS),flags)
-include $(shell find $(addprefix $(BUILD)/,lib small sample core field start prog asm malloc so hardened hardened-so profile shared) \
	-name '*.d' 2>/dev/null)
endif
