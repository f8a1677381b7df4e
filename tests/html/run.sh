#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The pages in Chromium: tests/html/run.sh PLUMBLINE FOLDER. Exits 77 with the reason where there is no browser.
set -euo pipefail
tool=$(realpath "$1")
pages=$2
cd "$(dirname "$0")"
skip() { echo "skipped: $1 (tools/install.sh browser brings it)"; exit 77; }
command -v node >/dev/null || skip "no node"
[ -x /usr/bin/chromium ] || skip "no /usr/bin/chromium"
[ -d node_modules/playwright-core ] || skip "no tests/html/node_modules"
cd ../..
PLUMBLINE=$tool PAGES=$pages exec timeout 280 node --test tests/html/pages.test.mjs
