#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the last commit in two folders with names of different lengths, and compares the bytes of the tool, the
# libraries, the wheel and the Debian package.
#   tools/reproducible.sh      ten minutes on two cores without ccache
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for folder in a another/longer/one; do  # both before the first build: a commit made meanwhile must not count
  git clone -q . "$scratch/$folder"
done
for folder in a another/longer/one; do
  (cd "$scratch/$folder"
   cmake --preset quick -DPLUMBLINE_UNITY=ON >"$scratch/log" && cmake --build --preset quick -j "$(nproc)" >"$scratch/log" &&
     cd build/quick && cpack -B packages >"$scratch/log") || { tail -n 40 "$scratch/log"; exit 1; }
done
cd "$scratch/a/build/quick"
status=0
for file in plumbline libplumbline.a timing/*.so timing/python/dist/*.whl packages/*.deb; do
  if cmp "$file" "$scratch/another/longer/one/build/quick/$file"; then
    echo "$(sha256sum <"$file" | cut -c 1-16)  $(stat -c %s "$file")  $file"
  else
    status=1
  fi
done
exit $status
