#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The part of run_installed.cmake that knows nothing of the source: builds the consumer beside this script against $PREFIX,
# and runs it and the command there. $HIDDEN are folders that must not be looked at.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here"

if [[ -z ${IS_HIDDEN:-} ]]; then
  # shellcheck disable=SC2016
  hide='for folder in $HIDDEN; do if [[ -d $folder ]]; then mount -t tmpfs none "$folder"; fi; done'
  for folder in $HIDDEN; do
    if [[ $here/ == "$folder"/* ]]; then hide=false; fi
  done
  if unshare --mount --map-root-user bash -c "$hide" 2>/dev/null; then
    IS_HIDDEN=yes exec unshare --mount --map-root-user bash -c "$hide; exec bash $here/use_installed.sh"
  fi
  echo "no mounts of its own here: the source is not hidden"
else
  for folder in $HIDDEN; do
    if [[ -n $(ls -A "$folder" 2>/dev/null) ]]; then
      echo "$folder is still there"
      exit 1
    fi
  done
  echo "without $HIDDEN:"
fi

fail() {
  echo "$*"
  exit 1
}

# --- a project ------------------------------------------------------------------------------------------------------
lines=$(cat consumer/CMakeLists.txt consumer/main.cpp | wc -l)
[[ $lines -le 60 ]] || fail "the consumer has $lines lines; expected 60 at most"
"$CMAKE" -G "$GENERATOR" -S consumer -B consumer/build -D CMAKE_BUILD_TYPE="$CONFIG" -D CMAKE_CXX_COMPILER="$CXX" \
  -D CMAKE_PREFIX_PATH="$PREFIX;$KOKKOS" >configure.log 2>&1 || fail "$(cat configure.log)"
"$CMAKE" --build consumer/build --config "$CONFIG" >build.log 2>&1 || fail "$(cat build.log)"
for folder in $HIDDEN; do
  # Kastor's package file says where its Kokkos was; that is not used here.
  if grep -rlF "$folder" consumer/build --include=*.ninja --include=*.make --include=Makefile; then
    fail "the consumer's build names $folder"
  fi
done

# --- its version ----------------------------------------------------------------------------------------------------
package=$(dirname "$(find "$PREFIX" -name kastorConfigVersion.cmake)")
IFS=. read -r major minor patch <<<"$VERSION"
compatible() {
  cat >version.cmake <<SCRIPT
set(PACKAGE_FIND_VERSION $1)
string(REPLACE . ";" parts $1)
list(GET parts 0 PACKAGE_FIND_VERSION_MAJOR)
list(GET parts 1 PACKAGE_FIND_VERSION_MINOR)
include($package/kastorConfigVersion.cmake)
if(NOT PACKAGE_VERSION STREQUAL "$VERSION")
  message(FATAL_ERROR "the package says it is \${PACKAGE_VERSION}")
endif()
message(STATUS "compatible \${PACKAGE_VERSION_COMPATIBLE}")
SCRIPT
  "$CMAKE" -P version.cmake | grep -qi 'compatible TRUE'
}
compatible "$major.$minor" || fail "$VERSION does not serve those who ask for $major.$minor"
compatible "$major.$minor.$patch" || fail "$VERSION does not serve those who ask for it"
for other in "$((major + 1)).0" "$major.$((minor + 1))" "$major.$minor.$((patch + 1))"; do
  if compatible "$other"; then fail "$VERSION says that it can stand in for $other"; fi
done
if [[ $major -eq 0 && $minor -gt 0 ]] && compatible "0.$((minor - 1))"; then
  fail "$VERSION says that it can stand in for 0.$((minor - 1))"
fi

# --- the command ----------------------------------------------------------------------------------------------------
kastor=$PREFIX/bin/kastor
if [[ ! -x $kastor ]]; then
  echo "no command in this build"
elif [[ -n ${NEEDS_DEVICE:-} ]] && ! "$kastor" info --json --on "$NEEDS_DEVICE" >/dev/null 2>&1; then
  echo "no usable $NEEDS_DEVICE device here"
fi
if [[ -x $kastor ]]; then
  mkdir -p job
  cd job
  [[ $("$kastor" --version) == *"$VERSION"* ]] || fail "kastor --version: $("$kastor" --version)"
  "$kastor" simulate sky --size 256 -o sky.fits --quiet
  "$kastor" find sky.fits -o found.fits -o found.csv --picture found.png --quiet  # the picture needs the font
  "$kastor" view sky.fits --catalogue found.fits --labels -o sky.png --quiet
  [[ $(wc -l <found.csv) -gt 1 && -s found.png && -s sky.png ]] || fail "find or view left nothing"
  # The scripts are found whether or not this Python has the packages; they say so themselves.
  said=$("$kastor" bench --peers --size 64 --repeats 1 --on serial --quiet 2>&1) ||
    [[ $said == *"expected a Python 3 with NumPy and SciPy"* ]] || fail "bench --peers: $said"
  said=$("$kastor" report sky.fits -o sky.html --quiet 2>&1) ||
    [[ $said == *"expected a Python 3 with astropy, matplotlib and Jinja2"* ]] || fail "report: $said"
  cd ..
fi

if [[ -n ${NEEDS_DEVICE:-} && -x $kastor ]] && ! "$kastor" info --json --on "$NEEDS_DEVICE" >/dev/null 2>&1; then
  echo "built and linked, but not run"
  exit 0
fi
consumer/build/consumer | tee consumer.log
grep -q "^kastor $VERSION found 3 sources on " consumer.log || fail "the consumer did not find 3 sources"
