# SPDX-License-Identifier: Apache-2.0
"""Times what a user of Python would run instead of the steps of `kastor bench`, by the same rules.

peers.py check         prints one JSON object: the versions, or what is missing
peers.py run JOB       measures; JOB is the JSON object that apps/bench/peers.cpp makes

A measurement is one JSON object per line: step, who, function, seconds (of every repeat), with_transfers
(the same with the copies to and from a device), result (figures, named as Kastor's), and
max_difference (from Kastor's list, divided by the largest magnitude). The last line is {"done": true}.
"""

import json
import sys
import time


class Timer:
    """Repeats a job by the rules of Kastor's timing."""

    def __init__(self, job, fence):
        self.job = job
        self.fence = fence

    def once(self, function):
        self.fence()
        start = time.perf_counter()
        result = function()
        self.fence()
        return time.perf_counter() - start, result

    def __call__(self, function):
        """Returns the seconds of the repeats, and the last result."""
        job = self.job
        warm_up, result = self.once(function)
        if warm_up >= job["seconds_most"]:
            return [warm_up], result
        seconds, total = [], 0.0
        while len(seconds) < job["repeats"] or (
            total < job["seconds_least"] and len(seconds) < job["repeats_most"]
        ):
            if total >= job["seconds_most"]:
                break
            taken, result = self.once(function)
            seconds.append(taken)
            total += taken
        return seconds, result


def say(**line):
    print(json.dumps(line), flush=True)


class Library:
    """One array library: numpy with scipy, or cupy with cupyx.scipy."""

    def __init__(self, names, xp, ndimage, signal, fence=lambda: None, to_device=None, to_host=None):
        self.array_name, self.science_name = names
        self.xp, self.ndimage, self.signal = xp, ndimage, signal
        self.fence, self.to_device, self.to_host = fence, to_device, to_host


def clip(xp, image, kappa=3):
    """Kappa-sigma clipping by boolean indexing, until nothing is removed."""
    pixels = image.ravel()
    while True:
        median, std = xp.median(pixels), xp.std(pixels)
        kept = pixels[(pixels > median - kappa * std) & (pixels < median + kappa * std)]
        if len(kept) == len(pixels) or len(kept) == 0:
            return pixels
        pixels = kept


def gaussian_kernel(xp):
    x = xp.linspace(-2, 2, 15)
    return xp.exp(-(x[None, :] ** 2 + x[:, None] ** 2) / 2)


def points(xp, size):
    image = xp.zeros((size, size))
    image[8::16, 8::16] = 1
    return image


def primes(xp, upto=10000):
    """Trial division of all candidates at once: True for the primes."""
    candidates = xp.arange(upto + 1)
    flags = candidates > 1
    for divisor in range(2, int(upto**0.5) + 1):
        flags &= (candidates % divisor != 0) | (candidates == divisor)
    return flags


def measure(library, image, labels, count):
    index = library.xp.arange(1, count + 1)
    centres = library.ndimage.center_of_mass(image, labels, index)
    return centres, library.ndimage.sum_labels(image, labels, index)


def pipeline(library, image):
    threshold = 5 * library.xp.std(clip(library.xp, image))
    labels, count = library.ndimage.label((image > threshold).astype(library.xp.uint8))
    return int(count), measure(library, image, labels, int(count))[1]


def statistics(xp, pixels):
    values = {"mean": xp.mean, "median": xp.median, "std": xp.std, "max": xp.max}
    return {name: float(function(pixels)) for name, function in values.items()}


def of_sums(sums):
    return {"sources": len(sums), "brightest_sum": float(max(sums)) if len(sums) else 0.0}


class Bench:
    """All steps by one library."""

    def __init__(self, job, library, images):
        self.job, self.library, self.images = job, library, images
        self.timer = Timer(job, library.fence)

    def step(self, step, who, function, work, on=(), result=None, list_of=None, download=True):
        """Times work(*arrays). `on` names the arrays, `result` turns the value into figures.

        `list_of` is the file with Kastor's list, for a comparison number by number.
        """
        named = dict(step=step, who=who, function=function)
        try:
            lib = self.library
            arrays = [self.images[name] for name in on]
            if lib.to_device:
                arrays = [lib.to_device(array) for array in arrays]
            seconds, value = self.timer(lambda: work(*arrays))
            line = dict(named, seconds=seconds, result=result(value) if result else {})
            if list_of:
                line["max_difference"] = self.difference(list_of, value)
            if lib.to_device:

                def with_copies():
                    value = work(*[lib.to_device(self.images[name]) for name in on])
                    return lib.to_host(value) if download else value

                line["with_transfers"] = self.timer(with_copies)[0]
            say(**line)
        except Exception as error:  # the other steps still run
            say(**named, failed=f"{type(error).__name__}: {error}")

    def difference(self, name, value):
        import numpy as np

        host = np.asarray(self.library.to_host(value) if self.library.to_host else value)
        kastor = np.fromfile(self.job["files"][name]).reshape(host.shape)
        magnitude = max(np.abs(kastor).max(), np.abs(host).max())
        return float(np.abs(host - kastor).max() / magnitude) if magnitude > 0 else 0.0

    def run(self):
        lib, size = self.library, self.job["size"]
        xp, ndimage, signal = lib.xp, lib.ndimage, lib.signal
        array, science = lib.array_name, lib.science_name

        self.step(
            "dirac", array, "zeros, slices", lambda: points(xp, size),
            result=lambda image: {"points": int(image.sum())},
        )  # fmt: skip
        self.step(
            "kernel", array, "exp", lambda: gaussian_kernel(xp), list_of="taps",
            result=lambda kernel: {"sum": float(kernel.sum())},
        )  # fmt: skip
        for function in ("convolve2d", "fftconvolve"):
            self.step(
                "convolve", science, function, getattr(signal, function),
                on=("dirac_image", "taps"), list_of="convolve",
            )  # fmt: skip
        self.step(
            "convolve_1d", array, "convolve",
            lambda image, taps: xp.convolve(image.ravel(), xp.diagonal(taps).copy()),
            on=("dirac_image", "taps"), list_of="convolve_1d",
        )  # fmt: skip
        self.step(
            "statistics", array, "mean, ...", lambda sky: statistics(xp, sky), on=("sky",),
            result=lambda figures: figures, download=False,
        )  # fmt: skip
        self.step(
            "sigma_clip", array, "median, std", lambda sky: clip(xp, sky), on=("sky",),
            result=lambda kept: statistics(xp, kept), download=False,
        )  # fmt: skip
        self.segment(array, science)
        self.step(
            "pipeline", science, "and " + array, lambda sky: pipeline(lib, sky), on=("sky",),
            result=lambda found: of_sums(found[1]), download=False,
        )  # fmt: skip
        self.step(
            "primes", array, "%", lambda: primes(xp),
            result=lambda flags: {"primes": int(flags.sum())},
        )  # fmt: skip

    def segment(self, array, science):
        """The steps that need the results of the steps before them."""
        lib = self.library
        xp, ndimage = lib.xp, lib.ndimage
        on_host = lib.to_host or (lambda value: value)
        sky = self.images["sky"]
        sky = lib.to_device(sky) if lib.to_device else sky
        threshold = 5 * xp.std(clip(xp, sky))
        self.step(
            "segmentation", array, ">", lambda image: (image > threshold).astype(xp.uint8),
            on=("sky",), result=lambda mask: {"foreground_pixels": int(mask.sum())},
        )  # fmt: skip
        self.images["mask"] = on_host((sky > threshold).astype(xp.uint8))
        self.step(
            "label_image", science, "label", ndimage.label, on=("mask",), download=False,
            result=lambda labelled: {"sources": int(labelled[1])},
        )  # fmt: skip
        labels, count = ndimage.label((sky > threshold).astype(xp.uint8))
        self.step(
            "measure", science, "sums, centres",
            lambda image: measure(lib, image, labels, int(count))[1],
            on=("sky",), result=of_sums, download=False,
        )  # fmt: skip


def on_host():
    import numpy
    import scipy.ndimage
    import scipy.signal

    return Library(("numpy", "scipy"), numpy, scipy.ndimage, scipy.signal)


def on_device():
    """The library on the device; None without CuPy or a device."""
    try:
        import cupy
        import cupyx.scipy.ndimage
        import cupyx.scipy.signal

        fence = cupy.cuda.Device().synchronize
        fence()
    except Exception:
        return None
    return Library(
        ("cupy", "cupyx"),
        cupy,
        cupyx.scipy.ndimage,
        cupyx.scipy.signal,
        fence,
        cupy.asarray,
        cupy.asnumpy,
    )


def check():
    try:
        import numpy
        import scipy
        import scipy.ndimage
        import scipy.signal
    except Exception as error:
        say(missing=str(error) or type(error).__name__)
        return
    versions = [
        ["Python", sys.version.split()[0]],
        ["NumPy", numpy.__version__],
        ["SciPy", scipy.__version__],
    ]
    device = on_device()
    if device:
        versions.append(["CuPy", device.xp.__version__])
    say(versions=versions)


def run(job):
    import numpy as np

    shape = (job["size"], job["size"])
    images = {
        "dirac_image": np.fromfile(job["files"]["dirac_image"]).reshape(shape),
        "taps": np.fromfile(job["files"]["taps"]).reshape(15, 15),
        "sky": np.fromfile(job["files"]["sky"], dtype=job["type"]).reshape(shape),
    }
    for library in (on_host(), on_device()):
        if library:
            Bench(job, library, dict(images)).run()
    say(done=True)


def main():
    if sys.argv[1:] == ["check"]:
        check()
    elif len(sys.argv) == 3 and sys.argv[1] == "run":
        run(json.loads(sys.argv[2]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
