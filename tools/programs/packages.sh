#!/bin/sh
# SPDX-License-Identifier: MIT
# The files for packages of Alpine, Nix and RPM, in tools/install: each names this version, and what it says builds
# and installs the same files.  abuild and nixpkgs are not to be had here: their parts are played.
. tools/programs/common.sh

version=$(sh tools/install/version)
BUILD=$folder sh tools/install/dist >/dev/null && tar -xzf "$folder/ashlar-$version.tar.gz" -C "$folder"
unset MAKEFLAGS MFLAGS MAKELEVEL
source=$folder/ashlar-$version

# The same files as by `make install`, apart from the prefix.
BUILD=$build PREFIX=/usr DESTDIR=$folder/expected sh tools/install/install
# installed FOLDER: those in it are the expected ones
installed() {
	(cd "$folder/expected/usr" && find . ! -type d | sed 's,gdb/auto-load/.*/,gdb/,' | sort) >"$folder/list"
	(cd "$1" && find . ! -type d | sed 's,gdb/auto-load/.*/,gdb/,' | sort) | diff "$folder/list" - >"$folder/out"
}

in_alpine() {
	if ! have busybox clang ld.lld; then
		skip 'packages: Alpine: no busybox, or no clang and lld'
		return
	fi
	# The shell and tools of Alpine, those that it builds with, and install, which the busybox of Debian has not.
	mkdir "$folder/bin"
	busybox --install -s "$folder/bin"
	for tool in make clang ld.lld ar nm objcopy readelf install; do
		ln -sf "$(command -v $tool)" "$folder/bin/$tool"
	done
	cat >"$folder/abuild" <<-'END'
		set -eu
		srcdir=$1 pkgdir=$2
		amove() { for there; do [ -e "$pkgdir/$there" ] || exit 1; done; }
		. "$3"
		: "$pkgdesc $url $arch $license $makedepends $options $subpackages $pkgrel"
		[ "$source" = "ashlar-$pkgver.tar.gz" ] && cd "$builddir"
		build && package && tools
	END
	PATH=$folder/bin quiet "$folder/bin/sh" "$folder/abuild" "$folder" "$folder/alpine" "$PWD/tools/install/APKBUILD" && installed "$folder/alpine/usr"
	verdict 'packages: APKBUILD builds and installs, by the tools of busybox'
}

in_nix() {
	if ! have nix-instantiate python3; then
		skip 'packages: Nix: nix-instantiate is not here'
		return
	fi
	quiet nix-instantiate --store dummy:// --eval --strict --json -E "removeAttrs (import $PWD/tools/install/ashlar.nix {
		lib = { cleanSource = x: x; licenses.mit = \"MIT\"; };
		stdenv.mkDerivation = x: x;
		llvmPackages = { clang = \"clang\"; lld = \"lld\"; };
	}) [ \"src\" ]" && python3 -c "import json, sys
package = json.load(sys.stdin)
assert (package['pname'], package['version'], package['meta']['license']) == ('ashlar', sys.argv[1], 'MIT')
print(*package['makeFlags'])" "$version" <"$folder/out" >"$folder/flags"
	verdict 'packages: the derivation of Nix is of this version'
	out=$(sed -n 's/.*PREFIX=\([^ ]*\).*/\1/p' "$folder/flags") # the place that `placeholder "out"` stands for
	# shellcheck disable=SC2046 # words
	quiet "${MAKE:-make}" -C "$source" $(cat "$folder/flags") DESTDIR="$folder/nix" install && installed "$folder/nix$out"
	verdict 'packages: its flags install'
}

in_rpm() {
	if ! have rpmbuild rpm clang ld.lld; then
		skip 'packages: RPM: rpmbuild is not here'
		return
	fi
	quiet rpmbuild -tb --nodeps --define "_topdir $folder/rpm" --define '_docdir /usr/share/doc' --define '_libdir /usr/lib' \
		"$folder/ashlar-$version.tar.gz" && mkdir "$folder/root" &&
		for package in "$folder"/rpm/RPMS/*/*.rpm; do
			rpm2cpio "$package" | (cd "$folder/root" && cpio -idm --quiet)
		done && [ "$(find "$folder/rpm/RPMS" -name "ashlar*-$version-1.*.rpm" | wc -l)" = 3 ] && installed "$folder/root/usr"
	verdict "packages: three of RPM, with all files"
}

in_alpine
in_nix
in_rpm
exit $status
