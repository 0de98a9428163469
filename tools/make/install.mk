# SPDX-License-Identifier: MIT
# What leaves the build folder: installation, packages, the source release, the crate.

PREFIX  = /usr/local
LIBDIR  = $(PREFIX)/lib
DESTDIR =
install uninstall deb: all
	ARCH=$(ARCH) BUILD=$(BUILD) PREFIX=$(PREFIX) LIBDIR=$(LIBDIR) DESTDIR=$(DESTDIR) sh tools/install/$@

dist:
	BUILD=$(BUILD) sh tools/install/dist

# Staged with the amalgamation in it, packed, and built once from the package.
crate: $(AMALGAMATION)
	BUILD=$(BUILD) sh tools/rust/stage $(BUILD)/crate
	cd $(BUILD)/crate && cargo package --offline --allow-dirty --quiet

.PHONY: install uninstall deb dist crate
