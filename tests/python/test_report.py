# SPDX-License-Identifier: Apache-2.0
"""The pages that `kastor report` writes: every figure is there, and nothing is loaded from elsewhere."""

import base64
import html.parser
import io
import re
import sys
import unittest

import matplotlib.image
import numpy
import runs
from astropy.io import fits


class Page(html.parser.HTMLParser):
    """What a page has."""

    def __init__(self, path):
        super().__init__()
        self.text = path.read_text(encoding="utf-8")
        self.images, self.captions, self.headings, self.codes, self.tags = [], [], [], [], set()
        self._within = []
        self.feed(self.text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag == "img":
            kind, data = dict(attributes)["src"].split(",")
            assert kind == "data:image/png;base64", kind
            self.images.append(matplotlib.image.imread(io.BytesIO(base64.b64decode(data))))
        if tag not in ("meta", "img"):
            self._within.append(tag)

    def handle_endtag(self, tag):
        assert self._within.pop() == tag, tag

    def handle_data(self, data):
        tag = self._within[-1] if self._within else ""
        for name, kept in (("figcaption", self.captions), ("h2", self.headings), ("code", self.codes)):
            if tag == name:
                kept.append(data)


#: Of every search above maps.
SEARCHED = ["Crosses: islands. Ellipses: components, at half of their peak.", "Background", "Noise", "Numbers by flux.",
            "Numbers by signal to noise."]
OF_TRUTH = ["Completeness, with 68 % intervals.", "Reliability, with 68 % intervals.", "Fluxes against the truth.",
            "Offsets of positions, measured minus truth."]
OF_REFERENCE = ["Fluxes against the reference.", "Offsets of positions, measured minus reference."]


class TestReport(unittest.TestCase):
    def page(self, image, *words):
        path = runs.folder() / "page.html"
        runs.kastor("report", image, *words, "-o", path, "--python", sys.executable, "--overwrite", "--quiet")
        page = Page(path)
        for loads in ("http:", "https:", "//www", "@import", "url("):
            self.assertNotIn(loads, page.text)
        self.assertLessEqual(page.tags & {"script", "link", "iframe", "object", "video", "svg"}, set())
        self.assertIn("default-src 'none'", page.text)
        self.assertEqual(len(page.images), len(page.captions))
        for image, caption in zip(page.images, page.captions):
            self.assertGreater(min(image.shape[:2]), 150, caption)
            self.assertGreater(len(numpy.unique(image[..., 0])), 20, caption)
        return page

    def test_all_that_a_page_can_have(self):
        sky = runs.sky(7, "--noise-kind", "beam")
        truth = str(sky).replace(".fits", "_truth.csv")
        page = self.page(sky, "--truth", truth, "--reference", truth)
        self.assertEqual(page.captions, SEARCHED + OF_TRUTH + OF_REFERENCE)
        self.assertEqual(page.headings[:4], ["Sky", "The brightest components", "Counts", "Against the truth"])
        self.assertEqual(page.headings[-1], "How it was made")
        found = runs.find(sky, "--preset", "radio").json
        self.assertIn(found["catalogue_hash"], page.codes)
        self.assertIn(found["component_hash"], page.codes)
        self.assertIn(f"kastor report {sky} --truth {truth}", " ".join(page.codes))
        self.assertIn(f"{found['sources']} sources", page.text)

    def test_the_lesson_and_sextractor(self):
        page = self.page(runs.sky(7), "--preset", "lesson")
        self.assertEqual(page.captions, ["Crosses: sources.", "Numbers by flux."])
        page = self.page(runs.sky(7), "--preset", "sextractor")
        self.assertEqual(page.captions, ["Crosses: sources.", *SEARCHED[1:]])

    def test_real_images(self):
        for name, words, wanted in (
            ("sumss_J2306M36.fits", [], "right ascension"),
            ("sdss_r.fits.bz2", ["--preset", "sextractor"], ""),
            ("m13real_rice.fits", ["--preset", "sextractor"], ""),
        ):
            with self.subTest(name):
                self.assertEqual(len(self.page(runs.shared(name), *words).images), 5)

    def test_images_with_other_axes(self):
        pixels = runs.pixels(runs.sky(7))[:300, :200]
        empty = numpy.zeros((40, 50), "float32") + numpy.random.default_rng(1).normal(0, 1, (40, 50)).astype("float32")
        noise = numpy.stack([empty, empty + 1])
        for name, data, words, size in (
            ("plain", pixels, [], "200 x 300"),
            ("degenerate", pixels[None, None], [], "200 x 300"),
            ("cube", numpy.stack([pixels[::-1], pixels])[:, None], ["--plane", "1"], "200 x 300"),
            ("nothing", empty, ["--seed", "20"], "50 x 40"),
            ("one_row", empty[:1], ["--cell", "50", "--seed", "20"], "50 x 1"),
            ("integers", (pixels * 1000).astype("int16"), [], "200 x 300"),
            ("extension", noise, ["--plane", "0", "--seed", "20", "--hdu", "1"], "50 x 40"),
        ):
            with self.subTest(name):
                path = runs.folder() / f"{name}.fits"
                hdus = [fits.PrimaryHDU(), fits.ImageHDU(data)] if name == "extension" else [fits.PrimaryHDU(data)]
                fits.HDUList(hdus).writeto(path, overwrite=True)
                page = self.page(path, "--components", "off", *words)
                self.assertIn(f"{size} pixels", page.text)
                self.assertGreaterEqual(len(page.images), 3)

    def test_names_are_no_html(self):
        path = runs.folder() / "<b>&amp; 'x'.fits"
        path.write_bytes(runs.sky(7).read_bytes())
        page = self.page(path, "--preset", "lesson")
        self.assertNotIn("b", page.tags)
        self.assertRegex(page.text, re.escape("&lt;b&gt;&amp;amp;"))


if __name__ == "__main__":
    unittest.main()
