# SPDX-License-Identifier: MIT
#
# For users:
#
#	make            the libraries, build/ashlar-look, and the headers in build/include; by gcc and lld alone: make CC=gcc
#	make field      libashlar-field.a alone; for CPUs of 32 bits, by clang, into build/field32: ARCH=field32
#	                TARGET='--target=armv7m-none-eabi -mcpu=cortex-m3'
#	make asan       build/asan/libashlar-asan.a, for tests of programs under AddressSanitizer, MemorySanitizer or valgrind
#	make late       build/late/libashlar.so, for a program that loads it when others have used up the static thread-local storage
#	make amalgamation  build/amalgamation/ashlar.c and public headers: the library as one source
#	make crate      the Rust crate, build/crate/target/package/ashlar-VERSION.crate
#	make install    PREFIX=/usr/local LIBDIR=PREFIX/lib DESTDIR=; make uninstall with the same removes what it
#	                installed
#	make deb        Debian packages into build/deb: DEBFULLNAME and DEBEMAIL are their maintainer.  REPOSITORY=https://... puts
#	                the address of the repository into the packages and the crate (SECURITY.md)
#	make dist       the source release build/ashlar-VERSION.tar.gz
#	make setup      looks for the tools that all of this needs, and installs them where it may
#	make clean      removes build/
#
#	Another compiler or place: make CC=clang-19 BUILD=/tmp/there.  Whole commands, and each test: make V=1
#	Another CPU, by clang and lld alone: make ARCH=aarch64 or riscv64, into build/CPU

MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL = all

# QEMU 7.2 forks while another of its threads may hold a lock of glib's slices, and the child waits for it for ever.
export G_SLICE = always-malloc

CC     = clang
PYTHON = python3

ifneq ($(word 2,$(CURDIR)),)
$(error The path of this folder, $(CURDIR), has a space in it, which make cannot work with: clone into another one)
endif

# The CPU: what the compiler is for, unless ARCH is given.
HOST := $(shell uname -m)
OWN  := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
ARCH  = $(or $(OWN),$(HOST))
# No compiler yet: make has the set-up build a file that it wants to include, and begins again.
ifeq ($(OWN)$(MAKE_RESTARTS),)
include build/setup.mk
build/setup.mk: setup
	mkdir -p build
	touch $@
else ifeq ($(OWN),)
$(error $(CC) does not run here. Libraries without tests can be built by gcc and lld: make CC=gcc)
endif
ifneq ($(ARCH),$(OWN))
TARGET = --target=$(ARCH)-linux-gnu
endif
# The CPUs that can start a program.
ALL_CPUS = $(patsubst arch/%/start.S,%,$(sort $(wildcard arch/*/start.S)))
# Here once, because each file would give this error, and others.
OTHER = $(if $(wildcard arch/$(ARCH)/host.h),$(findstring Ashlar is for,$(shell \
	$(CC) $(TARGET) -fsyntax-only -x c arch/$(ARCH)/host.h 2>&1)),no folder)
ifneq ($(OTHER),)
$(error Ashlar is for Linux on $(ALL_CPUS), in C; this is $(CC) for $(ARCH))
endif
BUILD = build$(if $(filter-out $(HOST),$(ARCH)),/$(ARCH))
ifneq ($(word 2,$(BUILD)),)
$(error BUILD, $(BUILD), has a space in it, which make cannot work with)
endif
# The same place, by its shorter name: see DEBUG in cpu.mk.
override BUILD := $(BUILD:$(CURDIR)/%=%)
AR      = $(if $(TARGET),llvm-ar,ar)
NM      = $(if $(TARGET),llvm-nm,nm)
OBJCOPY = $(if $(TARGET),llvm-objcopy,objcopy)
# What runs its programs here.
EMULATOR = $(if $(filter-out $(HOST),$(ARCH)),qemu-$(ARCH) )

RULES = Makefile $(wildcard tools/make/*.mk)
# The rows in tools/make add to these lists.
$(foreach list,PRODUCTS FOLDERS OBJECTS LIMITS PRODUCT_TESTS LINKED,$(eval $(list) :=))
include tools/make/cpu.mk tools/make/products.mk tools/make/tests.mk

all: $(PRODUCTS) $(HEADERS) $(LOOK)
field: $(BUILD)/libashlar-field.a $(HEADERS)
asan: $(ASAN)
late: $(LATE) $(HEADERS)
amalgamation: $(AMALGAMATION)

PREFIX  = /usr/local
LIBDIR  = $(PREFIX)/lib
DESTDIR =
# The address of the repository, to whose host vulnerabilities are reported; empty while it is not known.
REPOSITORY =
install uninstall deb: all
	ARCH=$(ARCH) BUILD=$(BUILD) PREFIX=$(PREFIX) LIBDIR=$(LIBDIR) DESTDIR=$(DESTDIR) REPOSITORY=$(REPOSITORY) sh tools/install/$@
	$(SAY_$@)
SAY_install = echo 'installed: $(DESTDIR)$(PREFIX), libraries in $(DESTDIR)$(LIBDIR); if programs do not find a .so there: sudo ldconfig'

dist:
	BUILD=$(BUILD) sh tools/install/dist

# Staged with the amalgamation in it, packed, and built once from the package.  Cargo asks crates.io for the dependency
# of the feature allocator-api2.
crate: $(AMALGAMATION)
	BUILD=$(BUILD) REPOSITORY=$(REPOSITORY) sh tools/rust/stage $(BUILD)/crate
	cd $(BUILD)/crate && cargo package --allow-dirty --quiet

help:
	sed -n '/^# For .*s:$$/,/^$$/s/^#\{0,1\}[ \t]\{0,1\}//p' Makefile tools/make/tests.mk

setup:
	sh tools/setup
	$(if $(filter setup,$(MAKECMDGOALS)),echo 'setup: all that the build and the tests need is here')

clean:
	rm -rf $(BUILD)

.PHONY: all field asan late amalgamation install uninstall deb dist crate help setup clean FORCE
.SECONDARY:
$(if $(V),,.SILENT:)
.DELETE_ON_ERROR:

# Only for this build's objects: $(BUILD) contains other builds, too.
ifneq ($(MAKECMDGOALS),flags)
-include $(shell find $(addprefix $(BUILD)/,$(sort $(FOLDERS)) prog asm) -name '*.d' 2>/dev/null)
endif
