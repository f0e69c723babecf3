# SPDX-License-Identifier: Apache-2.0
"""What fitted components and forced fluxes must be worth on skies whose true sources are known.

    run_component_tests.py --kastor PROGRAM [--keep FOLDER] [CLASS[.TEST]...]

As run_science_tests.py. components.py has the same on larger skies of another simulation, beside other finders.
"""
import json
import math
import unittest

from clusters import Clusters
from component_statistics import Beam, evaluate, evaluate_files, extra_share, figure, found_share, read_table, spread
from scenes import COMPONENT_SCENES
from science import Figure, run, run_tests, share

shop = None
PLACE = "flux_peak", "flux_int", "x_cen", "y_cen"
SHAPE = "maj_axis", "min_axis", "pos_ang"
BEFORE = "maj_axis_deconv", "min_axis_deconv", "pos_ang_deconv"


class ComponentTestCase(unittest.TestCase):
    def fit(self, name, shape="free"):
        """The statistics of the components of a scene."""
        scene = COMPONENT_SCENES[f"fit-{name}"]
        shop.simulate(scene)
        catalogue = f"{scene.name}_{shape}.csv"
        search = f"{scene.fit} --components {catalogue} --shape {shape}"
        self.commands = scene.simulate, search
        run([shop.kastor, *search.split(), "--quiet", "--overwrite"], shop.folder)
        files = (shop.folder / file for file in (f"{scene.name}.fits", f"{scene.name}_truth.csv", catalogue))
        return evaluate_files(*files)

    def assert_within(self, found, low, high):
        if complaint := found.complaint(low, high):
            self.fail("\n  ".join([complaint, *(f"kastor {words}" for words in self.commands)]))

    def assert_pulls(self, result, quantities, low, high, statistics=("std", "width")):
        for quantity in quantities:
            with self.subTest(quantity):
                for statistic in statistics:
                    self.assert_within(figure(result, quantity, "pull", statistic), low, high)

    def assert_flux(self, result, low, high):
        """The mean of measured / true - 1."""
        self.assert_within(figure(result, "flux_int", "deviation", "mean"), low, high)


class TestComponents(ComponentTestCase):
    """Isolated sources."""

    def test_resolved(self):
        """Bright ones wider than the beam: all found, no bias, and errors of everything are honest."""
        result = self.fit("resolved")
        self.assertEqual(result["found"], result["sources"])
        for quantity in (*PLACE, *SHAPE, *BEFORE):
            with self.subTest(quantity):
                self.assert_within(figure(result, quantity, "pull", "mean"), 0, 0)
        self.assert_pulls(result, (*PLACE, *SHAPE, *BEFORE), 0.95, 1.05)

    def test_points(self):
        result = self.fit("points")
        self.assert_pulls(result, PLACE, 0.92, 1.08)
        self.assert_flux(result, 0, 0.04)

    def test_points_of_the_beams_shape(self):
        result = self.fit("points", "beam")
        self.assert_pulls(result, ("flux_peak", "x_cen", "y_cen"), 0.92, 1.08)
        self.assert_flux(result, 0, 0.04)

    def test_bright_points(self):
        result = self.fit("bright")
        self.assert_pulls(result, PLACE, 0.92, 1.08)
        self.assert_flux(result, 0, 0.008)

    def test_two_beams_wide(self):
        result = self.fit("wide")
        self.assert_pulls(result, PLACE, 0.92, 1.08)
        self.assert_flux(result, -0.01, 0.01)

    def test_faint_points(self):
        """Those that are found are too bright, since noise lifted them above the threshold."""
        self.assert_flux(self.fit("faint"), 0, 0.12)
        self.assert_flux(self.fit("faint", "beam"), 0, 0.07)

    def test_one_source_is_one_component(self):
        self.assert_within(extra_share(self.fit("alone")), 0, 0.01)

    def test_power_law(self):
        """A field of sources of all sizes: all above ten times the noise are found, and all such rows are true."""
        scene = COMPONENT_SCENES["fit-power-law"]
        self.fit("power-law")
        words = f"evaluate {scene.name}.fits {scene.name}_free.csv --truth {scene.name}_truth.csv --bins 0,5,10,1e8,1e9 --json"
        self.commands += (words,)
        result = json.loads(run([shop.kastor, *words.split()], shop.folder))
        self.assert_within(share(result, 10, 1e8), 0.99, 1)
        rows = next(part for part in result["reliability"]["bins"] if part["low"] == 10)
        self.assert_within(Figure("reliability above 10 rms", rows["matched"] / rows["rows"], 1 / rows["rows"]), 0.99, 1)


class TestBlends(ComponentTestCase):
    """Pairs in one island, a beam or so apart."""

    def check(self, name, least):
        result = self.fit(f"pair-{name}")
        self.assert_within(found_share(result, "groups_found"), least, 1)
        self.assert_within(extra_share(result), 0, 0.02)
        self.assert_pulls(result, PLACE, 0.88, 1.12, ("width",))  # a few are far off: blends are not normally distributed

    def test_one_beam_apart(self):
        self.check("even", 0.95)

    def test_uneven_pairs(self):
        self.check("uneven", 0.85)

    def test_faint_pairs(self):
        self.check("faint", 0.95)

    def test_clusters(self):
        """Forty points that overlap: too many for one fit. Errors are honest, since none is left out."""
        clusters = Clusters(side=6, count=40, low=20, high=60, least=1.2, area=2.2)
        image, catalogue = (shop.folder / f"fit-clusters.{end}" for end in ("fits", "csv"))
        self.commands = (f"simulate sky --size {clusters.size} --noise 1 --beam 4 --noise-kind beam --seed 40 "
                         f"--sources-per-mpx 0 -o {image.name}",
                         f"find {image.name} --preset radio --background 0 --rms 1 --noise beam --components {catalogue.name}")
        run([shop.kastor, *self.commands[0].split(), "--quiet", "--overwrite"], shop.folder)
        truth = clusters.add_to(image)
        run([shop.kastor, *self.commands[1].split(), "--quiet", "--overwrite"], shop.folder)
        result = evaluate(truth, read_table(catalogue), Beam.of(image))
        self.assertGreater(result["flags"]["64"], result["sources"] / 2)
        self.assert_within(found_share(result), 0.99, 1)
        self.assert_within(extra_share(result), 0, 0.02)
        self.assert_pulls(result, PLACE, 0.9, 1.1, ("width",))


class TestParts(ComponentTestCase):
    """Children of deblended islands."""

    def test_crowds_of_stars(self):
        for density, least in ((500, 0.985), (1500, 0.95), (4000, 0.88)):
            with self.subTest(density):
                scene = COMPONENT_SCENES[f"fit-crowd-{density}"]
                self.commands = scene.simulate, scene.search, scene.judge()
                counts = shop.evaluate(scene)["completeness"]
                value = counts["all_found"] / counts["all_sources"]
                error = math.sqrt(value * (1 - value) / counts["all_sources"])
                self.assert_within(Figure("completeness above S/N 20", value, error), least, 1)

    def test_one_source_is_one_part(self):
        """The noise on large and bright sources, that of their photons too, makes no parts."""
        for kind in ("stars", "gaussians", "disks"):
            with self.subTest(kind):
                scene = COMPONENT_SCENES[f"fit-single-{kind}"]
                self.commands = scene.simulate, scene.search
                shop.simulate(scene)
                found = json.loads(run([shop.kastor, *scene.search.split(), "--quiet", "--overwrite", "--json"], shop.folder))
                islands = found["deblending"]["islands"]
                extra = found["sources"] - islands
                self.assertGreater(islands, 200)
                self.assert_within(Figure("parts beside the first of each island", extra / islands, math.sqrt(extra) / islands), 0, 0.005)


class TestForced(ComponentTestCase):
    """Fluxes at given places."""

    def test_faint_fluxes(self):
        """Of 0.5 to 10 times the noise: unbiased, with honest errors that are close to the least possible."""
        scene = COMPONENT_SCENES["fit-forced"]
        shop.simulate(scene)
        truth = shop.truth(scene, "x", "y", "flux_peak")
        (shop.folder / f"{scene.name}_list.csv").write_text("x,y\n" + "".join(f"{x!r},{y!r}\n" for x, y, _ in truth))
        words = f"measure {scene.name}.fits --at {scene.name}_list.csv {scene.find} -o {scene.name}_forced.csv"
        self.commands = scene.simulate, words
        run([shop.kastor, *words.split(), "--quiet", "--overwrite"], shop.folder)
        rows = read_table(shop.folder / f"{scene.name}_forced.csv")
        pulls = spread([(row["flux_peak"] - true[2]) / row["flux_peak_err"] for true, row in zip(truth, rows, strict=True)])
        for statistic, low, high in (("mean", 0, 0), ("std", 0.97, 1.03), ("width", 0.97, 1.03)):
            self.assert_within(Figure(f"{statistic} of pull of flux_peak", pulls[statistic], pulls[f"{statistic}_err"]), low, high)
        errors = sorted(row["flux_peak_err"] for row in rows)
        self.assert_within(Figure("median error [rms]", errors[len(errors) // 2]), 1, 1.1)


def use(workshop):
    global shop
    shop = workshop


if __name__ == "__main__":
    run_tests(__doc__, use)
