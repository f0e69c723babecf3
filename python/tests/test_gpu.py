# SPDX-License-Identifier: Apache-2.0
"""Arrays on a GPU: the answers of the host, on the caller's stream, without a copy. Skipped without CuPy or a GPU."""

import os
import subprocess
import sys
import unittest

import numpy as np
from skies import folder, pixels_of, sky
from test_process import python

import kastor

try:
    import cupy
except ImportError:
    cupy = None
try:
    import torch
except ImportError:
    torch = None

#: A kernel that takes long, so that whoever does not wait for the stream sees the pixels of before.
SLOW = r"""
extern "C" __global__ void slow(float* pixels, const float* image, long long n, long long cycles) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  const long long begin = clock64();
  while (clock64() - begin < cycles) {}
  if (i < n) pixels[i] = image[i];
}
"""


@unittest.skipUnless(cupy is not None and "cuda" in kastor.backends(), "no CuPy, or no GPU that Kastor can use")
class Gpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pixels, cls.header = pixels_of(sky())
        cls.expected = {
            preset: kastor.find(cls.pixels, header=cls.header, preset=preset, on="serial").hash
            for preset in ("lesson", "radio", "sextractor")
        }

    def check(self, image, **options):
        for preset, expected in self.expected.items():
            found = kastor.find(image, header=self.header, preset=preset, **options)
            self.assertEqual(found.hash, expected, preset)

    def test_arrays_of_cupy(self):
        on_device = cupy.asarray(self.pixels)
        self.check(on_device)
        self.check(on_device, on="cuda")
        padded = cupy.zeros((512, 700), "float32")
        padded[:, 100:612] = on_device
        self.check(padded[:, 100:612])
        self.check(on_device[None, None])
        managed = cupy.ndarray(self.pixels.shape, "float32", cupy.cuda.malloc_managed(self.pixels.nbytes))
        managed[...] = on_device
        self.check(managed)

    def test_rows_of_the_host_with_gaps(self):
        padded = np.zeros((512, 700), "float32")
        padded[:, 100:612] = self.pixels
        self.check(padded[:, 100:612], on="cuda")
        rms = np.full((512, 700), 0.01, "float32")[:, 50:562]
        expected = kastor.find(self.pixels, header=self.header, preset="radio", rms=rms, on="serial").hash
        self.assertEqual(kastor.find(self.pixels, header=self.header, preset="radio", rms=rms).hash, expected)
        np.testing.assert_array_equal(
            kastor.background(padded[:, 100:612]).rms, kastor.background(self.pixels, on="serial").rms
        )

    def test_pictures(self):
        pictures = [folder()[0] / f"gpu-{name}.png" for name in ("array", "part", "file", "host")]
        padded = cupy.zeros((512, 700), "float32")
        padded[:, 100:612] = cupy.asarray(self.pixels)
        for image, picture in zip((cupy.asarray(self.pixels), padded[:, 100:612], sky(), self.pixels), pictures):
            options = {} if image is sky() else {"header": self.header}
            kastor.find(image, preset="radio", picture=picture, on="cuda", **options)
        drawn = [picture.read_bytes() for picture in pictures]
        self.assertEqual(drawn[0], drawn[1])
        self.assertEqual(drawn[0], drawn[3])
        self.assertGreater(len(drawn[2]), 10000)

    def test_doubles(self):
        pixels = self.pixels.astype("float64")
        expected = kastor.find(pixels, preset="radio", header=self.header, on="serial").hash
        self.assertEqual(kastor.find(cupy.asarray(pixels), preset="radio", header=self.header).hash, expected)

    @unittest.skipIf(torch is None, "no PyTorch")
    def test_tensors_of_torch(self):
        self.check(torch.from_numpy(self.pixels.copy()).cuda())
        self.check(torch.from_numpy(self.pixels.copy()))  # on the host

    def test_the_stream_of_the_caller(self):
        kernel = cupy.RawKernel(SLOW, "slow")
        image = cupy.asarray(self.pixels)
        for stream in (cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(), cupy.cuda.Stream.null):
            pixels = cupy.zeros_like(image)
            cupy.cuda.Device().synchronize()
            blocks = (image.size + 255) // 256
            with stream:
                kernel((blocks,), (256,), (pixels, image, np.int64(image.size), np.int64(200000)))
                first = kastor.find(pixels, level=1e-3)
            pixels[...] = 0
            cupy.cuda.Device().synchronize()
            with stream:
                kernel((blocks,), (256,), (pixels, image, np.int64(image.size), np.int64(200000)))
            second = kastor.find(pixels, level=1e-3, stream=stream.ptr)
            expected = kastor.find(self.pixels, level=1e-3, on="serial").hash
            self.assertEqual((first.hash, second.hash), (expected, expected), stream)

    def test_functions(self):
        image = cupy.asarray(self.pixels)
        self.assertEqual(kastor.sigma_clip(image), kastor.sigma_clip(self.pixels, on="serial"))
        for one, other in ((kastor.background(image), kastor.background(self.pixels, on="serial")),):
            np.testing.assert_array_equal(one.level, other.level)
            np.testing.assert_array_equal(one.rms, other.rms)
        kernel = np.ones((5, 5)) / 25
        np.testing.assert_array_equal(kastor.convolve(image, kernel), kastor.convolve(self.pixels, kernel, on="serial"))

    def test_the_image_is_not_copied(self):
        image = cupy.zeros((8192, 8192), "float32")
        image[::64, ::64] = 1
        kastor.find(image[:64, :64], level=2)
        kastor.find(image, level=2)  # with its work space
        kastor.release()
        cupy.cuda.Device().synchronize()
        before = cupy.cuda.runtime.memGetInfo()[0]
        kastor.find(image, level=2)
        after = cupy.cuda.runtime.memGetInfo()[0]
        self.assertLess(before - after, 0.5 * image.nbytes)

    def test_a_mask_or_another_backend_is_refused(self):
        image = cupy.asarray(self.pixels)
        with self.assertRaisesRegex(TypeError, "GPU.*NaN"):
            kastor.find(image, mask=np.ones(image.shape, bool))
        with self.assertRaisesRegex(kastor.DeviceError, "GPU.*on='cuda'"):
            kastor.find(image, on="serial")

    def test_a_mask_of_the_host(self):
        bad = np.zeros(self.pixels.shape, bool)
        bad[100:200, 50:300] = True
        found = kastor.find(cupy.asarray(self.pixels), header=self.header, preset="radio", mask=bad)
        self.assertEqual(
            found.hash, kastor.find(self.pixels, header=self.header, preset="radio", mask=bad, on="serial").hash
        )

    def test_forks(self):
        fork = (
            "child = os.fork()\nif child == 0:\n    try:\n        print(kastor.find(image, level=1).hash, flush=True)\n"
            "    except kastor.DeviceError as error:\n        print(error, flush=True)\n    sys.exit()\n"
            "sys.exit(os.waitpid(child, 0)[1])"
        )
        begin = "import os, sys, warnings\nwarnings.simplefilter('ignore')\nimport numpy, cupy, kastor\n"
        host, device = "image = numpy.eye(64, dtype='float32')\n", "image = cupy.eye(64, dtype='float32')\n"
        expected = kastor.find(np.eye(64, dtype="float32"), level=1).hash
        for code, said in (
            (begin + host + "kastor.find(image, level=1)\n" + fork, "CUDA does not allow.*device=False"),
            (begin + device + "kastor.find(image, level=1)\n" + fork, "CUDA does not allow.*device=False"),
            (begin + host + "kastor.initialize(device=False)\n" + fork, expected),
            (
                begin + device + "kastor.initialize(device=False)\n" + fork,
                "found an array on a GPU.*expected one of the host",
            ),
        ):
            status, output, errors = python(code)
            self.assertEqual((status, errors), (0, ""), code)
            self.assertRegex(output, said, code)


class WithoutGpu(unittest.TestCase):
    def test_the_reason_is_said(self):
        hidden = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
        code = "import kastor; print(kastor.backends()); kastor.find('a.fits', on='cuda')"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=hidden)
        self.assertNotIn("cuda", done.stdout)
        self.assertRegex(done.stderr, r"DeviceError: on: found 'cuda'.*expected one that can be used here: serial")


if __name__ == "__main__":
    unittest.main()
