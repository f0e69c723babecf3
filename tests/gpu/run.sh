#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the GPU's share of the tests on a machine that has one, and compares the bits of every backend.
#
#   tests/gpu/run.sh BUILD [IMAGES [WORK]]
#
# BUILD   a build folder of the preset `cuda` (or one that holds its binaries: apps/kastor, tests/kastor_*_tests)
# IMAGES  a folder of FITS images (default: KASTOR_TEST_DATA, else ../shared/data beside the project)
# WORK    where large simulated skies go (default: a temporary folder; 16384 x 16384 float64 takes 2 GiB)
#
# KASTOR_GPU_SKIES: the skies as "SIZE:TYPE ..." (default up to 16384). Exit 0: all tests passed, all bits are equal.
set -uo pipefail

die() { printf 'run.sh: %s\n' "$*" >&2; exit 2; }

[ $# -ge 1 ] || die "found no build folder; expected: $0 BUILD [IMAGES [WORK]]"
build=$(cd "$1" 2>/dev/null && pwd) || die "$1: no such folder"
here=$(cd "$(dirname "$0")" && pwd)
images=${2:-${KASTOR_TEST_DATA:-$here/../../../shared/data}}
work=${3:-$(mktemp -d)}
[ $# -ge 3 ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work" || die "$work: no such folder, and none can be made"
kastor=$build/apps/kastor
[ -x "$kastor" ] || die "$kastor: no such program; expected a build of the preset 'cuda'"
skies=${KASTOR_GPU_SKIES:-2048:float32 2048:float64 8192:float32 8192:float64 16384:float32 16384:float64}
backends="serial openmp cuda"
failures=0

"$kastor" info || die "kastor info failed"

# --- the tests ---------------------------------------------------------------
for suite in kastor_unit_tests kastor_policy_tests kastor_io_tests kastor_gpu_tests; do
  [ -x "$build/tests/$suite" ] || continue
  printf '\n== %s ==\n' "$suite"
  "$build/tests/$suite" --gtest_filter='*Cuda*' --gtest_brief=1 || failures=$((failures + 1))
done

# --- the bits ----------------------------------------------------------------
# A backend's statistics, catalogue hashes and maps as one line, or its refusal.
answer() {
  local on=$1; shift
  "$kastor" "$@" --on "$on" --json 2>&1 | sed 's/ --on [a-z]*//'
}
row() { printf '%-44s %-10s %-10s %s\n' "$@"; }

# compare NAME FILE [OPTIONS...]
compare() {
  local name=$1 file=$2; shift 2
  local same=yes reference='' hash='' text=''
  for on in $backends; do
    text="$(answer "$on" stats "$file" "$@") $(answer "$on" find "$file" "$@") $(answer "$on" find "$file" --about median --connectivity 8 "$@")"
    local labels=''
    if "$kastor" label "$file" "$@" --about median -o "$work/labels_$on.fits" --overwrite --quiet --on "$on" 2>/dev/null; then
      # The pixels only: the header names the options.
      labels=$("$kastor" find "$work/labels_$on.fits" --level 0 --json --on serial | sed 's/"file":"[^"]*",//')
    fi
    text="$text $labels $(answer "$on" find "$file" --preset sextractor "$@")"
    # Islands above maps, and the maps themselves: whole files, since no header names the backend.
    local maps=()
    for map in background rms snr; do maps+=("--$map-map" "$work/${map}_$on.fits"); done
    maps+=(--residual "$work/residual_$on.fits" --labels "$work/ids_$on.fits")
    text="$text $(answer "$on" find "$file" --preset radio --negative "${maps[@]}" --overwrite "$@")"
    text="$text $(cat "$work"/{background,rms,snr,residual,ids}_"$on".fits 2>/dev/null | sha256sum)"
    # Components, what is left without them, children of islands, and the same places measured again.
    local fits=(--components "$work/components_$on.csv" --model "$work/model_$on.fits" --fit-residual "$work/left_$on.fits")
    text="$text $(answer "$on" find "$file" --preset radio "${fits[@]}" --overwrite "$@")"
    text="$text $(answer "$on" find "$file" --preset radio --shape beam --deblend on "$@")"
    for free in flux position shape; do
      text="$text $("$kastor" measure "$file" --at "$work/components_$on.csv" --free "$free" --aperture 3,5.5 --on "$on" \
        -o "$work/forced_$on.csv" --overwrite --quiet "$@" 2>&1)"
      text="$text $(sed 's/ --on [a-z]*//' "$work/forced_$on.csv" 2>/dev/null | sha256sum)"
    done
    text="$text $(sed 's/ --on [a-z]*//' "$work/components_$on.csv" 2>/dev/null | sha256sum)"
    text="$text $(cat "$work"/{model,left}_"$on".fits 2>/dev/null | sha256sum)"
    text=${text//components_$on./components.}
    if [ -z "$reference" ]; then reference=$text; fi
    [ "$text" = "$reference" ] || { same=NO; printf '  %s: %s\n' "$on" "$text" >&2; }
  done
  hash=$(printf '%s' "$reference" | grep -o '"catalogue_hash":"[0-9a-f]*"' | head -1 | cut -d'"' -f4)
  rm -f "$work"/{background,rms,snr,residual,ids,model,left}_*.fits "$work"/{components,forced}_*.csv
  row "$name" "$(printf '%s' "$reference" | grep -o '"sources":[0-9]*' | head -1 | cut -d: -f2)" "$same" "${hash:-refused alike}"
  [ "$same" = yes ] || failures=$((failures + 1))
}

printf '\n== the bits of %s ==\n' "$backends"
row image sources identical 'catalogue hash'
if [ -d "$images" ]; then
  for file in "$images"/*.fits*; do
    for hdu in 0 1 2 3 4; do
      # Only HDUs that hold an image; a refusal of HDU 0 is worth a row of its own.
      [ "$hdu" = 0 ] || "$kastor" stats "$file" --hdu "$hdu" --json --on serial >/dev/null 2>&1 || continue
      compare "$(basename "$file")[$hdu]" "$file" --hdu "$hdu"
    done
  done
else
  printf 'no images in %s\n' "$images"
fi
for sky in $skies; do
  size=${sky%%:*} type=${sky##*:}
  for on in $backends; do
    "$kastor" simulate sky --size "$size" --type "$type" --on "$on" -o "$work/sky_$on.fits" --overwrite --quiet || failures=$((failures + 1))
  done
  same=yes
  for on in $backends; do
    tail -c +8641 "$work/sky_$on.fits" | cmp -s - <(tail -c +8641 "$work/sky_serial.fits") || same=NO
  done
  row "simulate sky $size $type" - "$same" ''
  [ "$same" = yes ] || failures=$((failures + 1))
  compare "sky $size $type" "$work/sky_serial.fits"
  rm -f "$work"/sky_* "$work"/labels_*
done

if [ "$failures" -eq 0 ]; then
  printf '\nall tests passed, all bits are equal\n'
else
  printf '\n%d failures\n' "$failures"
  exit 1
fi
