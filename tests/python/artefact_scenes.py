# SPDX-License-Identifier: Apache-2.0
"""Measures what --adaptive-rms does to false islands and to completeness near bright sources.

    python3 tests/python/artefact_scenes.py KASTOR SKIES

Each sky has noise with the shape of the beam, four sources of 300, 600, 1200 and 2400 times the
noise, 40 faint sources 3 to 12 beam widths from them and 20 anywhere, and artefacts of both signs
around the bright ones, of a given fraction of their peaks: rings, spokes, or both. A source is
found if an island has its peak within 3 pixels; an island is false if it covers no source. Needs
astropy, numpy and scipy (requirements.txt).
"""

import csv
import pathlib
import subprocess
import sys
import tempfile

import numpy
from astropy.io import fits
from scipy import ndimage

SIDE, FWHM = 512, 4.0
SIGMA = FWHM / 2.3548
BRIGHT = [(128, 128, 300), (128, 384, 600), (384, 128, 1200), (384, 384, 2400)]
SCENES = [("none", 0), ("rings", 0.01), ("spokes", 0.01), ("both", 0.01), ("both", 0.004)]
BINS = [5, 7, 10, 15, 25, 60]
Y, X = numpy.mgrid[:SIDE, :SIDE].astype(float)


def noise(rng):
    white = rng.normal(size=(SIDE + 64, SIDE + 64))
    smooth = ndimage.gaussian_filter(white, SIGMA / numpy.sqrt(2))[32:-32, 32:-32]
    return smooth / smooth.std()


def artefacts(rng, kind, y, x):
    """Of a source with a peak of 1 / fraction."""
    dy, dx = Y - y, X - x
    r, angle = numpy.hypot(dx, dy), numpy.arctan2(dy, dx)
    pattern = numpy.zeros_like(r)
    if kind in ("rings", "both"):
        ring = numpy.cos(2 * numpy.pi * r / (1.7 * FWHM) + rng.uniform(0, 6.28))
        lobes = 1 + 0.5 * numpy.cos(2 * angle + rng.uniform(0, 6.28))
        pattern += ring * lobes * numpy.exp(-r / (4 * FWHM))
    for _ in range(8 if kind in ("spokes", "both") else 0):
        turn, sign = rng.uniform(0, 2 * numpy.pi), rng.choice([-1, 1])
        along = dx * numpy.cos(turn) + dy * numpy.sin(turn)
        across = dx * numpy.sin(turn) - dy * numpy.cos(turn)
        spoke = numpy.exp(-(across**2) / (2 * 1.6**2) - r / (6 * FWHM))
        pattern += numpy.where(along > 0, sign * spoke, 0)
    return numpy.where(r > 1.5 * FWHM, pattern, 0)


def scene(seed, kind, fraction):
    """The pixels, and the sources as (y, x, peak): four bright, 40 near them, 20 anywhere."""
    rng = numpy.random.default_rng(seed)
    image, sources = noise(rng), []

    def add(y, x, peak):
        sources.append((y, x, peak))
        return image + peak * numpy.exp(-((Y - y) ** 2 + (X - x) ** 2) / (2 * SIGMA**2))

    for y, x, peak in BRIGHT:
        image = add(y + rng.uniform(-0.5, 0.5), x + rng.uniform(-0.5, 0.5), peak)
        if kind != "none":
            image = image + fraction * peak * artefacts(rng, kind, y, x)
    while len(sources) < 64:
        y, x = rng.uniform(12, SIDE - 12, 2)
        if len(sources) < 44:
            middle = BRIGHT[len(sources) % 4]
            r, angle = FWHM * rng.uniform(3, 12), rng.uniform(0, 6.28)
            y, x = middle[0] + r * numpy.sin(angle), middle[1] + r * numpy.cos(angle)
        if all(numpy.hypot(y - s[0], x - s[1]) >= 3 * FWHM for s in sources):
            image = add(y, x, 10 ** rng.uniform(numpy.log10(5), numpy.log10(60)))
    return image.astype("f4"), sources


def find(kastor, folder, image, options):
    cards = {"CTYPE1": "RA---SIN", "CTYPE2": "DEC--SIN", "CRVAL1": 0.0, "CRVAL2": -30.0}
    cards |= {"CRPIX1": SIDE / 2, "CRPIX2": SIDE / 2, "CDELT1": -1 / 3600, "CDELT2": 1 / 3600}
    cards |= {"BMAJ": FWHM / 3600, "BMIN": FWHM / 3600, "BPA": 0.0, "BUNIT": "Jy/beam"}
    fits.writeto(folder / "sky.fits", image, fits.Header(cards), overwrite=True)
    outputs = ["-o", folder / "sky.csv", "--labels", folder / "ids.fits", "--overwrite", "--quiet"]
    words = [kastor, "find", folder / "sky.fits", "--preset", "radio", *outputs, *options]
    subprocess.run(list(map(str, words)), check=True)
    with (folder / "sky.csv").open(newline="") as file:
        peaks = [(int(row["y_peak"]), int(row["x_peak"])) for row in csv.DictReader(file)]
    return peaks, fits.getdata(folder / "ids.fits")


def score(kastor, folder, skies, kind, fraction, options):
    """False islands, and [near, far] x bin x [found, all]."""
    false, counts = 0, numpy.zeros((2, len(BINS) - 1, 2), int)
    for seed in range(skies):
        image, sources = scene(seed, kind, fraction)
        peaks, ids = find(kastor, folder, image, options)
        real = set()
        for number, (y, x, peak) in enumerate(sources):
            row, column = round(y), round(x)
            here = set(ids[row - 1 : row + 2, column - 1 : column + 2].ravel()) - {0}
            real |= here
            if number < len(BRIGHT):
                continue
            found = any(numpy.hypot(peaks[i - 1][0] - y, peaks[i - 1][1] - x) < 3 for i in here)
            at = counts[0 if number < 44 else 1, numpy.searchsorted(BINS, peak) - 1]
            at += (found, 1)
        false += len(peaks) - len(real)
    return false, counts


def main():
    kastor, skies = sys.argv[1], int(sys.argv[2])
    print("S/N " + " ".join(f"{low}-{high}" for low, high in zip(BINS, BINS[1:])))
    with tempfile.TemporaryDirectory() as name:
        for kind, fraction in SCENES:
            for options in ([], ["--adaptive-rms", "200"]):
                false, counts = score(kastor, pathlib.Path(name), skies, kind, fraction, options)
                shares = [[f"{found}/{every}" for found, every in part] for part in counts]
                near, far = map(" ".join, shares)
                print(kind, fraction, " ".join(options) or "without", f"false {false}", flush=True)
                print(f"  near {near}; anywhere {far}", flush=True)


if __name__ == "__main__":
    main()
