# SPDX-License-Identifier: MIT
# Sourced by scripts that build allocators from the sources that their Rust crates carry.
# shellcheck shell=sh

# vendor FOLDER 'CRATE = "VERSION"'...: the crates come to FOLDER/vendor, the only step that asks crates.io; exits 77 if
# they cannot be had.  Sets `folder`, in full.
vendor() {
	mkdir -p "$1/fetch/src"
	folder=$(cd "$1" && pwd)
	shift
	echo 'fn main() {}' >"$folder/fetch/src/main.rs"
	{
		printf '[package]\nname = "fetch"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n[dependencies]\n'
		printf '%s\n' "$@"
	} >"$folder/fetch/Cargo.toml"
	(cd "$folder/fetch" && cargo vendor --quiet "$folder/vendor" >/dev/null 2>&1) || {
		echo 'crates.io: nothing to be had' >&2
		exit 77
	}
}
