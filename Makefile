# SPDX-License-Identifier: MIT
## For users:
##
## make            the libraries, build/ashlar-look, and the headers in build/include
## make field      libashlar-field.a alone; for CPUs of 32 bits, by clang, into build/field32:
##                 ARCH=field32 TARGET='--target=armv7m-none-eabi -mcpu=cortex-m3'
## make asan       build/asan/libashlar-asan.a, for tests under AddressSanitizer, MemorySanitizer or valgrind
## make late       build/late/libashlar.so, for programs that load it when static thread-local storage is used up
## make amalgamation  build/amalgamation/ashlar.c and public headers: the library as one source
## make crate      the Rust crate, build/crate/target/package/ashlar-VERSION.crate
## make install    PREFIX=/usr/local LIBDIR=PREFIX/lib DESTDIR=; make uninstall with the same removes the files
## make deb        Debian packages into build/deb; DEBFULLNAME and DEBEMAIL are their maintainer.
##                 REPOSITORY=https://... is named by the packages and the crate (SECURITY.md)
## make dist       the source release build/ashlar-VERSION.tar.gz
## make setup      looks for the tools that all of this needs, and installs them where it may
## make clean      removes build/
##
## Another compiler: make CC=clang-19; by gcc and lld alone, without tests: make CC=gcc
## Another CPU, by clang and lld alone: make ARCH=aarch64 or riscv64, into build/CPU
## Another place: make BUILD=/tmp/there.  Whole commands, and each test: make V=1
##

MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL = all

CC      = clang
PYTHON  = python3
ARCH    = $(OWN)
BUILD   = build$(if $(FOREIGN),/$(ARCH))
PREFIX  = /usr/local
LIBDIR  = $(PREFIX)/lib
DESTDIR =
# The address of the repository, to whose host vulnerabilities are reported; empty while it is not known.
REPOSITORY =
$(if $(word 2,$(CURDIR))$(word 2,$(BUILD)),$(error \
	The path of this folder, $(CURDIR), or BUILD, $(BUILD), has a space in it, which make cannot work with))

RULES = Makefile $(wildcard tools/make/*.mk)
# The rows in tools/make add to these lists.
$(foreach list,PRODUCTS FOLDERS OBJECTS LIMITS PRODUCT_TESTS LINKED,$(eval $(list) :=))
include tools/make/cpu.mk tools/make/products.mk tools/make/tests.mk

all: $(filter-out $(LATE),$(PRODUCTS)) $(HEADERS) $(LOOK)
field: $(BUILD)/libashlar-field.a $(HEADERS)
asan: $(ASAN)
late: $(LATE) $(HEADERS)
amalgamation: $(AMALGAMATION)

install uninstall deb: all
install uninstall deb dist:
	ARCH=$(ARCH) BUILD=$(BUILD) PREFIX=$(PREFIX) LIBDIR=$(LIBDIR) DESTDIR=$(DESTDIR) REPOSITORY=$(REPOSITORY) \
		sh tools/install/$@
	$(SAY_$@)
SAY_install = echo 'installed: $(DESTDIR)$(PREFIX), libraries in $(DESTDIR)$(LIBDIR);' \
	'if programs do not find a .so there: sudo ldconfig'

# Cargo builds the package, too, and asks crates.io for the dependency of the feature allocator-api2.
crate: $(AMALGAMATION)
	BUILD=$(BUILD) REPOSITORY=$(REPOSITORY) sh tools/rust/stage $(BUILD)/crate
	cd $(BUILD)/crate && cargo package --allow-dirty --quiet

help:
	sed -n 's/^## \{0,1\}//p' Makefile tools/make/tests.mk

setup:
	sh tools/setup
	$(if $(filter setup,$(MAKECMDGOALS)),echo 'setup: all that the build and the tests need is here')

clean:
	rm -rf $(BUILD)

.PHONY: all field asan late amalgamation install uninstall deb dist crate help setup clean FORCE \
	programs kernel-programs few-programs flags format
.SECONDARY:
$(if $(V),,.SILENT:)
.DELETE_ON_ERROR:

# Only for this build's objects: $(BUILD) contains other builds, too.
ifneq ($(MAKECMDGOALS),flags)
-include $(shell find $(addprefix $(BUILD)/,$(sort $(FOLDERS)) prog asm) -name '*.d' 2>/dev/null)
endif
