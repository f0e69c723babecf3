# SPDX-License-Identifier: Apache-2.0
"""kastor.sep against the installed sep."""

import functools
import inspect
import sys
import unittest
import unittest.mock
import warnings

import numpy as np
import sep as peer
from skies import command, folder, pixels_of, sky

from kastor import _sep_columns, sep

PLAIN = {"filter_kernel": None, "deblend_cont": 1.0, "clean": False}


def simulated(seed, size, *more):
    path = folder()[0] / f"sep-{seed}.fits"
    command("simulate", "sky", "--size", size, "--seed", seed, "-o", path, "--quiet", "--overwrite", *more)
    return pixels_of(path)[0]


@functools.cache
def simulated_skies():
    """20 skies of different kinds, sizes and types, without their background."""
    skies = []
    stars = ("--gain", 2, "--level", 100, "--beam", 3, "--add", "star:count=300,snr=5..300")
    for seed in range(1, 21):
        size = (256, 192, 320, 224, 288)[seed % 5]
        image = simulated(seed, size, *(stars if seed % 2 else ("--sources-per-mpx", 500)))
        image = image.astype(("float32", "float64", "int32")[seed % 3] if seed % 2 else "float32")
        background = peer.Background(image.astype("float32"))
        background.subfrom(image)
        skies.append((seed, image, background))
    return skies


class Compared(unittest.TestCase):
    def assert_same(self, mine, theirs):
        """Integers exactly; others, which are sums in another order, to rounding."""
        self.assertEqual(mine.dtype, theirs.dtype)
        self.assertEqual(len(mine), len(theirs))
        for name in theirs.dtype.names:
            if theirs.dtype[name].kind == "i":
                np.testing.assert_array_equal(mine[name], theirs[name], name)
            else:
                # theta, of round objects, and sums that cancel: by what they are made of.
                np.testing.assert_allclose(mine[name], theirs[name], rtol=1.2e-7, atol=1e-11, err_msg=name)

    def extract_both(self, *arguments, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            mine = sep.extract(*arguments, **(PLAIN | options))
        theirs = peer.extract(*arguments, **(PLAIN | options))
        if options.get("segmentation_map"):
            np.testing.assert_array_equal(mine[1], theirs[1])
            self.assertEqual(mine[1].dtype, theirs[1].dtype)
            mine, theirs = mine[0], theirs[0]
        self.assert_same(mine, theirs)
        return mine


class Extract(Compared):
    def test_simulated_skies(self):
        random = np.random.default_rng(7)
        found = 0
        for seed, image, background in simulated_skies():
            rms = background.rms()
            bad = random.random(image.shape) < 0.02
            for options in (
                {"thresh": 1.5, "err": background.globalrms},
                {"thresh": 3 * background.globalrms, "gain": 2.0},
                {"thresh": 2, "err": rms, "mask": bad, "segmentation_map": True},
                {"thresh": 1.5, "var": np.square(rms, dtype="float64"), "gain": 2, "minarea": 3},
                {"thresh": 5.0, "var": background.globalrms**2, "mask": bad * 2.5, "maskthresh": 1.0},
            ):
                with self.subTest(seed=seed, **{name: np.shape(value) for name, value in options.items()}):
                    found += len(self.extract_both(image, **options))
        self.assertGreater(found, 10000)

    def test_equal_pixels_edges_and_shapes(self):
        """Integers have many equal peaks; small images have no object that is not at the edge."""
        random = np.random.default_rng(8)
        found = 0
        for shape in ((1, 1), (1, 90), (90, 1), (2, 33), (40, 40), (60, 61), (32, 70)):
            for density in (0.3, 1.0, 2.0):
                image = random.poisson(density, shape).astype("int32")
                for minarea in (0, 1, 2, 5):
                    found += len(self.extract_both(image, 1.5, minarea=minarea, segmentation_map=True))
        self.assertGreater(found, 1000)
        objects = self.extract_both(np.full((9, 9), 3.0), 1)
        self.assertEqual((objects["npix"][0], objects["xpeak"][0], objects["flag"][0]), (81, 0, peer.OBJ_TRUNC))
        self.assertEqual(len(self.extract_both(np.zeros((9, 9)), 1, segmentation_map=True)), 0)

    def test_lines_are_singular(self):
        image = np.zeros((20, 20), "float32")
        image[4, 3:12] = 5
        image[8:17, 5] = 7
        for options in ({}, {"err": 1.0}, {"err": np.ones_like(image), "gain": 1.0}):
            objects = self.extract_both(image, 1, **options)
            self.assertTrue((objects["flag"] & peer.OBJ_SINGU).all())

    def test_pixels_that_are_not_finite(self):
        image = np.random.default_rng(9).normal(size=(100, 100)).astype("float32")
        image[:20], image[40, 40], image[60, 60], image[80, 80] = np.nan, np.inf, -np.inf, 1e30
        err = np.ones_like(image)
        err[30:35], err[50:55] = np.nan, np.inf
        self.extract_both(image, 1.0)
        self.extract_both(image, 1.0, err=err, gain=2.0)

    def test_deblending_is_off_in_other_ways(self):
        image = np.random.default_rng(9).normal(size=(100, 100)).astype("float32")
        self.extract_both(image, 0.5, deblend_cont=0.1, deblend_nthresh=1)
        self.extract_both(image, 0.5, deblend_cont=2, filter_type="conv", clean_param=2.0)

    def test_types_that_sep_refuses(self):
        image = np.random.default_rng(10).normal(0, 50, (80, 90))
        for dtype in (">f4", ">f8", ">i4", ">i2", "i8"):
            given = image.astype(dtype)
            native = given.astype("float64" if given.itemsize == 8 else "float32")
            with self.assertRaises(ValueError):
                peer.extract(given, 60)
            self.assert_same(sep.extract(given, 60.0, **PLAIN), peer.extract(native, 60.0, **PLAIN))
        given = image.astype(">f4")
        with self.assertWarns(UserWarning):
            mine = sep.extract(given, 60.0, err=given * 0 + 1)
        self.assert_same(mine, peer.extract(image.astype("f4"), 60.0, err=1.0 + 0 * image))
        turned = np.asfortranarray(image)
        self.assert_same(sep.extract(turned, 60.0, **PLAIN), peer.extract(image, 60.0, **PLAIN))

    def test_other_arguments_are_seps_after_one_warning(self):
        image = simulated(1, 200, "--sources-per-mpx", 500)
        err = np.full_like(image, image.std())
        given = peer.extract(image, 1.5, err=err, segmentation_map=True)[1]
        below = np.where(np.arange(200) < 100, -err, err).astype("float32")
        defaults = {"filter_kernel": sep.default_kernel, "deblend_cont": 0.005, "clean": True}
        for named, options in (
            ("filter_kernel, deblend_cont, clean are", defaults),
            ("filter_kernel is", {"filter_kernel": np.ones((3, 3)), "filter_type": "conv"}),
            ("deblend_cont is", {"deblend_cont": 0.01}),
            ("clean is", {"clean": True, "clean_param": 2.0}),
            ("segmentation_map is", {"segmentation_map": given}),
            ("err below 0 is", {"err": below}),
            ("thresh of 0 or below is", {"err": 0.0}),
        ):
            options = PLAIN | {"err": err} | options
            with self.subTest(named), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                mine = sep.extract(image, 1.5, **options)
                self.assertEqual([warning.category for warning in caught], [UserWarning])
                self.assertIn(f"kastor.sep.extract: {named} not Kastor's", str(caught[0].message))
                self.assertEqual(caught[0].filename, __file__)
                theirs = peer.extract(image, 1.5, **options)
                if isinstance(mine, tuple):
                    np.testing.assert_array_equal(mine[1], theirs[1])
                    mine, theirs = mine[0], theirs[0]
                np.testing.assert_array_equal(mine, theirs)
        with self.assertWarnsRegex(UserWarning, "filter_kernel, deblend_cont, clean"):
            np.testing.assert_array_equal(sep.extract(image, 0.1), peer.extract(image, 0.1))

    def test_wrong_arguments(self):
        image = np.zeros((9, 9))
        for wrong, kind in (
            ({"err": image, "var": image}, ValueError),
            ({"filter_type": "other"}, ValueError),
            ({"mask": np.zeros((3, 3))}, ValueError),
            ({"err": np.zeros(9)}, ValueError),
            ({"err": [1, 2]}, TypeError),
        ):
            with self.subTest(wrong=list(wrong)), self.assertRaises(kind):
                sep.extract(image, 1, **(PLAIN | wrong))
        for wrong, kind in (
            (np.zeros(9), ValueError),
            (np.zeros((0, 9)), ValueError),
            (np.ma.zeros((9, 9)), TypeError),
            ([[1.0]], TypeError),
            (image + 1j, ValueError),
        ):
            with self.assertRaises(kind):
                sep.extract(wrong, 1, **PLAIN)

    def test_constant_noise_is_as_none(self):
        """As SEP's own tests have it."""
        image = simulated(2, 256, "--sources-per-mpx", 500)
        names = [name for name in _sep_columns.COLUMNS.names if not name.startswith("err")]
        plain = sep.extract(image, 0.05, **PLAIN)
        for options in ({"thresh": 0.05, "err": np.ones_like(image)}, {"thresh": 2, "err": np.full_like(image, 0.025)}):
            np.testing.assert_array_equal(sep.extract(image, **options, **PLAIN)[names], plain[names])
        self.assertFalse(plain["errx2"].any())

    def test_masks_hide(self):
        image = simulated(2, 256, "--sources-per-mpx", 500)
        half = np.zeros(image.shape, bool)
        half[128:] = True
        whole = sep.extract(image, 0.05, **PLAIN)
        masked = sep.extract(image, 0.05, mask=half, **PLAIN)
        self.assertTrue(0 < len(masked) < len(whole))
        self.assertLess(masked["ymax"].max(), 128)
        for dtype in (np.uint8, np.int32, np.float32, np.float64):
            for maskthresh, expected in ((0.5, masked), (1.0, whole)):
                objects = sep.extract(image, 0.05, mask=half.astype(dtype), maskthresh=maskthresh, **PLAIN)
                np.testing.assert_array_equal(objects, expected)
        np.testing.assert_array_equal(sep.extract(image, 0.05, mask=half, maskthresh=1.0, **PLAIN), whole)

    def test_maps_of_objects(self):
        image = simulated(2, 256, "--sources-per-mpx", 500)
        objects, numbers = sep.extract(image, 0.03, segmentation_map=True, **PLAIN)
        np.testing.assert_array_equal(np.bincount(numbers.ravel())[1:], objects["npix"])
        np.testing.assert_array_equal(numbers[objects["ypeak"], objects["xpeak"]], np.arange(len(objects)) + 1)


class Background(unittest.TestCase):
    def test_simulated_skies(self):
        for seed, image, _ in simulated_skies():
            for options in ({}, {"fw": 1, "fh": 1}, {"bw": 128, "bh": 100, "fw": 4, "fh": 5}):
                with self.subTest(seed=seed, **options):
                    with warnings.catch_warnings():
                        warnings.simplefilter("error")
                        mine = sep.Background(image, **options)
                    theirs = peer.Background(image, **options)
                    noise = theirs.globalrms
                    for one, other in ((mine.back("f4"), theirs.back("f4")), (mine.rms("f4"), theirs.rms("f4"))):
                        self.assertLess(np.median(np.abs(one - other)), 0.01 * noise)
                        self.assertLess(np.quantile(np.abs(one - other), 0.9), 0.05 * noise)
                    self.assertLess(abs(mine.globalback - theirs.globalback), 0.01 * noise)
                    self.assertLess(abs(mine.globalrms - noise), 0.01 * noise)

    def test_members(self):
        image, _ = pixels_of(sky())
        for dtype in ("float32", "float64", "int32"):
            data = (image * 1000).astype(dtype)
            mine, theirs = sep.Background(data), peer.Background(data)
            self.assertEqual(type(mine.globalback), type(theirs.globalback))
            self.assertEqual(type(mine.globalrms), type(theirs.globalrms))
            for wanted in (None, np.float32, "float64", np.int32):
                self.assertEqual(mine.back(wanted).dtype, theirs.back(wanted).dtype)
                self.assertEqual(mine.rms(dtype=wanted).dtype, theirs.rms(dtype=wanted).dtype)
                np.testing.assert_array_equal(mine.back(wanted), np.asarray(mine, wanted))
            self.assertLessEqual(np.abs(mine.back("int32") - theirs.back("int32")).max(), 1)
            np.testing.assert_array_equal(np.array(mine), mine.back())
            less = data.copy()
            mine.subfrom(less)
            self.assertEqual(less.dtype, data.dtype)
            np.testing.assert_array_equal(data - mine, less)
            np.testing.assert_array_equal(mine.__rsub__(data), less)
            np.testing.assert_array_equal(mine - data, mine.back() - data)
            self.assertFalse(np.shares_memory(mine.back(), mine.back()))
            np.testing.assert_array_equal(mine.back(copy=True), mine.back())
        with self.assertRaisesRegex(ValueError, "shape"):
            mine.subfrom(np.zeros((3, 3)))
        for wrong in (">f4", "int64", bool):
            with self.assertRaises(ValueError):
                mine.back(wrong)
        self.assertEqual(
            [
                name
                for name in dir(peer.Background)
                if not hasattr(sep.Background, name) and name not in ("__sub__", "__setstate__")
            ],
            [],
        )

    def test_integers_are_rounded_as_seps(self):
        for value in (7.5, -7.5, 7.4, -7.6, -0.2):
            mine, theirs = (package.Background(np.full((64, 64), value, "float32")) for package in (sep, peer))
            np.testing.assert_array_equal(mine.back("int32"), theirs.back("int32"))
            for data in (np.zeros((64, 64), "int32"), np.zeros((64, 64), "float32")):
                np.testing.assert_array_equal(data - mine, data - theirs)
                other = data.copy()
                mine.subfrom(data)
                theirs.subfrom(other)
                np.testing.assert_array_equal(data, other)

    def test_masks_and_blank_pixels(self):
        image, _ = pixels_of(sky())
        bad = np.zeros(image.shape, bool)
        bad[100:140, 200:260] = True
        spoilt = np.where(bad, 1000, image).astype("float32")
        mine = sep.Background(spoilt, mask=bad)
        theirs = peer.Background(spoilt, mask=bad)
        self.assertLess(np.abs(mine.back() - theirs.back()).max(), 0.05 * theirs.globalrms)
        for mask, maskthresh in ((bad.astype("float64"), 0.5), (bad * np.int32(3), 2), (bad.astype("uint8"), 0)):
            np.testing.assert_array_equal(sep.Background(spoilt, mask, maskthresh).back(), mine.back())
        blank = np.where(bad, np.nan, image).astype("float32")
        np.testing.assert_array_equal(sep.Background(blank).back(), mine.back())

    def test_types_that_sep_refuses(self):
        image, _ = pixels_of(sky())
        expected = sep.Background(image)
        np.testing.assert_array_equal(sep.Background(image.astype(">f4")).back(), expected.back())
        swapped = image.astype(">f4")
        expected.subfrom(swapped)
        np.testing.assert_array_equal(swapped, image - expected)
        counts = (image * 100).astype(">i2")
        self.assertEqual(sep.Background(counts).back().dtype, np.float32)

    def test_constant_images(self):
        for dtype in ("float32", "float64", "int32"):
            image = np.full((100, 100), 3, dtype)
            mine, theirs = (package.Background(image, bw=100, bh=100, fw=1, fh=1) for package in (sep, peer))
            np.testing.assert_array_equal(mine.back(), theirs.back())
            np.testing.assert_array_equal(mine.rms(), theirs.rms())
            self.assertEqual((mine.globalback, mine.globalrms), (theirs.globalback, theirs.globalrms))

    def test_other_arguments_are_seps_after_one_warning(self):
        image, _ = pixels_of(sky())
        constant = np.where(np.arange(512) < 64, image, 0).astype("float32")
        small = 0.1 * np.ones((6, 6))
        small[1::3, 1::3] = 1.0
        for named, data, options in (
            ("fw other than fh", image, {"fw": 5}),
            ("fthresh above 0", image, {"fthresh": 0.1}),
            ("cells of few pixels", image, {"bw": 32}),
            ("cells of few pixels", image[:65], {}),
            ("cells of few pixels", small, {"bw": 3, "bh": 3, "fw": 1, "fh": 1}),
            ("constant in most cells", constant, {}),
            ("no cell has enough good pixels", image, {"mask": np.ones(image.shape, bool)}),
        ):
            with self.subTest(named), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                mine = sep.Background(data, **options)
                self.assertEqual([(each.category, each.filename) for each in caught], [(UserWarning, __file__)])
                self.assertIn(named, str(caught[0].message))
                theirs = peer.Background(data, **options)
                for member in ("back", "rms"):
                    np.testing.assert_array_equal(getattr(mine, member)(), getattr(theirs, member)())
                self.assertEqual((mine.globalback, mine.globalrms), (theirs.globalback, theirs.globalrms))
                np.testing.assert_array_equal(data - mine, data - theirs)


class Module(Compared):
    def test_names_are_those_of_sep(self):
        for name in dir(peer):
            if not name.startswith("_"):
                self.assertIn(name, dir(sep))
                if name not in ("Background", "extract", "default_kernel"):
                    self.assertIs(getattr(sep, name), getattr(peer, name))
        self.assertEqual(sep.__version__, peer.__version__)
        np.testing.assert_array_equal(sep.default_kernel, peer.default_kernel)
        mine, theirs = (inspect.signature(package.extract).parameters for package in (sep, peer))
        self.assertEqual(list(mine), list(theirs))
        for name in mine:
            np.testing.assert_array_equal(mine[name].default, theirs[name].default)
        parameters = inspect.signature(sep.Background).parameters
        self.assertEqual(
            [f"{name}={value.default}" for name, value in parameters.items()][1:],
            ["mask=None", "maskthresh=0.0", "bw=64", "bh=64", "fw=3", "fh=3", "fthresh=0.0"],
        )
        with self.assertRaises(AttributeError):
            sep.no_such_name
        with self.assertRaises(AttributeError):
            sep.__no_such_name__

    def test_photometry_of_what_was_found(self):
        image, _ = pixels_of(sky())
        mine, theirs = sep.Background(image), peer.Background(image)
        objects = sep.extract(image - mine, 5, err=mine.globalrms, **PLAIN)
        others = peer.extract(image - theirs, 5, err=theirs.globalrms, **PLAIN)
        self.assertEqual(len(objects), len(others))
        self.assertLess(np.abs(objects["x"] - others["x"]).max(), 0.02)
        flux, _, _ = sep.sum_circle(image - mine, objects["x"], objects["y"], 3.0, err=mine.globalrms)
        other, error, _ = peer.sum_circle(image - theirs, others["x"], others["y"], 3.0, err=theirs.globalrms)
        self.assertLess(np.abs((flux - other) / error).max(), 0.3)
        for name in ("cxx", "cyy", "cxy"):
            made = sep.ellipse_coeffs(objects["a"], objects["b"], objects["theta"])[("cxx", "cyy", "cxy").index(name)]
            np.testing.assert_allclose(made, objects[name], rtol=1e-3, atol=1e-5)

    def test_limits_of_sep_are_not_kastors(self):
        image = np.random.default_rng(3).normal(size=(100, 100)).astype("float32")
        expected = peer.extract(image, 0.2, **PLAIN)
        before = sep.get_extract_pixstack()
        try:
            sep.set_extract_pixstack(100)
            self.assertEqual(peer.get_extract_pixstack(), 100)
            with self.assertRaises(Exception):
                peer.extract(image, 0.2, **PLAIN)
            self.assert_same(sep.extract(image, 0.2, **PLAIN), expected)
        finally:
            sep.set_extract_pixstack(before)

    def test_without_sep(self):
        image, _ = pixels_of(sky())
        with unittest.mock.patch.dict(sys.modules, {"sep": None}):
            background = sep.Background(image)
            self.assertGreater(len(sep.extract(image - background, 5, err=background.globalrms, **PLAIN)), 0)
            for call in (lambda: sep.extract(image, 5), lambda: sep.Background(image, fw=5), lambda: sep.sum_circle):
                with self.assertRaisesRegex(ImportError, "needs the package sep"):
                    call()
            self.assertEqual(dir(sep), ["Background", "default_kernel", "extract"])


if __name__ == "__main__":
    unittest.main()
