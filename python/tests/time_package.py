#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the package on a simulated sky of 2048 x 2048 float32: kastor.sep beside sep, and a call on a CuPy array.

    OMP_NUM_THREADS=1 taskset -c 3 python3 python/tests/time_package.py sky.fits

sky.fits is that of `kastor simulate sky --size 2048`. Medians; what is compared runs in turns.
"""

import sys
import time

import numpy as np
from astropy.io import fits

import kastor
from kastor import sep as kastor_sep

PLAIN = {"filter_kernel": None, "deblend_cont": 1.0, "clean": False}


def in_turns(jobs, repeats=10):
    """Milliseconds by the names of the jobs."""
    times = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            began = time.perf_counter()
            job()
            times[name].append(time.perf_counter() - began)
    return {name: round(1e3 * float(np.median(each)), 1) for name, each in times.items()}


def time_sep(image):
    import sep

    def whole(module, threshold):
        background = module.Background(image)
        return module.extract(image - background, threshold, err=background.rms(), **PLAIN)

    packages = {"sep": sep, "kastor.sep": kastor_sep}
    made = {name: package.Background(image) for name, package in packages.items()}
    print("Background", in_turns({n: lambda p=p: p.Background(image) for n, p in packages.items()}))
    print(
        "both maps",
        in_turns({n: lambda p=p: [(b := p.Background(image)).back(), b.rms()] for n, p in packages.items()}),
    )
    for threshold in (1.5, 3, 5):
        above, rms = image - made["sep"], made["sep"].rms()
        jobs = {n: lambda p=p, t=threshold: p.extract(above, t, err=rms, **PLAIN) for n, p in packages.items()}
        print(f"extract at {threshold}, {len(jobs['sep']())} objects", in_turns(jobs))
        print("  with its background", in_turns({n: lambda p=p, t=threshold: whole(p, t) for n, p in packages.items()}))


def time_cupy(image):
    import cupy

    if "cuda" not in kastor.backends():
        raise ImportError("this Kastor has no GPU")
    pixels = cupy.asarray(image)
    for options in ({}, {"preset": "radio", "components": False, "noise": "white"}):
        for _ in range(20):
            kastor.find(pixels, **options)
        calls, searches = [], []
        for _ in range(300):
            began = time.perf_counter()
            found = kastor.find(pixels, **options)
            calls.append(time.perf_counter() - began)
            searches.append(found._found.seconds)
        call, search = 1e6 * np.median(calls), 1e6 * np.median(searches)
        print(f"find(cupy array) {options}: {call:.1f} us, of which the search {search:.1f} us")


def main():
    with fits.open(sys.argv[1]) as hdus:
        image = np.ascontiguousarray(hdus[0].data.astype("float32"))
    print(f"Kastor {kastor.__version__}, {kastor._instructions.level}, {kastor.backends()}")
    for function in (time_sep, time_cupy):
        try:
            function(image)
        except ImportError as missing:
            print(f"{function.__name__}: skipped, {missing}")


if __name__ == "__main__":
    main()
