# SPDX-License-Identifier: Apache-2.0
"""Clusters of points that overlap, added to an image of noise. Needs Python alone."""
import array
import dataclasses
import math
import random
import sys

FWHM = math.sqrt(8 * math.log(2))  # over the standard deviation


@dataclasses.dataclass(frozen=True)
class Clusters:
    """Round clusters on a grid, points of the width of the beam in each, no two of them close to each other."""
    side: int          # of the grid
    count: int         # of points in a cluster
    low: float         # peaks, uniform in their logarithm
    high: float
    least: float       # distance of two points [beam]
    area: float = 2.4  # of a cluster, for each point [beam^2]
    beam: float = 4    # FWHM [pixel]
    seed: int = 11

    @property
    def radius(self):
        return math.sqrt(self.count * self.area * self.beam**2 / math.pi)

    @property
    def spacing(self):
        return 2 * math.ceil(self.radius) + 40

    @property
    def size(self):
        return self.side * self.spacing

    def places(self, numbers):
        """Of the points of a cluster, from its middle."""
        found = []
        while len(found) < self.count:
            place = numbers.uniform(-self.radius, self.radius), numbers.uniform(-self.radius, self.radius)
            if math.hypot(*place) < self.radius and all(math.dist(place, other) >= self.least * self.beam for other in found):
                found.append(place)
        return found

    def points(self):
        """(x, y, peak) of all."""
        numbers = random.Random(self.seed)
        rows = []
        for cell in range(self.side**2):
            x, y = self.spacing * (cell % self.side + 0.5), self.spacing * (cell // self.side + 0.5)
            for dx, dy in self.places(numbers):
                rows.append((x + dx, y + dy, math.exp(numbers.uniform(math.log(self.low), math.log(self.high)))))
        return rows

    def add_to(self, path):
        """Adds them to a FITS file of float32 of this size. Returns the rows of the truth."""
        content = bytearray(path.read_bytes())
        begin = next(2880 * (i // 2880 + 1) for i in range(0, len(content), 80) if content[i:i + 8] == b"END     ")
        length = 4 * self.size**2
        pixels = array.array("f", bytes(content[begin:begin + length]))
        if sys.byteorder == "little":
            pixels.byteswap()
        points = self.points()
        for x, y, peak in points:
            reach = math.ceil(self.beam / FWHM * math.sqrt(2 * math.log(1e3 * peak)))
            for row in range(max(0, round(y) - reach), min(self.size, round(y) + reach + 1)):
                for column in range(max(0, round(x) - reach), min(self.size, round(x) + reach + 1)):
                    squared = ((column - x)**2 + (row - y)**2) * (FWHM / self.beam)**2
                    pixels[row * self.size + column] += peak * math.exp(-squared / 2)
        if sys.byteorder == "little":
            pixels.byteswap()
        content[begin:begin + length] = pixels.tobytes()
        path.write_bytes(content)
        return [{"x": x, "y": y, "flux_peak": peak, "flux_int": peak, "fwhm": self.beam, "minor": self.beam, "angle": 0,
                 "group": 0} for x, y, peak in points]
