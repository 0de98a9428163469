# SPDX-License-Identifier: MIT
# Sourced by scripts that install Debian's packages: tools/setup, tools/programs/setup, tests/kernel/setup.
# shellcheck shell=sh

may_install() {
	[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null
}

# apt ARGUMENT...: another apt-get may work at this moment; a network that is not there is to be noticed soon.
apt() {
	DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 -o Acquire::http::Timeout=30 \
		-o Acquire::https::Timeout=30 -o Acquire::Retries=1 "$@"
}

# install_all PACKAGE...: all of them, or none.
install_all() {
	apt install -y --no-install-recommends "$@" >/dev/null
}

# install_each PACKAGE...: those that can be had; the others are named.
install_each() {
	for package; do
		dpkg -s "$package" 2>/dev/null | grep -q '^Status: .* installed$' || install_all "$package" || echo "$package cannot be installed"
	done
}
