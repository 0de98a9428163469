# SPDX-License-Identifier: MIT
#
# For developers:
#
#	make programs   the libraries, the tests and the demonstrations, without running them
#	make test       everything that is checked, natively; a part under QEMU, of this CPU and others
#	make test-arch  each test program of each CPU under QEMU: ARCHES="aarch64 riscv64" for some
#	make test-long  what takes minutes (tests/long, and in full what make test thins), natively
#	make test-kernel    under kernels in qemu-system, and cuts of power: KERNELS="x86_64 aarch64 riscv64"
#	                POWER="ext4 xfs btrfs" CUTS=200; make setup-kernel fetches the kernels
#	make test-programs  real programs with Ashlar as their malloc: PARTS="linked real servers origin rust deb packages builds musl
#	                recipes shared";
#	                make setup-programs installs what that needs
#	make steps      single steps under QEMU: ARCH=aarch64 or riscv64; STEPS=all for all paths
#	make soak       what make test thins, in full and with other seeds: SEEDS="1 2 3"
#	make tsan       the heap under ThreadSanitizer; tsan-shared: a heap shared by processes, too; tsan-plant: with faults that
#	                it must find; make setup-checkers installs what tsan, model and the check of gdb's script need
#	make model      the protocol of the bitmaps, by spin; memory orders, by relacy
#	make mutants    each thing of the sources changed in turn: FILES="bits.c map.c" SAMPLE=k/n SHARD=k/n SLOW=n JOBS=n
#	make figures    how much there is to read, beside its limits
#	make golden-accept  takes the instructions of the fast paths as they are now for right
#	make demo       the demonstration, natively and under QEMU
#	make demo-shared    a heap shared by processes that are killed: SECONDS=60 for longer
#	make bench      Ashlar against every malloc that is installed: SHORT=1 ROUNDS=n PEERS=name:library; also
#	                bench-footprint (text, memory and mappings of small programs), -cost (instructions, misses and page faults,
#	                ROWS="..."), -scale (64 GiB, 10 000 threads), -limits (of the fast paths on this CPU), -shared (heaps),
#	                -kills (of processes that share a heap: KILLS=n)
#	make bench-accept   takes the last figures into tools/bench/accepted, BENCHMARKS.md and README.md
#	make flags      prints how a test program is compiled and linked, for scripts: eval "$(make -s flags)"
#	make format     clang-format over all sources

# ---- test programs ----

# Sources in these folders see core's headers; tests/README.md says what is in each.
INNER_TESTS = inner program malloc hardened small field system long store
$(INNER_TESTS:%=$(BUILD)/prog/tests/%/%.o): PROG_FLAGS += $(INNER)
# The runtime's own folder sees the raw system calls.
$(BUILD)/prog/tests/runtime/%.o $(BUILD)/prog/tests/kernel/%.o: PROG_FLAGS += -Iarch/$(ARCH)
# The smallest programs print, and are weighed: tests/check/link.sh.
$(BUILD)/prog/tests/runtime/format.o: PROG_FLAGS += $(FOR_SIZE)
$(BUILD)/prog/tests/api/traces.o: PROG_FLAGS += -Itools/demo
# ashlar-look reads memory that others may have forged: an index out of bounds is a trap, and a test that fails.
$(BUILD)/prog/tools/look/%.o: PROG_FLAGS += $(IN_BOUNDS)

RUNTIME = $(BUILD)/runtime.a $(BUILD)/libashlar_start.a
$(BUILD)/runtime.a: $(call objects,prog,$(CALLS) $(wildcard tests/runtime/*.c))

# $(call program,PROGRAM,SOURCES,OBJECTS AND ARCHIVES): PROGRAM, objects and archives are in the build folder.
program = $(eval $(call program_rules,$(strip $1),$(call objects,prog,$2),$(3:%=$(BUILD)/%)))
define program_rules
OBJECTS += $2
LINKED += $(BUILD)/$1
$(BUILD)/$1: $2 $3
endef

# The public calls on the default heap, against the other libraries as they are shipped.
API = $(addprefix tests/api/,$(addsuffix .c,api align aligned expand expand_remote fork large misuse misuse_threads resize \
	shadow signal threads)) tools/demo/steps.c
API_TESTS = $(wildcard tests/api/*.c tests/api/*/*.c tests/store/api/*.c)
# The traces are replayed by a test, too.
REPLAY = tools/demo/steps.c tools/demo/replay.c
# The tests' own use of what an archive keeps to itself.
ASIDE = lib/arch/$(ARCH)/memory.o lib/core/base/class.o asm/arch/$(ARCH)/syscall.o

$(call program, tests/all, $(API_TESTS) $(wildcard tests/inner/*.c tests/inner/*/*.c) \
	$(filter-out $(addprefix tests/store/,api/% program/% long/%),$(wildcard tests/store/*/*.c)) $(REPLAY), parts.a)
# With the archive, whose code is apart from the runtime's: for tests/check/filter.sh.
$(call program, tests/filtered, $(API_TESTS) $(REPLAY), libashlar.a)
$(call program, tests/malloc, $(API) $(addprefix tests/api/,misuse_aligned.c misuse_released.c trim.c zalloc.c zalloc_taken.c) \
	tests/inner/base/misuse_end.c tests/inner/thread/vfork_stepped.c $(wildcard tests/malloc/*.c), $(ASIDE) libashlar_malloc.a)
# Tests that hold for it, too; tools/test names the others of these files in hardened_differs.
$(call program, tests/hardened, $(addprefix tests/api/,$(addsuffix .c,api align aligned fork large larger resize shadow signal \
	threads zalloc)) tests/malloc/names.c tools/demo/steps.c $(wildcard tests/hardened/*.c), \
	$(ASIDE) libashlar_malloc-hardened.a)
# Heaps are not guarded, but their slabs are in a hardened library.
$(call program, tests/hardened-heaps, tests/api/heap_aligned.c tests/api/heap_use.c, hardened/ashlar.o)
$(call program, tests/small, $(filter-out %/misuse.c,$(API)) $(wildcard tests/small/*.c), parts-small.a)
$(call program, tests/field, tests/api/heap_in.c tests/api/heap_in_shadow.c tests/api/heap_use.c \
	tests/inner/arena/arena_each_step.c $(wildcard tests/field/*.c), lib/sys/pages.o lib/sys/pages_map.o parts-field.a)
# Without the tests that ask about the kernel's memory, or for more than there is.
$(call program, tests/system, $(filter-out %/align.c %/fork.c %/large.c,$(API)) $(wildcard tests/system/*.c), libashlar-core.a)
$(call program, tests/sample, $(wildcard tests/sample/*.c) tests/api/api.c, libashlar-sample.a)
$(call program, demo, $(filter-out %/ancestor.c,$(wildcard tools/demo/*.c)), libashlar.a)
$(call program, ancestor, tools/demo/ancestor.c, libashlar.a)
# A tree need not have the store: tests/long/without_store.sh.
DEMOS = demo $(if $(wildcard core/store),ancestor demo-shared)
$(call program, demo-shared, $(wildcard tools/shared/*.c), libashlar.a)
$(call program, ashlar-look, $(wildcard tools/look/*.c), libashlar.a)
# $(call each,FOLDER,SOURCES,ARCHIVE): a program of each source, and their names.
each = $(foreach source,$2,$(call program,$(call named,$1),$(source),$3)$(BUILD)/$(call named,$1))
named = $1/$(basename $(notdir $(source)))
BENCHES := $(call each,bench,$(addprefix tools/bench/,limits.c scale.c shared.c),libashlar.a)
# The first processes of the kernels that run tests (tests/kernel/run).
KERNEL_PROGRAMS := $(call each,kernel,$(wildcard tests/kernel/*.c),libashlar.a)
OWN_PROGRAMS := $(call each,tests,$(wildcard tests/program/*.c) $(wildcard tests/store/program/*.c),parts.a)
LONG_PROGRAMS := $(call each,long,$(wildcard tests/long/*.c) $(wildcard tests/store/long/*.c),parts.a)

# A function __wrap_NAME of a program's own object is called in place of NAME (tests/support/wrap.h).
$(OWN_PROGRAMS) $(LONG_PROGRAMS): WRAPS = $$(grep -ao '__wrap_[a-z0-9_]*' $(filter %.o,$^) | sort -u | sed 's/__wrap_/-Wl,--wrap=/')
$(BUILD)/tests/field: LINK_ASHLAR = $(LINK) -Wl,--wrap=ash_heap_create_in
# Where pages have several sizes, the kernel is faked: RT_PAGE=65536 (tests/runtime/page.c).
FAKED = $(if $(filter-out 4096,$(call cpu,page)),mmap munmap madvise mremap mincore mprotect msync)
$(BUILD)/tests/all: LINK_ASHLAR += $(FAKED:%=-Wl,--wrap=arch_%)
$(BUILD)/tests/filtered: LINK_ASHLAR += -Wl,-Map=$@.map

$(LINKED): $(RUNTIME) $(BUILD)/sources linker.ld
	$(call says,LINK)
	$(LINK_ASHLAR) $(filter %.o,$^) $(filter %.a,$^) -o $@ $(WRAPS)

# For QEMU on this machine, whatever the CPU of the programs is.
$(BUILD)/steps.so: tests/support/steps_plugin.c tests/support/stepper_calls.h
	$(call says,LINK)
	$(CC) -std=c17 -ffreestanding -nostdlib $(NO_HEADERS) -O2 $(WARNINGS) \
		-fvisibility=hidden -fPIC -shared -fuse-ld=lld -Itests $< -o $@

TESTS = $(PRODUCT_TESTS:%=$(BUILD)/tests/%) $(OWN_PROGRAMS)
programs: all $(if $(TARGET),,asan) $(TESTS) $(addprefix $(BUILD)/,$(DEMOS) tests/filtered)
kernel-programs: $(KERNEL_PROGRAMS) $(addprefix $(BUILD)/,$(DEMOS) libashlar_malloc.a)

# ---- tests ----

# A script that runs for minutes ends when make ends, with all that it started.
GUARD = exec sh tools/guard
CPUS = $(filter-out $(ARCH),$(ALL_CPUS))
ARCHES = $(ARCH) $(CPUS)
RUN_TESTS = BUILD=$(BUILD) MAKE="$(MAKE)" PROGRAMS="$(TESTS)" ARCH=$(ARCH) CPUS="$(CPUS)"
# $(call for_cpus,CPUS,TARGETS,FILES): FILES are in the build folder of each CPU.
for_cpus = $(foreach cpu,$1,$(MAKE) $(ALL_JOBS) ARCH=$(cpu) BUILD=$(BUILD)/$(cpu) $2 $(addprefix $(BUILD)/$(cpu)/,$3) &&) :

OTHERS_NEED = tests/all tests/arch tests/tls_large steps.so libashlar_malloc.so libashlar_profile.so
# The tools must be there before anything is compiled: hence the second make, which compiles on all CPUs unless -j says
# otherwise.
ALL_JOBS = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
test: setup
	$(MAKE) $(ALL_JOBS) programs
	+$(if $(EMULATOR),,$(call for_cpus,$(CPUS),,$(OTHERS_NEED)))
	$(RUN_TESTS) $(if $(EMULATOR),SECTIONS=every_$(ARCH)) $(GUARD) sh tools/test

# With the large-system atomics the library alone is built: the tests' own objects are those of aarch64.
LSE = $(BUILD)/aarch64-lse
test-arch: setup
	$(MAKE) $(ALL_JOBS) programs
	+$(call for_cpus,$(CPUS),programs,steps.so)
	$(if $(filter aarch64,$(CPUS)),mkdir -p $(LSE) && ln -sfn ../aarch64/prog $(LSE)/prog && \
		$(MAKE) $(ALL_JOBS) ARCH=aarch64 FOR_aarch64=-march=armv8.1-a BUILD=$(LSE) $(LSE)/tests/all $(LSE)/libashlar.a)
	$(RUN_TESTS) SECTIONS="$(ARCHES:%=every_%)" $(GUARD) sh tools/test

# The first two take longest, and run beside the others.
LONG_FIRST = tests/long/steps.sh $(BUILD)/long/forged
LONG = $(LONG_FIRST) $(filter-out $(LONG_FIRST),$(wildcard tests/long/*.sh) $(LONG_PROGRAMS))
test-long: setup
	$(MAKE) $(ALL_JOBS) programs $(LONG_PROGRAMS)
	$(RUN_TESTS) PROGRAMS="$(LONG)" SECTIONS="first second rest" $(GUARD) sh tools/test

KERNELS = x86_64 aarch64 riscv64
# A kernel that cannot be had here is named, and its boots are skipped.
test-kernel: setup
	sh tests/kernel/setup "$(KERNELS)" $(BUILD)/kernels || true
	$(MAKE) $(ALL_JOBS) programs kernel-programs
	+$(call for_cpus,$(filter $(CPUS),$(KERNELS)),programs kernel-programs)
	BUILD=$(BUILD) KERNELS="$(KERNELS)" $(GUARD) sh tests/kernel/all

# ---- scripts ----

# $(call script,TARGET,BUILT BEFORE,COMMAND,TOOLS): TOOLS are what make setup does not install.
script = $(eval $(call script_rules,$(strip $1),$(strip $2),$(strip $3),$4))
define script_rules
.PHONY: $1
$1: $(if $2$4,setup)
	$(foreach tool,$4,$$(call need,$(tool)))
	$(if $2,$$(MAKE) $2)
	export BUILD=$(BUILD) MAKE="$(MAKE)"; $3
endef
need = command -v $1 >/dev/null || \
	{ echo 'make $@ needs $1; install it with: sudo apt-get install $(if $(filter $(PYTHON),$1),python3,$1)' >&2; exit 1; };

$(call script, setup-programs, , sh tools/programs/setup)
$(call script, setup-checkers, , sh tools/setup checkers)
$(call script, setup-kernel, , sh tests/kernel/setup "$(KERNELS)" $(BUILD)/kernels)
$(call script, test-programs, programs $(BUILD)/bench/shared, $(GUARD) sh tools/programs/run $(PARTS))
$(call script, soak, programs, $(GUARD) sh tools/soak $(SEEDS))
$(call script, steps, $(BUILD)/tests/all $(BUILD)/steps.so, $(GUARD) sh tools/steps $(ARCH) $(STEPS))
$(call script, demo, $(BUILD)/demo $(BUILD)/ancestor, ARCH=$(ARCH) EMULATOR="$(EMULATOR)" sh tools/demo/run $(BUILD)/demo)
$(call script, demo-shared, $(BUILD)/demo-shared, $(GUARD) sh tools/shared/run $(SECONDS))
$(call script, tsan, , $(GUARD) sh tools/tsan/run $(SECONDS))
$(call script, tsan-shared, , SHARED=1 $(GUARD) sh tools/tsan/run $(SECONDS))
$(call script, tsan-plant, , $(GUARD) sh tools/tsan/plant)
$(call script, model, , $(GUARD) sh tools/model/run)
$(call script, mutants, , $(PYTHON) tools/mutants/run $(FILES), $(PYTHON))
$(call script, figures, , $(PYTHON) tools/figures, $(PYTHON) valgrind)

$(call script, golden-accept, programs, \
	{ ! command -v clang-19 >/dev/null || $$(MAKE) CC=clang-19 BUILD=$(BUILD)/clang-19 programs; } && \
	sh tools/golden accept $(BUILD) $(BUILD)/clang-19 $(addprefix $(BUILD)/,$(CPUS)))

BENCH = sh tools/bench/build && sh tools/bench
FOOTPRINT = all $(RUNTIME) $(BUILD)/tests/hello
$(call script, bench, $(FOOTPRINT), $(BENCH)/compare $(ROUNDS) && sh tools/bench/footprint)
$(call script, bench-footprint, $(FOOTPRINT), $(BENCH)/footprint)
$(call script, bench-cost, $(BUILD)/libashlar_malloc.so $(RUNTIME) $(BUILD)/libashlar.a $(HEADERS), $(BENCH)/cost, valgrind)
$(foreach name,$(notdir $(BENCHES)),$(call script,bench-$(name),$(BUILD)/bench/$(name),sh tools/bench/$(name) $(ROUNDS)))
$(call script, bench-kills, $(BUILD)/bench/shared, sh tools/bench/kills)
$(call script, bench-accept, , sh tools/bench/accept)

flags:
	echo 'COMPILE="$(CC) $(PROG_FLAGS)" LINK="$(LINK_ASHLAR)" LIBRARY_FLAGS="$(LIB_FLAGS)"' \
		'LIBRARY_SOURCES="$(filter %.c,$(LIB_SOURCES))" $(LIMITS)'

format:
	clang-format -i $$(git ls-files '*.c' '*.h' | grep -v /stub.h)

.PHONY: programs kernel-programs test test-arch test-long test-kernel flags format
