#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Times `kastor find` on many images in one run, from the page cache to the catalogues.
#
#   tests/apps/time_many.sh KASTOR [IMAGES [SIZE [WORK]]]
#
# KASTOR  the command, for example build/cuda/apps/kastor
# IMAGES  how many (default 4000), made of 16 simulated skies
# SIZE    pixels of a side (default 512, float32: 1 MiB an image)
# WORK    where they go (default: a temporary folder in /dev/shm, which must hold them)
#
# Prints, for every usable backend and the presets lesson and radio, the seconds and images a second of three runs, and
# whether all backends wrote the same bytes. Exit 0: they did.
set -euo pipefail

kastor=$(realpath -e "${1:?found no command; expected: $0 KASTOR [IMAGES [SIZE [WORK]]]}")
count=${2:-4000}
size=${3:-512}
work=${4:-$(mktemp -d /dev/shm/kastor-many-XXXXXX)}
[ $# -ge 4 ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
cd "$work"

mkdir -p images
for seed in $(seq 0 15); do
  "$kastor" simulate sky --size "$size" --seed "$seed" --quiet --overwrite -o "sky$seed.fits"
done
for i in $(seq 1 "$count"); do cp "sky$((i % 16)).fits" "images/im$i.fits"; done
printf 'images/im%d.fits\n' $(seq 1 "$count") >list.txt

"$kastor" info
backends=$("$kastor" info --json | python3 -c '
import json, sys
print(*(b["name"] for b in json.load(sys.stdin)["backends"] if b["usable"]))')

answer=0
for preset in lesson radio; do
  sums=
  for on in $backends; do
    for run in 1 2 3; do
      rm -rf out
      start=$(date +%s.%N)
      "$kastor" find @list.txt -o out/ --preset "$preset" --on "$on" --quiet
      end=$(date +%s.%N)
      python3 -c "
seconds = $end - $start
print(f'$preset $on run $run: {seconds:.3f} s, {$count / seconds:.0f} images a second')"
    done
    sums+="$(cd out && cat $(seq -f 'im%g.fits' 1 "$count") | sha256sum)"$'\n'
  done
  if [ "$(printf '%s' "$sums" | sort -u | wc -l)" -eq 1 ]; then
    echo "$preset: the same bytes from: $backends"
  else
    echo "$preset: the catalogues differ between: $backends"
    answer=1
  fi
done
exit $answer
