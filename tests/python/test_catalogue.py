# SPDX-License-Identifier: Apache-2.0
"""Background, islands and their table against SEP, scikit-image, SciPy, photutils, the catalogues
of Aegean and PyBDSF, and the truth of simulated skies. Figures are printed: they are the record."""

import math
import sys
import unittest
import warnings

import numpy
import sep
from astropy.io import fits
from astropy.table import Table
from astropy.wcs import WCS
from photutils.segmentation import SegmentationImage, SourceCatalog
from scipy import ndimage
from skimage import measure

import runs

FWHM = math.sqrt(8 * math.log(2))  # [sigma]


def say(text):
    """Among what unittest says."""
    print(f"\n  {text}", end=" ", file=sys.stderr, flush=True)


def width(values):
    """Robust: the standard deviation of a normal distribution with that median deviation."""
    return 1.4826 * numpy.median(numpy.abs(values - numpy.median(values)))


class TestBackgroundOfSep(unittest.TestCase):
    """SExtractor's mesh, as SEP has it, where neighbouring cells are alike. Three things differ:

    - Kastor clips the pixels of a cell; SEP a histogram of them, 4096 bins over 10 std at most,
      limits rounded to bins, the median interpolated in a bin;
    - Kastor's surface is a natural spline through the cells. SEP's second derivatives count the
      neighbour on one side for a sixth of what a spline's do;
    - SEP gives row y what its surface has at y - 1/2.
    """

    BACKGROUND = 0.005  # [rms], median over the pixels
    RMS = 0.001  # relative, median over the pixels

    def check_maps(self, path, hdu=None):
        image = runs.pixels(path, hdu)
        good = numpy.isfinite(image)
        found = runs.find(path, "--preset", "sextractor", "--estimate", "mode", "--cell", 64,
                          "--filter", 3, maps=("background_map", "rms_map"), hdu=hdu)
        mesh = sep.Background(numpy.where(good, image, 0), mask=~good, bw=64, bh=64, fw=3, fh=3)
        level, rms = mesh.back(dtype=numpy.float64), mesh.rms(dtype=numpy.float64)
        background = numpy.median((numpy.abs(found.background_map - level) / rms)[good])
        noise = numpy.median(numpy.abs(found.rms_map / rms - 1)[good])
        say(f"{path.name}: background {background:.5f} rms, rms {100 * noise:.3f} %")
        self.assertLessEqual(background, self.BACKGROUND)
        self.assertLessEqual(noise, self.RMS)

    def test_simulated_skies(self):
        for seed in (1, 2):
            self.check_maps(runs.sky(seed))

    def test_images_of_others(self):
        """Of Hyper Suprime-Cam, a field of galaxies, a CCD frame of 16 bits, a section of a CCD."""
        for name, hdu in (("hsc_multiext.fits", 1), ("profound_r_2600_hcomp.fits", 1),
                          ("M13_blue_0001.fits", None), ("ctio_tpv.fits", None)):
            with self.subTest(name):
                self.check_maps(runs.shared(name), hdu)


class TestIslands(unittest.TestCase):
    """The same islands as a labelling of the same mask, exactly."""

    def check_islands(self, found, image, labels):
        """Label map, order, sizes, boxes, peaks and sums; the background is 0."""
        table = found.table
        numpy.testing.assert_array_equal(found.labels, labels)
        n = labels.max()
        self.assertGreater(n, 0)
        ids = numpy.arange(1, n + 1)
        numpy.testing.assert_array_equal(table["island_id"], ids)
        numpy.testing.assert_array_equal(table["n_pix"], numpy.bincount(labels.ravel())[1:])
        for row, (y, x) in zip(table, ndimage.find_objects(labels)):
            self.assertEqual((row["x_min"], row["x_max"], row["y_min"], row["y_max"]),
                             (x.start, x.stop - 1, y.start, y.stop - 1))
            inside = labels[y, x] == row["island_id"]
            values = image[y, x][inside]
            peak = numpy.where(inside, image[y, x], -numpy.inf)
            at = numpy.unravel_index(peak.argmax(), peak.shape)  # the first of equal ones
            self.assertEqual((row["y_peak"], row["x_peak"]), (at[0] + y.start, at[1] + x.start))
            self.assertEqual(row["flux_peak"], values.max())
            # The bound that IslandFinder states.
            bound = (x.stop - x.start + 4) * 2.0**-53 * len(values) * numpy.abs(values).max()
            self.assertLessEqual(abs(row["flux_sum"] - math.fsum(values)), bound)
            self.assertLessEqual(abs(row["raw_sum"] - math.fsum(values)), bound)

    def images(self):
        """Path and threshold: some hundred islands or more in each."""
        yield runs.sky(1), 0.03
        for name, threshold in (("sumss_J2306M36.fits", 0.006), ("m13.fits", 185),
                                ("lofar_lsmtool_4d_f64.fits", 0.001),
                                ("kapteyn_m101_nan.fits", 9000.0)):
            try:
                yield runs.shared(name), threshold
            except unittest.SkipTest as skip:
                say(f"{skip}")

    def test_thresholds(self):
        """One, as scikit-image and SciPy label what is above it, and two."""
        for path, flood in self.images():
            image = runs.pixels(path)
            for connectivity in (4, 8):
                theirs = measure.label(image > flood, connectivity=connectivity // 4)
                numpy.testing.assert_array_equal(
                    theirs, hysteresis(image, flood, flood, connectivity))
                for seed in (flood, 1.5 * flood):
                    with self.subTest(image=path.name, connectivity=connectivity, seed=seed):
                        found = runs.find(path, "--preset", "radio", "--background", 0, "--rms", 1,
                                          "--seed", seed, "--flood", flood,
                                          "--connectivity", connectivity, maps=("labels",))
                        theirs = hysteresis(image, seed, flood, connectivity)
                        say(f"{path.name}, {connectivity}-connected: {theirs.max()} islands")
                        self.check_islands(found, image, theirs)

    def test_on_the_maps_that_were_written(self):
        """float64, so that the maps are what detection saw; both signs."""
        path = runs.sky(3, "--type", "float64", "--sources-per-mpx", 200)
        image = runs.pixels(path)
        found = runs.find(path, "--preset", "radio", "--seed", 4, "--negative",
                          maps=("labels", "background_map", "rms_map", "snr_map"))
        above = image - found.background_map
        rms = found.rms_map
        positive = hysteresis(above, 4 * rms, 3 * rms, 8)
        negative = hysteresis(-above, 4 * rms, 3 * rms, 8)
        self.assertGreater(negative.max(), 0)
        expected = numpy.where(negative > 0, negative + positive.max(), positive)
        numpy.testing.assert_array_equal(found.labels, expected)
        numpy.testing.assert_array_equal(found.snr_map, above / rms)
        say(f"{positive.max()} positive, {negative.max()} negative islands")


def hysteresis(deviation, seed, flood, connectivity):
    """Labels of the components above the flood that have a pixel above the seed, from 1."""
    structure = ndimage.generate_binary_structure(2, connectivity // 4)
    labels, n = ndimage.label(deviation > flood, structure)
    kept = numpy.zeros(n + 1, bool)
    kept[labels[deviation > seed]] = True
    kept[0] = False
    return numpy.where(kept, numpy.cumsum(kept), 0)[labels]


class TestMomentsOfPhotutils(unittest.TestCase):
    """Centre, second moments, sums and peaks on the same pixels.

    photutils adds 1/12 to the variances of islands with a determinant below 1/144 (as SExtractor
    does). Kastor says what was measured, or that there is no shape: pixels on a line. So the axes
    are compared above that, the bare central moments of all that have a shape."""

    TOLERANCE = 1e-9

    @classmethod
    def setUpClass(cls):
        path = runs.sky(3, "--type", "float64", "--sources-per-mpx", 200)
        found = runs.find(path, "--preset", "radio", "--seed", 3,
                          maps=("labels", "background_map"))
        cls.table = found.table
        above = runs.pixels(path) - found.background_map
        cls.theirs = SourceCatalog(above, SegmentationImage(found.labels))
        moments = numpy.asarray(cls.theirs.moments_central)
        cls.var_xx, cls.var_xy, cls.var_yy = (moments[:, j, i] / moments[:, 0, 0]
                                              for j, i in ((0, 2), (1, 1), (2, 0)))

    def close(self, found, expected, scale=None):
        found, expected = numpy.asarray(found), numpy.asarray(expected)
        scale = numpy.abs(expected) if scale is None else scale
        error = numpy.max(numpy.abs(found - expected) / scale)
        self.assertLess(error, self.TOLERANCE)
        return error

    def test_centres(self):
        self.assertGreater(len(self.table), 500)
        x = self.close(self.table["x_cen"], self.theirs.x_centroid, 1.0)
        y = self.close(self.table["y_cen"], self.theirs.y_centroid, 1.0)
        say(f"{len(self.table)} islands, centres within {max(x, y):.1e} pixel")

    def test_second_moments(self):
        major = (numpy.asarray(self.table["maj_axis_pix"]) / FWHM)**2
        minor = (numpy.asarray(self.table["min_axis_pix"]) / FWHM)**2
        angle = numpy.radians(numpy.asarray(self.table["pos_ang_pix"]))
        cos, sin = numpy.cos(angle), numpy.sin(angle)
        has_shape = numpy.isfinite(major)
        flagged = (numpy.asarray(self.table["flags"]) & 16) != 0
        numpy.testing.assert_array_equal(has_shape, ~flagged)
        lines = numpy.asarray((self.table["x_min"] == self.table["x_max"]) |
                              (self.table["y_min"] == self.table["y_max"]))
        self.assertTrue(flagged[numpy.asarray(self.table["n_pix"]) == 1].all())
        say(f"{flagged.sum()} islands without a shape, {lines.sum()} one pixel wide")
        self.assertGreater(has_shape.sum(), 100)
        scale = self.var_xx + self.var_yy
        worst = max(self.close(ours[has_shape], theirs[has_shape], scale[has_shape])
                    for ours, theirs in ((major * cos**2 + minor * sin**2, self.var_xx),
                                         (major * sin**2 + minor * cos**2, self.var_yy),
                                         ((major - minor) * cos * sin, self.var_xy)))
        say(f"{has_shape.sum()} islands with a shape, second moments within {worst:.1e}")

    def test_axes_where_photutils_adds_nothing(self):
        whole = self.var_xx * self.var_yy - self.var_xy**2 > 1.01 / 144
        self.assertGreater(whole.sum(), 100)
        for ours, theirs in (("maj_axis_pix", self.theirs.semimajor_axis),
                             ("min_axis_pix", self.theirs.semiminor_axis)):
            self.close(self.table[ours][whole], theirs.value[whole] * FWHM)
        say(f"{whole.sum()} of {len(whole)} islands")

    def test_sums_and_peaks(self):
        self.close(self.table["flux_sum"], self.theirs.segment_flux)
        numpy.testing.assert_array_equal(self.table["flux_peak"], self.theirs.max_value)
        numpy.testing.assert_array_equal(self.table["x_peak"], self.theirs.max_value_xindex)
        numpy.testing.assert_array_equal(self.table["y_peak"], self.theirs.max_value_yindex)
        numpy.testing.assert_array_equal(self.table["n_pix"], self.theirs.segment_area.value)


def read_peer(name, peer):
    """RA and Dec [deg], peak [Jy/beam] and signal to noise of the components in a catalogue."""
    path = runs.shared(f"reference/peers_run/{name}_{peer}.csv")
    if peer == "aegean":
        table, keys = Table.read(path, format="ascii.csv"), ("ra", "dec", "peak_flux", "local_rms")
    else:
        lines = path.read_text(encoding="utf-8").splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith("# Source_id"))
        lines[start] = lines[start].lstrip("# ")
        table = Table.read([line.replace(", ", ",") for line in lines[start:]], format="ascii.csv")
        keys = ("RA", "DEC", "Peak_flux", "Isl_rms")
    ra, dec, peak, rms = (numpy.asarray(table[key], dtype=float) for key in keys)
    return ra, dec, peak, peak / rms


class TestPeers(unittest.TestCase):
    """Aegean's Gaussians and PyBDSF's sources of three radio fields as reference.

    Their noise is another one (Aegean: BANE on 4 beams; PyBDSF: one number for the field in two of
    three), so 7 sigma are theirs. What differs:
    - the one component of 1503 that no island holds is a bad fit: Aegean's 21 mJy (10.6 sigma)
      beside a bright double of J2248 (pixel 912, 706), where no pixel is above 4.1 sigma;
    - side lobes of the 4.3 Jy source of J2306, confused pairs, and the remnant in Scorpio: an
      island that floods to 3 sigma holds more than the one component that they fitted. Such an
      island is larger than that of a point source with its peak, and its centre is not compared:
      Kastor has no components yet;
    - of 731 islands above 7 of Kastor's sigma four are in neither catalogue: two among the side
      lobes of the 4.3 Jy source, two cut by the border of J2248;
    - peaks are those of a pixel: up to pi / (6 x beam area in pixels) below a fit's, 3 % here."""

    FIELDS = ("sumss_J2306M36", "sumss_J2248M36", "ScorpioFaintSNRField")

    def check(self, name, peer):
        path = runs.shared(f"{name}.fits")
        ra, dec, peak, snr = read_peer(name, peer)
        found = runs.find(path, "--preset", "radio", maps=("labels",))
        beam = found.json["beam"]["minor_arcsec"], found.json["beam"]["major_arcsec"]  # PA 0
        island = self.islands_at(ra, dec, path, found.labels)
        strong = (island >= 0) & (snr > 7)
        inside = numpy.mean(island[strong] > 0)

        def apart(ra1, dec1, ra2, dec2):  # in beams
            return numpy.hypot((ra1 - ra2) * numpy.cos(numpy.radians(dec2)) * 3600 / beam[0],
                               (dec1 - dec2) * 3600 / beam[1])

        # Isolated: the only component of its island, no other within two beams, and an island no
        # larger than twice what the threshold cuts of a point source.
        neighbours = apart(ra[:, None], dec[:, None], ra, dec)
        numpy.fill_diagonal(neighbours, numpy.inf)
        components = numpy.bincount(island[island > 0], minlength=len(found.table) + 1)
        alone = (strong & (island > 0) & (neighbours.min(axis=1) > 2) &
                 (components[numpy.maximum(island, 0)] == 1))
        rows = found.table[island[alone] - 1]
        point_like = rows["n_beams"] < 2 * numpy.log(rows["snr"] / 3)
        isolated = numpy.flatnonzero(alone)[numpy.asarray(point_like)]
        rows = rows[point_like]
        distance = apart(rows["ra_deg_cont"], rows["dec_deg_cont"], ra[isolated], dec[isolated])
        ratio = numpy.asarray(rows["flux_peak"]) / peak[isolated]
        say(f"{name}, {peer}: {100 * inside:.2f} % of {strong.sum()} inside; {len(isolated)} "
              f"isolated ({numpy.sum(~point_like)} more in larger islands), distance median "
              f"{numpy.median(distance):.3f}, largest {distance.max():.3f} beam, peaks "
              f"{numpy.median(ratio):.4f} +- {width(ratio):.4f}")
        self.assertGreaterEqual(inside, 0.98)
        self.assertGreater(len(isolated), 0.5 * strong.sum())
        self.assertLess(distance.max(), 0.5)
        self.assertLess(numpy.median(distance), 0.1)
        self.assertLess(abs(numpy.median(ratio) - 1), 0.05)

    @staticmethod
    def islands_at(ra, dec, path, labels):
        """Of positions on the sky; 0: none, -1: outside of the image."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wcs = WCS(fits.getheader(path)).celestial
        x, y = (numpy.rint(c).astype(int) for c in wcs.all_world2pix(ra, dec, 0))
        ny, nx = labels.shape
        inside = (x >= 0) & (x < nx) & (y >= 0) & (y < ny)
        found = numpy.full(len(x), -1)
        found[inside] = labels[y[inside], x[inside]]
        return found

    def test_strong_islands_are_in_a_catalogue(self):
        for name in self.FIELDS:
            with self.subTest(name):
                path = runs.shared(f"{name}.fits")
                found = runs.find(path, "--preset", "radio", maps=("labels",))
                theirs = [self.islands_at(*read_peer(name, peer)[:2], path, found.labels)
                          for peer in ("aegean", "pybdsf")]
                strong = numpy.asarray(found.table["island_id"][found.table["snr"] > 7])
                known = numpy.isin(strong, numpy.concatenate(theirs))
                say(f"{name}: {known.sum()} of {len(strong)} islands above 7 sigma")
                self.assertGreaterEqual(known.mean(), 0.98)

    def test_components_are_in_islands(self):
        for name in self.FIELDS:
            for peer in ("aegean", "pybdsf"):
                with self.subTest(name, peer=peer):
                    self.check(name, peer)


class TestTruth(unittest.TestCase):
    """Simulated skies: what is there is found, what is found is there, and errors are errors."""

    NOISE = 0.0133
    BEAM = 5
    SEEDS = range(1, 9)
    BINS = (3, 4, 5, 6, 7, 8, 10, 20, 1e9)

    @classmethod
    def setUpClass(cls):
        cls.isolated, cls.islands, cls.negative, cls.pulls = [], [], 0, []
        for seed in cls.SEEDS:
            path = runs.sky(seed, "--sources-per-mpx", 200)
            found = runs.find(path, "--preset", "radio", "--negative", maps=("labels",))
            cls.negative += found.json["negative"]
            cls.match(found, runs.truth(path))

    @classmethod
    def match(cls, found, truth):
        x, y, peak, fwhm = (numpy.asarray(truth[c]) for c in ("x", "y", "flux_peak", "fwhm"))
        snr = peak / cls.NOISE
        label = found.labels[numpy.clip(numpy.rint(y).astype(int), 0, 1023),
                             numpy.clip(numpy.rint(x).astype(int), 0, 1023)]
        wide = 2 * (fwhm - cls.BEAM)
        apart = numpy.hypot(x[:, None] - x, y[:, None] - y) - wide[:, None] - wide
        numpy.fill_diagonal(apart, numpy.inf)
        apart[:, snr < 0.5] = numpy.inf
        isolated = ((apart.min(axis=1) > 5 * cls.BEAM) & (numpy.minimum(x, y) > 12) &
                    (numpy.maximum(x, y) < 1011))
        cls.isolated += list(zip(snr[isolated], label[isolated] > 0))

        true = numpy.isin(found.table["island_id"], label[label > 0])
        for row, is_true in zip(found.table, true):
            if row["flux_peak"] > 0:
                near = numpy.hypot(x - row["x_cen"], y - row["y_cen"]) < 1.5 * cls.BEAM
                cls.islands.append((row["snr"], bool(is_true or numpy.any(near & (snr > 1)))))
        points = isolated & (snr > 8) & (label > 0) & (fwhm == cls.BEAM)
        rows = found.table[label[points] - 1]
        cls.pulls.append([(rows[c] - truth[t][points]) / rows[c + "_err"]
                          for c, t in (("x_cen", "x"), ("y_cen", "y"),
                                       ("flux_int", "flux_int"))])

    def test_isolated_sources_are_found(self):
        found = numpy.array([f for snr, f in self.isolated if snr > 8])
        say(f"{found.sum()} of {len(found)} isolated sources above 8 sigma")
        self.assertGreater(len(found), 200)
        self.assertGreaterEqual(found.mean(), 0.995)

    def test_completeness_and_reliability(self):
        for low, high in zip(self.BINS, self.BINS[1:]):
            true, seen = ([f for snr, f in pairs if low <= snr < high]
                          for pairs in (self.isolated, self.islands))
            say(f"S/N {low:2} to {high:2g}: complete {sum(true)}/{len(true)}, "
                  f"reliable {sum(seen)}/{len(seen)}")
        reliable = numpy.array([f for _, f in self.islands])
        self.assertGreaterEqual(reliable.mean(), 0.99)

    def test_false_detections(self):
        """Islands of the inverted image: 5 sigma in noise of 37 000 beams an image."""
        say(f"{self.negative} negative beside {len(self.islands)} positive islands in "
              f"{len(self.SEEDS)} skies")
        self.assertLessEqual(self.negative, 0.01 * len(self.islands))

    def test_pulls(self):
        for name, pulls in zip("x y flux".split(), numpy.concatenate(self.pulls, axis=1)):
            with self.subTest(name):
                self.assertGreater(len(pulls), 200)
                self.assertTrue(numpy.isfinite(pulls).all())
                say(f"{name}: {len(pulls)} pulls, median {numpy.median(pulls):+.3f}, width "
                      f"{width(pulls):.3f}, standard deviation {pulls.std():.3f}")
                self.assertLess(abs(width(pulls) - 1), 0.15)
                self.assertLess(abs(numpy.median(pulls)), 0.2)
