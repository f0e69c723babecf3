# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: sources larger than a cell of the mesh (find --large-sources)."""

import csv
import json

import command
from command import AppTestCase


class TestLargeSources(AppTestCase):
    """Simulated skies of 512 x 512 pixels; a cell of the preset radio is 40 pixels wide."""

    def sky(self, name, *options):
        words = ["--size", 512, "--beam", 2, "--seed", 3, *options, "-o", name]
        self.assert_done(command.run("simulate", "sky", *map(str, words), cwd=self.folder))
        return name

    def find(self, *names, options="", preset="radio"):
        # Islands alone: fits of sources this large are slow with sanitizers.
        words = ["find", *names, "--preset", preset, "--components", "none", *options.split(), "--json"]
        done = command.run(*words, cwd=self.folder)
        self.assert_done(done)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def rows(self, name):
        with (self.folder / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def test_a_source_of_several_cells_is_found_whole(self):
        self.sky("lobes.fits", "--add", "lobes:count=1,size=200,snr=60,place=grid")
        [truth] = self.rows("lobes_truth.csv")
        ratios = {}
        for choice in ("mask", "ignore"):
            name = f"{choice}.csv"
            [found] = self.find("lobes.fits", options=f"--large-sources {choice} -o {name}")
            ratios[choice] = sum(float(r["flux_sum"]) for r in self.rows(name))
            ratios[choice] *= 0.2206356 / float(truth["flux_int"])  # 4 ln 2 / (4 pi) beams a pixel
            masked = found["background"]["masked"]
            notes = [n for n in found["notes"] if "larger than a cell" in n]
            if choice == "mask":
                says = f"{masked} of 169 mesh cells are covered by sources larger than a cell"
                self.assertGreater(masked, 9)
                self.assertEqual(len(notes), 1)
                self.assertTrue(notes[0].startswith(says), notes)
            else:
                self.assertEqual((masked, notes), (0, []))
        # Of two Gaussians of 60 s, a twentieth is below 3 s.
        self.assertAlmostEqual(ratios["mask"], 0.95, delta=0.03)
        self.assertLess(ratios["ignore"], 0.5)

        [flat] = self.find("lobes.fits", options="--background 0")
        [note] = [n for n in flat["notes"] if "larger than a cell" in n]
        self.assertIn("; the noise there is interpolated", note)

        # What the presets do without the option, and what the output says of it.
        for preset, choice in (("radio", "mask"), ("sextractor", "ignore")):
            [usual] = self.find("lobes.fits", preset=preset, options="-o o.ecsv --overwrite")
            self.assertIn(f"--large-sources {choice}", (self.folder / "o.ecsv").read_text("utf-8"))
            [same] = self.find("lobes.fits", preset=preset, options=f"--large-sources {choice}")
            self.assertEqual(usual, same)

    def test_the_total_of_a_disk_is_that_of_a_disk(self):
        self.sky("disk.fits", "--add", "disk:count=1,size=150,snr=20,place=grid")
        [truth] = self.rows("disk_truth.csv")
        self.find("disk.fits", options="-o disk.csv")
        largest = max(self.rows("disk.csv"), key=lambda row: int(row["n_pix"]))
        total = float(largest["flux_int"])
        self.assertAlmostEqual(total / float(truth["flux_int"]), 1, delta=0.03)

    def test_other_skies_are_left_alone(self):
        slope = ("--level-gradient", "0.002,0.001", "--noise-gradient", 0.5)
        full = ("--sources-per-mpx", 0, "--add", "disk:count=1,size=400,snr=30,place=grid")
        names = [self.sky("slope.fits", *slope), self.sky("full.fits", *full)]
        masking = self.find(*names)
        ignoring = self.find(*names, options="--large-sources ignore")
        for found, other in zip(masking, ignoring):
            self.assertEqual(found["catalogue_hash"], other["catalogue_hash"])
            self.assertEqual(found["background"], other["background"])
        notes = [[n for n in found["notes"] if "larger than a cell" in n] for found in masking]
        self.assertEqual(notes[0], [])
        self.assertEqual(len(notes[1]), 1)
        self.assertIn("so all count as sky: try a larger --cell", notes[1][0])

    def test_refusals(self):
        self.sky("sky.fits")
        for options, says in (
            ("--preset radio --large-sources yes", "--large-sources: found 'yes'"),
            ("--large-sources mask", "--large-sources: found with --preset lesson"),
        ):
            self.assert_refused(
                2, "find", "sky.fits", *options.split(), says=[says], cwd=self.folder)


if __name__ == "__main__":
    command.main(__doc__)
