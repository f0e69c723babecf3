# SPDX-License-Identifier: Apache-2.0
"""`kastor.report`: the page of `kastor report`."""

import importlib.util
import re
import sys
import unittest

import numpy as np
from skies import command, folder, sky

import kastor

HAS_PACKAGES = all(importlib.util.find_spec(name) for name in ("astropy", "jinja2", "matplotlib"))


@unittest.skipUnless(HAS_PACKAGES, "no astropy, Jinja2 or matplotlib")
class TestReport(unittest.TestCase):
    def setUp(self):
        self.image = sky()
        self.truth = str(self.image).replace(".fits", "_truth.csv")
        self.folder = folder()[0]

    def test_the_page_is_that_of_the_command(self):
        one, other = self.folder / "python.html", self.folder / "command.html"
        kastor.report(self.image, one, truth=self.truth, reference=self.truth, pixels=3, overwrite=True)
        command(
            "report",
            self.image,
            "--truth",
            self.truth,
            "--reference",
            self.truth,
            "--pixels",
            "3",
            "-o",
            other,
            "--python",
            sys.executable,
            "--overwrite",
        )
        pages = [re.sub(r"<p><code>.*</code></p>", "", path.read_text()) for path in (one, other)]
        self.assertEqual(*pages)

    def test_options_of_find(self):
        page = self.folder / "options.html"
        kastor.report(
            self.image, page, truth=self.truth, on="serial", labels=self.folder / "report-labels.fits", rms_kind=None
        )
        self.assertTrue((self.folder / "report-labels.fits").exists())
        with self.assertRaisesRegex(TypeError, "rms: found an array with truth"):
            kastor.report(self.image, page, truth=self.truth, rms=np.ones((512, 512)), overwrite=True)

    def test_a_page_that_exists(self):
        page = self.folder / "there.html"
        page.write_text("old")
        with self.assertRaisesRegex(kastor.Error, "there.html: exists"):
            kastor.report(self.image, page)
        self.assertEqual(page.read_text(), "old")
        with self.assertRaises(ValueError):
            kastor.report(self.image, self.folder / "page.pdf")


if __name__ == "__main__":
    unittest.main()
