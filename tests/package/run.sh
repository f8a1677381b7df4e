#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs a build, moves it, builds a user's project against it, and runs both; then the same of its Debian package
# unpacked (bare.sh installs that where nothing else is).
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/prefix"  # nothing installed may know where it was put
cmake -S "$here" -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/prefix" -DCMAKE_BUILD_TYPE=Debug >/dev/null
cmake --build "$scratch/build" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
recorded=$root/tests/data/h200_attention_backward
"$scratch/build/consumer" "$root/operators/attention_backward/window.toml" "$recorded/stu.ncu.csv" "$recorded/ref.ncu.csv" \
  "$scratch/prefix/share/plumbline/hardware"
cd /
"$scratch/prefix/bin/plumbline" --version
"$scratch/prefix/bin/plumbline" arch rank --hardware h200 >/dev/null  # finds the hardware files beside it
for text in LICENSE NOTICE licences/libsqlite3-dev licences/libunistring-dev licences/LGPL-3; do
  [ -s "$scratch/prefix/share/doc/plumbline/$text" ] || { echo "$text is not installed" >&2; exit 1; }
done

(cd "$build" && cpack -B "$scratch/packages" >"$scratch/log") || { cat "$scratch/log"; exit 1; }
package=$(echo "$scratch"/packages/plumbline_*.deb)
needs=$(dpkg-deb -f "$package" Depends | sed 's/ ([^)]*)//g')
[ "$needs" = "libc6, libgcc-s1, libstdc++6" ] || { echo "the package needs more than the runtime libraries: $needs" >&2; exit 1; }
dpkg-deb -x "$package" "$scratch/root"
status=0
env -i "$scratch/root/usr/bin/plumbline" confirm "$root/operators/attention_backward" >"$scratch/log" || status=$?
[ "$status" = 1 ] && grep -q 'credited ratio' "$scratch/log" || { cat "$scratch/log"; exit 1; }
if grep -rlaF -e "$root/src/plumbline" -e "$build/" "$scratch/root/usr" "$scratch/prefix"; then echo "these name the folder of the build" >&2; exit 1; fi
