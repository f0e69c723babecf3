# SPDX-License-Identifier: Apache-2.0
"""Images for tests, as lists of rows, first row first."""

import itertools
import math
import random

import reference

IMAGE = [[0.0, 1.0], [2.0, 3.0]]

WCS_CARDS = [("CTYPE1", "RA---TAN"), ("CTYPE2", "DEC--TAN"), ("CRVAL1", 266.4), ("CRVAL2", -29.0)]
WCS_CARDS += [("CRPIX1", 32.0), ("CRPIX2", 32.0), ("CDELT1", -0.01), ("CDELT2", 0.01)]


def noisy_sky(ny, nx, seed):
    """float32 noise with a few sources, plateaus (equal peaks) and blank pixels."""
    random_numbers = random.Random(seed)
    rows = [[random_numbers.gauss(0.01, 0.1) for _ in range(nx)] for _ in range(ny)]
    for _ in range(ny * nx // 150):
        y0, x0 = random_numbers.randrange(ny), random_numbers.randrange(nx)
        flux, width = random_numbers.uniform(1, 9), random_numbers.uniform(0.4, 1.6)
        for y in range(max(0, y0 - 5), min(ny, y0 + 6)):
            for x in range(max(0, x0 - 5), min(nx, x0 + 6)):
                rows[y][x] += flux * math.exp(-((x - x0) ** 2 + (y - y0) ** 2) / (2 * width**2))
    for _ in range(5):
        y, x = random_numbers.randrange(ny), random_numbers.randrange(nx - 1)
        rows[y][x] = rows[y][x + 1] = 7.5
        rows[random_numbers.randrange(ny)][random_numbers.randrange(nx)] = math.nan
    rows[0][0] = math.inf
    return [[reference.as_float32(v) for v in row] for row in rows]


def island_sky(ny=64, nx=80, seed=5, noise=0.1, level=0.5):
    """float32 noise over a level, blobs of both signs, some on the border, blank pixels."""
    random_numbers = random.Random(seed)
    rows = [[random_numbers.gauss(level, noise) for _ in range(nx)] for _ in range(ny)]
    for number, (y0, x0) in enumerate(itertools.product(range(0, ny, 12), range(4, nx, 14))):
        height = noise * (6 + 3 * (number % 7)) * (-1 if number % 3 == 2 else 1)
        width = 0.8 + 0.2 * (number % 4)
        for y in range(max(0, y0 - 5), min(ny, y0 + 6)):
            for x in range(max(0, x0 - 5), min(nx, x0 + 6)):
                rows[y][x] += height * math.exp(
                    -((x - x0) ** 2 + (y - y0 - 0.3) ** 2) / (2 * width**2)
                )
    for _ in range(9):
        rows[random_numbers.randrange(ny)][random_numbers.randrange(nx)] = random_numbers.choice(
            [math.nan, math.inf, -math.inf]
        )
    return [[reference.as_float32(v) for v in row] for row in rows]
