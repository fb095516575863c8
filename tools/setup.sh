#!/usr/bin/env bash
# Installs what payonce needs and Go does not bring, if it is missing: the Postgres programs (no cluster of the system's is
# used: payonce starts its own) and a C compiler for the race detector. Changes nothing when both are there.
set -euo pipefail

has_postgres() {
	command -v initdb >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null
}

has_compiler() {
	command -v gcc >/dev/null || command -v cc >/dev/null
}

as_root() {
	if [[ $(id -u) -eq 0 ]]; then "$@"; else sudo "$@"; fi
}

# install takes the packages (blanks between them) in the words of each package manager: apt, dnf, apk, brew.
# shellcheck disable=SC2086  # the words are meant to split
install() {
	if command -v apt-get >/dev/null; then
		as_root apt-get update -qq
		as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $1
	elif command -v dnf >/dev/null; then
		as_root dnf install -y -q $2
	elif command -v apk >/dev/null; then
		as_root apk add -q $3
	elif command -v brew >/dev/null; then
		brew install -q $4
	else
		echo "setup: no package manager known here (apt-get, dnf, apk, brew): install $1 by hand" >&2
		exit 1
	fi
}

has_postgres || install postgresql postgresql-server postgresql postgresql
has_compiler || install 'gcc libc6-dev' 'gcc' 'build-base' 'gcc'

has_postgres || { echo "setup: Postgres was installed, but initdb is neither on PATH nor under /usr/lib/postgresql" >&2; exit 1; }
echo "setup: Postgres and a C compiler are here"
