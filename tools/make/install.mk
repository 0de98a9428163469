# SPDX-License-Identifier: MIT
# What leaves the build folder: installation, packages, the source release, the crate.

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

.PHONY: install uninstall deb dist crate
