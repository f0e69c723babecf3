# SPDX-License-Identifier: Apache-2.0
"""Skies of Gaussians whose fits are tested: noise of rms 1 with the beam as its autocorrelation, sources on a grid.

    gaussian_skies.py FOLDER [NAME...]     writes NAME.fits and NAME_truth.csv, by default of all skies

Needs numpy and nothing of Kastor, so that no error of its simulations can hide one of its fits. The tables of the true
sources have the columns of `kastor simulate sky`.
"""
import csv
import dataclasses
import math
import pathlib
import sys

import numpy as np

FWHM = math.sqrt(8 * math.log(2))  # over the standard deviation
PIXEL = 2.0  # arcsec
ROUND = (4.0, 4.0, 0.0)  # beam: major and minor FWHM [pixel], angle from +x to +y [deg]
OBLONG = (5.0, 3.5, 35.0)


def covariance(major, minor, angle):
    """Of a Gaussian of these FWHM: a matrix [pixel^2]."""
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    turn = np.array([[c, -s], [s, c]])
    return turn @ np.diag([(major / FWHM) ** 2, (minor / FWHM) ** 2]) @ turn.T


def ellipse(matrix):
    """FWHM and angle of a covariance matrix."""
    half, difference = (matrix[0, 0] + matrix[1, 1]) / 2, (matrix[0, 0] - matrix[1, 1]) / 2
    root = math.hypot(difference, matrix[0, 1])
    angle = math.degrees(math.atan2(matrix[0, 1], difference)) / 2
    return FWHM * math.sqrt(half + root), FWHM * math.sqrt(half - root), angle


def noise(shape, beam, random):
    """White noise convolved with the beam's shape, narrower by the square root of 2."""
    ky = 2 * np.pi * np.fft.fftfreq(shape[0])[:, None]
    kx = 2 * np.pi * np.fft.rfftfreq(shape[1])[None, :]
    c = covariance(*beam) / 2
    transfer = np.exp(-(c[0, 0] * kx**2 + 2 * c[0, 1] * kx * ky + c[1, 1] * ky**2) / 2)
    image = np.fft.irfft2(np.fft.rfft2(random.standard_normal(shape)) * transfer, s=shape)
    return image / image.std()


def add(image, peak, x, y, shape):
    """A Gaussian, out to where it is below a thousandth of the noise."""
    inverse = np.linalg.inv(covariance(*shape))
    reach = math.ceil(shape[0] / FWHM * math.sqrt(2 * math.log(max(1e3 * abs(peak), 10)))) + 1
    x1, x2 = max(0, round(x) - reach), min(image.shape[1], round(x) + reach + 1)
    y1, y2 = max(0, round(y) - reach), min(image.shape[0], round(y) + reach + 1)
    dx, dy = np.arange(x1, x2)[None, :] - x, np.arange(y1, y2)[:, None] - y
    image[y1:y2, x1:x2] += peak * np.exp(-(inverse[0, 0] * dx**2 + 2 * inverse[0, 1] * dx * dy + inverse[1, 1] * dy**2) / 2)


@dataclasses.dataclass(frozen=True)
class Sky:
    """Sources, or pairs of them, on a grid of `side` x `side` cells, each at a random place within a pixel."""
    name: str
    peaks: tuple             # of each source of a cell [rms]
    side: int
    beam: tuple = ROUND
    width: float = 1         # of the sources, over that of the beam
    intrinsic: tuple = ()    # or: size before the convolution with the beam
    separation: float = 0    # of a pair, over the mean width of the beam
    spacing: int = 48        # of the grid [pixel]
    seed: int = 5

    @property
    def shape(self):
        """FWHM and angle of the sources in the image."""
        if self.intrinsic:
            return ellipse(covariance(*self.beam) + covariance(*self.intrinsic))
        return self.beam[0] * self.width, self.beam[1] * self.width, self.beam[2]

    def make(self):
        """Image, and rows (x, y, peak, group)."""
        random = np.random.default_rng(self.seed)
        image = noise((self.side * self.spacing,) * 2, self.beam, random)
        rows, half = [], self.separation * math.sqrt(self.beam[0] * self.beam[1]) / 2
        for cell in range(self.side**2):
            x, y = (self.spacing * (np.array([cell % self.side, cell // self.side]) + 0.5) + random.uniform(-0.5, 0.5, 2)).tolist()
            angle = random.uniform(0, 2 * math.pi)
            for sign, peak in zip((-1, 1), self.peaks):
                group = cell + 1 if len(self.peaks) == 2 else 0
                rows.append((x + sign * half * math.cos(angle), y + sign * half * math.sin(angle), peak, group))
        for x, y, peak, _ in rows:
            add(image, peak, x, y, self.shape)
        return image, rows


@dataclasses.dataclass(frozen=True)
class Clusters:
    """Points of 10 to 100 times the noise in circles, none closer to another than 1.2 beams: one island each."""
    name: str
    count: int               # of points in a cluster
    side: int = 3
    cut: str = ""            # what cuts them: the "edge" of the image, or a strip of "blank" pixels
    beam: tuple = ROUND
    seed: int = 8

    shape = property(lambda self: self.beam)

    def cluster(self, random, radius):
        places = []
        while len(places) < self.count:
            place = random.uniform(-radius, radius, 2)
            near = np.hypot(*(np.array(places) - place).T) < 1.2 * self.beam[0] if places else np.array([False])
            if np.hypot(*place) < radius and not near.any():
                places.append(place)
        return places

    def make(self):
        random = np.random.default_rng(self.seed)
        radius = math.sqrt(self.count * 2.6 * self.beam[0] ** 2 / math.pi)  # 2.6 squares of the beam's width each
        spacing = 2 * math.ceil(radius) + 60
        image = noise((self.side * spacing,) * 2, self.beam, random)
        rows = []
        for cell in range(self.side**2):
            middle = spacing * (np.array([cell % self.side, cell // self.side]) + 0.5)
            for place in self.cluster(random, radius):
                rows.append((*(middle + place).tolist(), math.exp(random.uniform(math.log(10), math.log(100))), 0))
        for x, y, peak, _ in rows:
            add(image, peak, x, y, self.beam)
        if self.cut == "edge":  # through the middle of the first column
            first = spacing // 2
            image = image[:, first:]
            rows = [(x - first, *rest) for x, *rest in rows if x - first > -0.5]
        if self.cut == "blank":
            for column in range(self.side):
                x1 = round((column + 0.5) * spacing) - 4
                image[:, x1:x1 + 9] = np.nan
                rows = [row for row in rows if not x1 - 0.5 <= row[0] < x1 + 8.5]
        return image, rows


def pairs(first, second, separation):
    return Sky(f"pair-{first}-{second}-{separation}", (first, second), 20, separation=separation, seed=7)


SKIES = {sky.name: sky for sky in [
    Sky("resolved", (199,), 63, OBLONG, intrinsic=(7.5, 2.1, 12.0)),
    *(Sky(f"points-{peak}", (peak,), side, OBLONG, seed=peak) for peak, side in ((6, 40), (10, 30), (30, 30))),
    Sky("wide-15", (15,), 24, OBLONG, width=2, spacing=56),
    *(pairs(*peaks, separation) for peaks in ((30, 9), (30, 30), (10, 10), (100, 10)) for separation in (0.8, 1.0, 1.2)),
    *(Sky(f"alone-{peak}-{width}", (peak,), 20, width=width, spacing=48 if width < 3 else 64)
      for peak, width in ((6, 1), (10, 1), (30, 1), (100, 1), (1000, 1), (15, 2), (50, 3), (300, 2))),
    *(Sky(f"forced-{peak}", (peak,), 40, spacing=30, seed=40 + peak) for peak in (0, 2, 5, 10)),
    *(Sky(f"forced-{'-'.join(map(str, peaks))}-{separation}", peaks, 40, spacing=30, separation=separation, seed=4)
      for peaks, separation in (((10, 5), 0.5), ((10, 0), 1.0), ((10, 5), 0.25))),
    Clusters("cluster-100", 100), Clusters("cluster-200", 200),
    Clusters("cluster-edge", 150, cut="edge"), Clusters("cluster-blank", 150, cut="blank"),
]}

COLUMNS = ["x", "y", "flux_peak", "flux_int", "fwhm", "minor", "angle", "shape", "rms", "snr", "group"]


def write_image(path, image, beam):
    """Plain FITS in Jy/beam at the equator, east to the left."""
    height, width = image.shape
    cards = [("SIMPLE", "T"), ("BITPIX", -32), ("NAXIS", 2), ("NAXIS1", width), ("NAXIS2", height),
             ("CTYPE1", "'RA---SIN'"), ("CTYPE2", "'DEC--SIN'"), ("CRVAL1", 45.0), ("CRVAL2", 0.0),
             ("CRPIX1", width / 2 + 0.5), ("CRPIX2", height / 2 + 0.5), ("CDELT1", -PIXEL / 3600), ("CDELT2", PIXEL / 3600),
             ("CUNIT1", "'deg     '"), ("CUNIT2", "'deg     '"), ("RADESYS", "'ICRS    '"), ("BUNIT", "'JY/BEAM '"),
             ("BMAJ", beam[0] * PIXEL / 3600), ("BMIN", beam[1] * PIXEL / 3600), ("BPA", beam[2] - 90), ("RESTFRQ", 1.4e9)]
    text = "".join((f"{key:8}= {value}" if isinstance(value, str) and value[0] == "'" else f"{key:8}= {value!s:>20}").ljust(80)
                   for key, value in cards) + "END".ljust(80)
    data = image.astype(">f4").tobytes()
    path.write_bytes(text.ljust(-len(text) % 2880 + len(text)).encode() + data + bytes(-len(data) % 2880))


def write(sky, folder):
    image, rows = sky.make()
    areas = sky.shape[0] * sky.shape[1] / (sky.beam[0] * sky.beam[1])
    with open(folder / f"{sky.name}_truth.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for x, y, peak, group in rows:
            table.writerow([x, y, peak, peak * areas, *sky.shape, "gaussian", 1, peak, group])
    write_image(folder / f"{sky.name}.fits", image, sky.beam)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or SKIES:
        write(SKIES[name], folder)


if __name__ == "__main__":
    main()
