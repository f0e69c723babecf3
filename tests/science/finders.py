#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Other finders, each with the settings of its manual for the kind of image.

    finders.py NAME IMAGE CATALOGUE [--optical]    runs one
    finders.py --versions                          prints {name: version} as JSON

Each writes its own columns, and exits with 77 if it is not installed.
"""
import argparse
import importlib.metadata
import json
import os
import pathlib
import shutil
import subprocess
import sys

SEXTRACTOR = shutil.which("source-extractor") or shutil.which("sex")
BESIDE_PYTHON = pathlib.Path(sys.executable).parent  # aegean and BANE of the same environment


def quietly(*command, cwd=None):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} ended with {done.returncode}:\n{done.stdout[-1000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def mesh_of(header, optical):
    """64 pixels, SExtractor's default; on radio images 20 beams, with Kastor's default the same for all meshes."""
    return 64 if optical else max(32, round(20 * header["BMAJ"] / abs(header["CDELT1"])))


def read(image):
    from astropy.io import fits
    with fits.open(image) as file:
        return file[0].data.astype("f4"), file[0].header


def pybdsf(image, catalogue, optical):
    """Islands at 3, peaks at 5 times the noise, its own box of the noise: all defaults, but thresh="hard".
    By default it took thresholds of 2.2 times the noise on images of many sources (by its false detection rate), with
    many false ones."""
    import bdsf
    found = bdsf.process_image(str(image), frequency=1.4e9, thresh="hard", quiet=True, ncores=1)
    found.write_catalog(outfile=str(catalogue), format="fits", catalog_type="srl", clobber=True)
    pathlib.Path(f"{image}.pybdsf.log").unlink(missing_ok=True)


def aegean(image, catalogue, optical):
    """Defaults: background and noise of BANE, islands at 4, peaks at 5 times the noise."""
    folder = catalogue.parent / f"{catalogue.stem}_aegean"
    folder.mkdir(exist_ok=True)
    local = folder / "image.fits"
    shutil.copyfile(image, local)
    quietly(BESIDE_PYTHON / "BANE", local.name, "--cores", 1, cwd=folder)
    quietly(BESIDE_PYTHON / "aegean", local.name, "--autoload", "--cores", 1, "--table", "out.fits", cwd=folder)
    table = folder / "out_comp.fits"
    if table.exists():
        shutil.move(table, catalogue)
    else:  # it found nothing
        from astropy.table import Table
        Table(names=["ra", "dec", "peak_flux", "int_flux", "local_rms"]).write(catalogue, overwrite=True)
    shutil.rmtree(folder)


SEXTRACTOR_COLUMNS = """NUMBER X_IMAGE Y_IMAGE ERRX2_IMAGE ERRY2_IMAGE ALPHA_J2000 DELTA_J2000 FLUX_AUTO FLUXERR_AUTO
FLUX_ISO FLUXERR_ISO FLUX_MAX A_IMAGE B_IMAGE THETA_IMAGE SNR_WIN FLAGS"""


def sextractor(image, catalogue, optical):
    """Optical: default.sex (1.5 times the noise, 3 x 3 filter) with 5 pixels. Radio: 5 times the local noise, no filter."""
    header = read(image)[1]
    share = pathlib.Path("/usr/share/source-extractor")
    columns = catalogue.with_suffix(".param")
    columns.write_text("\n".join(SEXTRACTOR_COLUMNS.split()) + "\n")
    options = {"PARAMETERS_NAME": columns, "CATALOG_TYPE": "FITS_1.0", "CATALOG_NAME": catalogue, "DETECT_MINAREA": 5,
               "VERBOSE_TYPE": "QUIET", "BACK_SIZE": mesh_of(header, optical), "STARNNW_NAME": share / "default.nnw",
               "FILTER_NAME": share / "default.conv", "MEMORY_OBJSTACK": 30000, "MEMORY_PIXSTACK": 3000000}
    if not optical:
        options |= {"DETECT_THRESH": 5, "ANALYSIS_THRESH": 5, "FILTER": "N", "WEIGHT_TYPE": "BACKGROUND"}
    words = [word for key, value in options.items() for word in (f"-{key}", value)]
    quietly(SEXTRACTOR, image, "-c", share / "default.sex", *words)
    columns.unlink()


def sep_(image, catalogue, optical):
    """As SExtractor: optical by the tutorial of its manual, radio 5 times the local noise without a filter; AUTO fluxes."""
    import numpy as np
    import sep
    from astropy.table import Table
    sep.set_extract_pixstack(3000000)
    data, header = read(image)
    data = np.ascontiguousarray(data)
    mask = ~np.isfinite(data)
    data[mask] = 0
    mesh = mesh_of(header, optical)
    sky = sep.Background(data, mask=mask, bw=mesh, bh=mesh)
    data -= sky.back()
    noise = sky.rms()
    if optical:
        found = sep.extract(data, 1.5, err=sky.globalrms, mask=mask, minarea=5)
    else:
        found = sep.extract(data, 5, err=noise, mask=mask, minarea=5, filter_kernel=None)
    kept = (found["a"] > 0) & (found["b"] > 0) & np.isfinite(found["theta"])
    found = found[kept]
    theta = np.clip(found["theta"], -np.pi / 2, np.pi / 2)
    where = found["x"], found["y"], found["a"], found["b"], theta
    gain = float(header.get("GAIN", 0)) or None
    radius, _ = sep.kron_radius(data, *where, 6.0, mask=mask)
    flux, error, _ = sep.sum_ellipse(data, *where, 2.5 * radius, err=noise, mask=mask, subpix=1, gain=gain)
    circle = radius * np.sqrt(found["a"] * found["b"]) < 1.75
    small, small_error, _ = sep.sum_circle(data, found["x"][circle], found["y"][circle], 1.75, err=noise, mask=mask,
                                           subpix=1, gain=gain)
    flux[circle], error[circle] = small, small_error
    table = Table(found)
    table["kron_flux"], table["kron_fluxerr"] = flux, error
    table.write(catalogue, overwrite=True)


def photutils_(image, catalogue, optical):
    """As its manual: segmentation, of the image convolved with the seeing if it is optical; deblended; Kron fluxes."""
    import warnings
    import numpy as np
    from astropy.convolution import convolve
    from astropy.table import Table
    from photutils.background import Background2D, MedianBackground
    from photutils.segmentation import SourceCatalog, SourceFinder, make_2dgaussian_kernel
    from photutils.utils import calc_total_error
    warnings.simplefilter("ignore")
    data, header = read(image)
    data = data.astype("f8")
    mask = ~np.isfinite(data)
    sky = Background2D(data, mesh_of(header, optical), filter_size=3, coverage_mask=mask, exclude_percentile=50,
                       bkg_estimator=MedianBackground())
    data = data - sky.background
    noise = sky.background_rms
    error = noise
    if optical:
        error = calc_total_error(data, noise, float(header["GAIN"]))
    convolved = convolve(data, make_2dgaussian_kernel(3.0, size=5)) if optical else data
    threshold = (1.5 if optical else 5) * noise
    columns = ["label", "x_centroid", "y_centroid", "semimajor_axis", "semiminor_axis", "orientation", "max_value",
               "segment_flux", "segment_flux_err", "kron_flux", "kron_flux_err"]
    finder = SourceFinder(n_pixels=10 if optical else 5, progress_bar=False)
    segments = finder(convolved, threshold, mask=mask)
    if segments is None:
        Table(names=columns).write(catalogue, overwrite=True)
        return
    found = SourceCatalog(data, segments, convolved_data=convolved, error=error, mask=mask)
    found.to_table(columns=columns).write(catalogue, overwrite=True)


FINDERS = {"PyBDSF": (pybdsf, "bdsf"), "Aegean": (aegean, "AegeanTools"), "SExtractor": (sextractor, None),
           "SEP": (sep_, "sep"), "photutils": (photutils_, "photutils")}
OPTICAL = ("SExtractor", "SEP", "photutils")  # the others fit beams


def version_of(name):
    """None if it is not installed."""
    package = FINDERS[name][1]
    if package is None:
        return quietly(SEXTRACTOR, "--version").split()[3] if SEXTRACTOR else None
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def main():
    if sys.argv[1:] == ["--versions"]:
        print(json.dumps({name: version_of(name) for name in FINDERS if version_of(name)}))
        return 0
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=FINDERS)
    parser.add_argument("image", type=pathlib.Path)
    parser.add_argument("catalogue", type=pathlib.Path)
    parser.add_argument("--optical", action="store_true")
    given = parser.parse_args()
    if not version_of(given.name):
        return 77
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    FINDERS[given.name][0](given.image.resolve(), given.catalogue.resolve(), given.optical)
    return 0


if __name__ == "__main__":
    sys.exit(main())
