# SPDX-License-Identifier: Apache-2.0
"""What Kastor's catalogues must be worth on skies whose true sources are known.

    run_science_tests.py --kastor PROGRAM [--keep FOLDER] [CLASS[.TEST]...]

Each figure of `kastor evaluate` must lie within its limits, each limit wider by three standard errors of the figure. A
failure says the figure, the limits, and the commands that give it. With --keep, images and catalogues stay in FOLDER;
the images are used again if the same command made them.
"""
import math
import unittest

from scenes import NOISES, SCENES
from science import Figure, false_ratio, half, pooled, run_tests, share

shop = None


class ScienceTestCase(unittest.TestCase):
    def judge(self, name):
        self.scene = SCENES[name]
        return shop.evaluate(self.scene)

    def assert_within(self, figure, low, high):
        complaint = figure.complaint(low, high)
        if complaint:
            commands = (self.scene.simulate, self.scene.search, self.scene.judge())
            self.fail("\n  ".join([f"{self.scene.name}: {complaint}", *(f"kastor {words}" for words in commands)]))

    def assert_pulls(self, evaluation, quantity, low, high):
        """The width, as the standard deviation and as the robust one that outliers do not change."""
        for statistic in ("std", "sigma"):
            self.assert_within(pooled(evaluation, quantity, "pull", statistic), low, high)

    def assert_complete(self, evaluation, low, high, least):
        self.assert_within(share(evaluation, low, high), least, 1)

    def assert_clean(self, evaluation, most_per_million=20):
        """Above the standard threshold, noise makes some 5 for 10^6 beams."""
        false = evaluation["false_detections"]
        error = math.sqrt(max(false["count"], 1)) * 1e6 / evaluation["area"]["clear_beams"]
        self.assert_within(Figure("false detections per 10^6 beams", false["per_million_beams"], error), 0, most_per_million)


class TestPoints(ScienceTestCase):
    """Isolated points on three kinds of noise, 2000 of them of S/N 10 to 50."""

    def check(self, kind, flux_pulls):
        result = self.judge(f"points-{kind}")
        self.assertGreater(result["measures"]["flux_int"]["pooled"]["pull"]["count"], 2000)
        for statistic in ("median", "mean"):
            self.assert_within(pooled(result, "flux_int", "deviation", statistic), -0.03, 0.03)
        self.assert_within(pooled(result, "flux_peak", "deviation", "median"), -0.04, 0)  # a pixel misses the peak
        self.assert_pulls(result, "flux_int", *flux_pulls)
        for axis in ("x", "y"):
            self.assert_within(pooled(result, axis, "deviation", "mean"), -0.005, 0.005)
            self.assert_pulls(result, axis, 0.95, 1.05)
        self.assert_within(half(result), 4, 5.1)
        self.assert_complete(result, 8, 50, 1)
        self.assert_clean(result)

    def test_noise_as_the_beam(self):
        self.check("beam", (0.95, 1.08))

    def test_noise_convolved_with_the_beam(self):
        self.check("condon", (0.9, 1.1))

    def test_white_noise(self):
        self.check("white", (0.9, 1.1))


class TestNoise(ScienceTestCase):
    """No source at all: false detections above 4 standard deviations, against the theory of Gaussian fields."""

    def test_false_detections(self):
        for kind in NOISES:
            with self.subTest(kind):
                result = self.judge(f"empty-{kind}")
                self.assertGreater(result["false_detections"]["count"], 200)
                self.assert_within(false_ratio(result), 0.8, 1.2)


class TestExtended(ScienceTestCase):
    """Sources wider than the beam."""

    def test_gaussians(self):
        result = self.judge("extended")
        self.assert_complete(result, 10, 50, 1)
        self.assert_within(pooled(result, "flux_int", "deviation", "median"), -0.03, 0.03)
        self.assert_within(pooled(result, "major", "deviation", "median"), -0.05, 0.05)
        self.assert_pulls(result, "flux_int", 0.9, 1.1)
        self.assert_pulls(result, "x", 0.9, 1.1)
        self.assert_clean(result)

    def test_disks(self):
        result = self.judge("disks")
        self.assert_complete(result, 10, 50, 1)
        self.assert_within(pooled(result, "flux_iso", "deviation", "median"), -0.05, 0.01)
        self.assertEqual(result["rows"]["fragments"], 0)
        self.assert_clean(result)

    def test_lobes_of_several_cells(self):
        """The total flux of all rows in a source's area, whether its lobes are one island or two."""
        self.judge("lobes")
        rows = shop.rows(self.scene)
        for x, y, flux, size in shop.truth(self.scene, "x", "y", "flux_int", "fwhm"):
            near = [float(row["flux_int"]) for row in rows
                    if math.hypot(float(row["x_cen"]) - x, float(row["y_cen"]) - y) < 0.6 * size]
            found = math.fsum(value for value in near if math.isfinite(value))
            self.assert_within(Figure(f"measured over true flux at ({x:.0f}, {y:.0f})", found / flux), 0.97, 1.03)


class TestSkies(ScienceTestCase):
    """What real images have beside sources and noise."""

    def test_pairs(self):
        """Two sources 3.5 beams apart are two."""
        result = self.judge("pairs")
        found = result["completeness"]["all_found"] / result["completeness"]["all_sources"]
        self.assert_within(Figure("share of sources found", found), 0.97, 1)
        self.assert_clean(result)

    def test_gradients(self):
        """A noise that rises by a factor of four, and a level of up to ten times the noise."""
        result = self.judge("gradients")
        self.assert_within(half(result), 4, 5.3)
        self.assert_complete(result, 8, 50, 0.99)
        self.assert_within(pooled(result, "flux_int", "deviation", "median"), -0.03, 0.03)
        self.assert_pulls(result, "flux_int", 0.9, 1.1)
        self.assert_clean(result)

    def test_primary_beam(self):
        """Noise that rises outwards."""
        result = self.judge("primary-beam")
        self.assert_within(half(result), 4, 5.1)
        self.assert_complete(result, 8, 50, 0.99)
        self.assert_pulls(result, "flux_int", 0.9, 1.1)
        self.assert_clean(result)

    def test_bowls(self):
        """Negative bowls around sources as deep as a short spacing leaves them: no bright source is lost."""
        result = self.judge("bowls")
        self.assert_complete(result, 8, 50, 0.98)
        self.assert_within(pooled(result, "flux_int", "deviation", "median"), -0.03, 0.03)
        self.assert_clean(result)

    def test_unobserved(self):
        """Borders without data, as NaN and as a constant: nothing is found at them, and all as without them."""
        for name in ("border", "filled", "circle"):
            with self.subTest(name):
                result = self.judge(name)
                self.assert_within(half(result), 4, 5.1)
                self.assert_complete(result, 8, 50, 1)
                self.assert_pulls(result, "flux_int", 0.9, 1.1)
                self.assert_clean(result)


class TestOptical(ScienceTestCase):
    """Counts of photons."""

    def test_stars(self):
        result = self.judge("stars")
        self.assert_within(Figure("false detections", result["rows"]["false"]), 0, 0)
        self.assert_within(half(result), 3, 5.3)
        self.assert_complete(result, 10, 50, 1)
        self.assert_within(pooled(result, "flux_int", "deviation", "median"), -0.03, 0.03)
        self.assert_pulls(result, "flux_int", 0.95, 1.08)

    def test_photons_alone(self):
        result = self.judge("photons")
        self.assert_within(Figure("false detections", result["rows"]["false"]), 0, 0)


def use(workshop):
    global shop
    shop = workshop


if __name__ == "__main__":
    run_tests(__doc__, use)
