#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what Plumbline needs and this machine lacks (Debian 12), and says what it does.
#   tools/install.sh build   what the tool needs
#   tools/install.sh test    the same, and what the tests need
#   tools/install.sh browser what the tests of the pages need: Chromium, Node.js and two npm packages
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:?usage: tools/install.sh build|test|browser}

case $what in
  build) wanted=$(cat tools/packages-build.txt) ;;
  test) wanted=$(cat tools/packages-build.txt tools/packages-test.txt) ;;
  browser)
    wanted=chromium
    command -v node >/dev/null || wanted+=" nodejs"
    command -v npm >/dev/null || wanted+=" npm"
    ;;
  *) echo "usage: tools/install.sh build|test|browser" >&2; exit 2 ;;
esac

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

missing=()
installed=$(dpkg-query -W -f='${db:Status-Abbrev}${Package}\n' 2>/dev/null | sed -n 's/^ii *//p')
for package in $wanted; do
  grep -qx -- "$package" <<<"$installed" || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing ${#missing[@]} Debian packages: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  log=$(mktemp)
  if ! { as_root apt-get update -qq && as_root apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "the packages could not be installed (log: $log)" >&2
    exit 1
  fi
  rm -f "$log"
fi

# A locale with decimal commas: the tests run in it too.
if [ "$what" = test ] && ! locale -a 2>/dev/null | grep -qi '^de_DE\.utf'; then
  as_root localedef -i de_DE -f UTF-8 de_DE.UTF-8
fi

# Pinned by tests/html/package-lock.json, each with its checksum.
if [ "$what" = browser ] && ! cmp -s tests/html/package-lock.json tests/html/node_modules/.installed; then
  (cd tests/html && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null)
  cp tests/html/package-lock.json tests/html/node_modules/.installed
fi
