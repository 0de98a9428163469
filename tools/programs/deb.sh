#!/bin/sh
# SPDX-License-Identifier: MIT
# The Debian packages (make deb): lintian finds nothing, the same files give the same bytes, and in a root
# where nothing else is they are installed and used.
. tools/programs/common.sh

if ! have dpkg dpkg-deb; then
	skip 'deb: this is no Debian'
	exit 0
fi
ARCH=$(uname -m) PATH=$PATH:/usr/sbin:/sbin # dpkg looks for ldconfig
export BUILD=$build ARCH PATH
quiet sh tools/install/deb && cp -r "$build/deb" "$folder/first" && [ "$(find "$folder/first" -name '*.deb' | wc -l)" = 5 ]
verdict 'deb: five packages'
quiet sh tools/install/deb && quiet diff -r "$folder/first" "$build/deb"
verdict 'deb: again, with the same bytes'

REPOSITORY=https://example.org/a quiet sh tools/install/deb
for package in "$build"/deb/*.deb; do
	dpkg-deb -f "$package" Homepage
	dpkg-deb --fsys-tarfile "$package" | tar -xOf - --wildcards './usr/share/doc/*/copyright'
done >"$folder/out" 2>&1
[ "$(grep -cx 'https://example.org/a' "$folder/out")" = 5 ] && [ "$(grep -cx 'Source: https://example.org/a' "$folder/out")" = 5 ] &&
	[ "$(grep -c '^Upstream-Contact: .*private report' "$folder/out")" = 5 ]
verdict 'deb: each package says where to report, and where the project is'
quiet sh tools/install/deb

if have lintian; then
	quiet lintian --allow-root --fail-on error,warning "$build"/deb/*.deb && [ ! -s "$folder/out" ]
	verdict 'deb: lintian finds nothing'
else
	skip 'deb: lintian is not here'
fi

# An empty root with dpkg's own files; triggers need none of its programs.
root=$folder/root
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/triggers" && : >"$root/var/lib/dpkg/status"
quiet dpkg --root="$root" --force-not-root --log=/dev/null -i "$build"/deb/*.deb &&
	[ "$(dpkg --root="$root" -l | grep -c '^ii ')" = 5 ]
verdict 'deb: dpkg installs them in an empty root: nothing else is needed'
version=$(sh tools/install/version)
if [ "$(id -u)" = 0 ]; then
	[ "$(chroot "$root" /usr/bin/ashlar-look --version 2>"$folder/errors")" = "ashlar-look $version" ]
	verdict 'deb: in that root a tool runs'
else
	skip 'deb: in that root a tool runs: chroot wants root'
fi
libraries=$root/usr/lib/$ARCH-linux-gnu
if have pkg-config clang ld.lld; then
	PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$libraries/pkgconfig
	export PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_LIBDIR
	# shellcheck disable=SC2046 # words
	quiet clang -O2 -ffreestanding -nostdlib -static -fuse-ld=lld tests/check/bare.c $(pkg-config --cflags --libs ashlar-start ashlar) \
		-o "$root/bare" && [ "$(plain "$root/bare")" = 16 ]
	verdict 'deb: a program without a C library is built from them and runs'
else
	skip 'deb: a program without a C library: no pkg-config, or no clang and lld'
fi
LD_PRELOAD=$libraries/libashlar_malloc.so.${version%%.*} ASHLAR=no-such-word quiet sh -c : && grep -q '^ashlar: .* no-such-word ' "$folder/errors"
verdict 'deb: preloaded by the name that programs ask for'
quiet dpkg --root="$root" --force-not-root --log=/dev/null -P libashlar-dev ashlar-tools "libashlar${version%%.*}" \
	"libashlar-malloc${version%%.*}" "libashlar-malloc-hardened${version%%.*}" &&
	[ -z "$(find "$root/usr" ! -type d 2>/dev/null)" ]
verdict 'deb: what is purged is gone'
exit "$status"
