# SPDX-License-Identifier: Apache-2.0
"""Threads, forks, the interpreter's lock, and the exit."""

import concurrent.futures
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
import unittest

import numpy as np
from skies import folder, pixels_of, sky

import kastor


def hash_of(path, **options):
    return kastor.find(path, **options).hash


def python(code, **environment):
    """Runs code in a process of its own: the output, with what goes to stderr."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | environment,
    )
    # A forked process cannot end Kokkos where a GPU was in use, and Kokkos says so.
    errors = done.stderr.replace("Kokkos::Cuda ERROR: Failed to call Kokkos::Cuda::finalize()\n", "")
    return done.returncode, done.stdout, errors


def ready_seconds():
    """Time in which the calling thread ran or waited for a core, but not for another thread."""
    with open(f"/proc/self/task/{threading.get_native_id()}/schedstat") as file:
        running, waiting, _ = file.read().split()
    return (int(running) + int(waiting)) / 1e9


class Threads(unittest.TestCase):
    def test_many_threads_have_the_same_answer(self):
        pixels, header = pixels_of(sky())
        for backend in kastor.backends():
            expected = kastor.find(pixels, header=header, preset="radio").hash
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                hashes = list(
                    pool.map(lambda _: kastor.find(pixels, header=header, preset="radio", on=backend).hash, range(24))
                )
            self.assertEqual(set(hashes), {expected}, backend)

    def test_threads_on_serial_run_side_by_side(self):
        cores = min(2, len(os.sched_getaffinity(0)))
        if cores < 2:
            self.skipTest("one core")
        image = np.random.default_rng(3).normal(size=(2048, 2048)).astype("float32")
        kastor.find(image, preset="radio", on="serial", components=False, noise="white")

        shares = []

        def work():
            began, ready = time.perf_counter(), ready_seconds()
            while time.perf_counter() < began + 1:
                kastor.find(image, preset="radio", on="serial", components=False, noise="white")
            shares.append((ready_seconds() - ready) / (time.perf_counter() - began))

        threads = [threading.Thread(target=work) for _ in range(cores)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertGreater(min(shares), 0.8)

    def test_the_lock_is_released(self):
        image = np.random.default_rng(3).normal(size=(3000, 3000)).astype("float32")
        ticks, done = [], threading.Event()

        def tick():
            while not done.is_set():
                ticks.append(time.perf_counter())
                time.sleep(0.001)

        ticker = threading.Thread(target=tick)
        ticker.start()
        time.sleep(0.02)
        began = time.perf_counter()
        for _ in range(5):
            kastor.find(image, preset="radio", components=False)
        ended = time.perf_counter()
        done.set()
        ticker.join()
        within = [each for each in ticks if began < each < ended]
        self.assertGreater(len(within), 10)

    def test_find_many(self):
        paths = [sky("sky", size) for size in (64, 80, 96)] * 3
        found = list(kastor.find_many(paths, workers=2, preset="radio"))
        self.assertEqual([each.name for each in found], [str(path) for path in paths])
        self.assertEqual([each.hash for each in found], [hash_of(path, preset="radio") for path in paths])
        with self.assertRaises(kastor.Error):
            list(kastor.find_many([paths[0], "missing.fits"]))


@unittest.skipIf("cuda" in kastor.backends(), "CUDA does not allow it")
class Forks(unittest.TestCase):
    def test_a_forked_process_has_the_same_answer(self):
        path = sky()
        expected = hash_of(path, preset="radio")
        with multiprocessing.get_context("fork").Pool(2) as pool:
            waiting = [pool.apply_async(hash_of, (path,), {"preset": "radio"}) for _ in range(4)]
            self.assertEqual({each.get(timeout=20) for each in waiting}, {expected})
            truth = str(path).replace(".fits", "_truth.csv")
            evaluated = pool.apply_async(kastor.evaluate, (path, truth)).get(timeout=60)
            self.assertEqual(evaluated["rows"], kastor.evaluate(path, truth)["rows"])
            refused = pool.apply_async(hash_of, (path,), {"on": "openmp"})
            with self.assertRaisesRegex(kastor.DeviceError, "forked.*serial"):
                refused.get(timeout=20)

    def test_a_fork_while_other_threads_search(self):
        path = sky()
        expected = hash_of(path, preset="radio")
        stop = threading.Event()

        def work():
            while not stop.is_set():
                hash_of(path, preset="radio", on="serial")
                kastor.measure(path, ([5.0], [5.0]), on="serial")
                with self.assertRaises(kastor.Error):
                    kastor.find(path, preset="radio", detect_image=path, detect_image_plane=9, on="serial")

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(25):
                with multiprocessing.get_context("fork").Pool(1) as pool:
                    self.assertEqual(pool.apply_async(hash_of, (path,), {"preset": "radio"}).get(timeout=20), expected)
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def test_a_spawned_process_too(self):
        path = sky()
        with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            self.assertEqual(
                pool.submit(hash_of, path, preset="radio").result(timeout=60), hash_of(path, preset="radio")
            )

    def test_the_first_use_after_a_fork(self):
        code = (
            "import os, sys, kastor\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    try:\n"
            "        kastor.backends()\n"
            "    except kastor.DeviceError as error:\n"
            "        print(error, flush=True)\n"
            "        os._exit(0)\n"
            "    os._exit(1)\n"
            "sys.exit(os.waitpid(child, 0)[1])"
        )
        status, output, errors = python(code)
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("kastor.initialize", output)


class Pickles(unittest.TestCase):
    def test_a_process_returns_what_it_found(self):
        path = sky()
        here = kastor.find(path, preset="radio", maps="rms")
        for found in (pickle.loads(pickle.dumps(here)), pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(here))))):
            self.assertEqual(
                (found.hash, found.component_hash, len(found), str(found), found.notes, found.shape),
                (here.hash, here.component_hash, len(here), str(here), here.notes, here.shape),
            )
            for which in ("sources", "components"):
                self.assertEqual(getattr(found, which).tobytes(), getattr(here, which).tobytes())
                self.assertEqual(found.columns(which), here.columns(which))
            np.testing.assert_array_equal(found.maps["rms"], here.maps["rms"])
            with self.assertRaisesRegex(kastor.Error, "pickled.*table"):
                found.write("x.vot")
        with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            self.assertEqual(pool.submit(kastor.find, path, preset="radio").result(timeout=60).hash, here.hash)


class Exit(unittest.TestCase):
    def test_nothing_is_said(self):
        for code in (
            "import kastor",
            f"import kastor; kastor.find({str(sky())!r})",
            "import kastor; kastor.initialize(threads=1)",
            f"import kastor; found = kastor.find({str(sky())!r}, preset='radio', maps='rms'); m = found.maps['rms']",
            f"import kastor, os, warnings; warnings.simplefilter('ignore')\nkastor.find({str(sky())!r})\n"
            "p = os.fork()\nif p: os.waitpid(p, 0)",
            "import kastor, numpy, threading\nimage = numpy.zeros((3000, 3000), 'float32')\n"
            "def work():\n    while True: kastor.find(image, level=1)\n"
            "threading.Thread(target=work, daemon=True).start()\nkastor.find(image, level=1)",
        ):
            self.assertEqual(python(code), (0, "", ""), code)

    def test_an_import_starts_nothing(self):
        status, output, errors = python(
            "import kastor; print(kastor._kastor.is_started(), sum(1 for _ in open('/proc/self/task/../maps')) > 0)"
        )
        self.assertEqual((status, output.split()[0], errors), (0, "False", ""))

    def test_memory_is_released(self):
        code = (
            "import kastor, numpy\n"
            "def resident():\n    return int(open('/proc/self/statm').read().split()[1]) * 4096\n"
            "image = numpy.zeros((8000, 8000), 'float32')\n"
            "kastor.find(image, level=1, on='serial', maps='labels')\n"
            "kept = resident()\nkastor.release()\nprint(kept - resident() > 1e6)\nkastor.find(image, level=1)\n"
        )
        self.assertEqual(python(code), (0, "True\n", ""))

    def test_threads_are_chosen_once(self):
        code = (
            "import kastor\nkastor.initialize(threads=2)\nkastor.initialize(threads=2)\nkastor.initialize()\n"
            "try:\n    kastor.initialize(threads=1)\nexcept kastor.Error as error:\n    print(error)"
        )
        status, output, errors = python(code)
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("threads", output)


if __name__ == "__main__":
    folder()
    unittest.main()
