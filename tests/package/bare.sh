#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The packages where nothing else is: a Debian 12 of its base packages alone, in a folder of its own. The .deb is
# installed and judges a recorded comparison; the wheel is installed by pip and takes readings.
#   tests/package/bare.sh BUILD      as root, with debootstrap; about two minutes, most of them downloads
set -euo pipefail
build=$(cd "${1:?usage: tests/package/bare.sh BUILD}" && pwd)
repository=$(cd "$(dirname "$0")/../.." && pwd)
root=$(mktemp -d)
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf "$root"' EXIT
mirror=$(apt-get indextargets --format '$(SITE)' 'Codename: bookworm' 'Created-By: Packages' | head -n 1)
packages=$root.packages
(cd "$build" && cpack -B "$packages" >/dev/null)
debootstrap --variant=minbase bookworm "$root" "$mirror" >"$packages/log" || { tail -n 20 "$packages/log"; exit 1; }
mount -t proc proc "$root/proc"
before=$(chroot "$root" dpkg-query -W | wc -l)

cp "$packages"/plumbline_*.deb "$root/plumbline.deb"
chroot "$root" dpkg -i plumbline.deb >"$packages/log" || { cat "$packages/log"; exit 1; }
added=$(($(chroot "$root" dpkg-query -W | wc -l) - before))
[ "$added" = 1 ] || { echo "$added packages were installed, not 1" >&2; exit 1; }
if chroot "$root" dpkg-query -W -f='${Package}\n' | grep -- '-dev$'; then echo "a development package" >&2; exit 1; fi
cp -r "$repository/operators" "$root/root/operators"
bare() { chroot "$root" env -i PATH=/usr/bin:/bin HOME=/root sh -c "cd /root && $1"; }
bare 'plumbline --version && plumbline arch rank --hardware h200' | head -n 4
status=0
bare 'plumbline confirm operators/attention_backward' >"$packages/confirm" || status=$?
[ "$status" = 1 ] || { echo "confirm ended with $status, not with 1: the gate is not passed" >&2; exit 1; }
grep -m 1 'credited ratio' "$packages/confirm"

export DEBIAN_FRONTEND=noninteractive
cp /etc/resolv.conf "$root/etc/resolv.conf"
chroot "$root" apt-get install -y -qq --no-install-recommends python3-venv >"$packages/log" 2>&1 ||
  { tail -n 20 "$packages/log"; exit 1; }
wheel=$(bare 'ls /usr/share/plumbline/python/*.whl')
bare "python3 -m venv clean && clean/bin/pip install -q --no-index $wheel"
bare "clean/bin/python -c '
import plumbline
session = plumbline.Session.scripted()
reading = session.pipelined([lambda: session.script_work(3000)] * 10)
print(plumbline.__file__, plumbline.version(), reading.ms, \"ms\")
assert abs(reading.ms - 0.003) < 1e-9
'"
rm -rf "$packages"
echo "both packages work where nothing else is"
