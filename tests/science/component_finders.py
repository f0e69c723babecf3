# SPDX-License-Identifier: Apache-2.0
"""Gaussians fitted by PyBDSF and Aegean, as CSV with the columns of `kastor find --components`.

    component_finders.py PyBDSF|Aegean IMAGE CATALOGUE.csv [--rms RMS]

With --rms the noise is that and the background 0, for images where both are known. All else are the settings of
finders.py. Positions are pixels from 0, axes arcsec, angles degrees from north to east, in the image's pixels. Needs
tests/science/requirements.txt.
"""
import argparse
import pathlib
import shutil

from finders import BESIDE_PYTHON, quietly, read

def in_pixels(table, image):
    """Adds x_cen, y_cen and their errors, of ra, dec, err_ra (of RA x cos Dec) and err_dec [deg]."""
    from astropy.wcs import WCS
    header = read(image)[1]
    table["x_cen"], table["y_cen"] = WCS(header).celestial.all_world2pix(table["ra_deg_cont"], table["dec_deg_cont"], 0)
    table["x_cen_err"] = table["ra_err"] / abs(header["CDELT1"])
    table["y_cen_err"] = table["dec_err"] / abs(header["CDELT2"])


def pybdsf(image, catalogue, rms):
    import bdsf
    from astropy.table import Table
    header = read(image)[1]
    fixed = {"beam": (header["BMAJ"], header["BMIN"], header.get("BPA", 0.0))}  # it refuses an image without BPA
    if rms is not None:
        fixed |= {"rms_map": False, "rms_value": rms, "mean_map": "zero"}
    found = bdsf.process_image(str(image), frequency=1.4e9, thresh="hard", quiet=True, ncores=1, **fixed)
    gaussians = catalogue.with_suffix(".gaul.fits")
    found.write_catalog(outfile=str(gaussians), format="fits", catalog_type="gaul", clobber=True)
    pathlib.Path(f"{image}.pybdsf.log").unlink(missing_ok=True)
    if not gaussians.exists():
        return None
    rows = Table.read(gaussians)
    gaussians.unlink()
    table = Table({"island_id": rows["Isl_id"], "ra_deg_cont": rows["RA"], "dec_deg_cont": rows["DEC"],
                   "ra_err": rows["E_RA"], "dec_err": rows["E_DEC"]})
    for ours, theirs, scale in (("flux_peak", "Peak_flux", 1), ("flux_int", "Total_flux", 1), ("maj_axis", "Maj", 3600),
                                ("min_axis", "Min", 3600), ("pos_ang", "PA", 1), ("maj_axis_deconv", "DC_Maj", 3600),
                                ("min_axis_deconv", "DC_Min", 3600), ("pos_ang_deconv", "DC_PA", 1)):
        table[ours], table[f"{ours}_err"] = scale * rows[theirs], scale * rows[f"E_{theirs}"]
    table["rms_image"] = rows["Isl_rms"]
    return table


def aegean(image, catalogue, rms):
    from astropy.table import Table
    folder = catalogue.parent / f"{catalogue.stem}_aegean"
    folder.mkdir(exist_ok=True)
    local = folder / "image.fits"
    shutil.copyfile(image, local)
    noise = ["--autoload"] if rms is None else ["--forcerms", rms, "--forcebkg", 0]
    if rms is None:
        quietly(BESIDE_PYTHON / "BANE", local.name, "--cores", 1, cwd=folder)
    quietly(BESIDE_PYTHON / "aegean", local.name, *noise, "--cores", 1, "--table", "out.fits", cwd=folder)
    found = folder / "out_comp.fits"
    rows = Table.read(found) if found.exists() else None
    shutil.rmtree(folder)
    if rows is None:
        return None
    table = Table({"island_id": rows["island"], "ra_deg_cont": rows["ra"], "dec_deg_cont": rows["dec"],
                   "ra_err": rows["err_ra"], "dec_err": rows["err_dec"]})
    for ours, theirs, error in (("flux_peak", "peak_flux", "err_peak_flux"), ("flux_int", "int_flux", "err_int_flux"),
                                ("maj_axis", "a", "err_a"), ("min_axis", "b", "err_b"), ("pos_ang", "pa", "err_pa")):
        table[ours], table[f"{ours}_err"] = rows[theirs], rows[error]
        table[f"{ours}_err"][rows[error] < 0] = float("nan")  # -1: none
    table["rms_image"] = rows["local_rms"]
    return table


FINDERS = {"PyBDSF": pybdsf, "Aegean": aegean}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=FINDERS)
    parser.add_argument("image", type=pathlib.Path)
    parser.add_argument("catalogue", type=pathlib.Path)
    parser.add_argument("--rms", type=float)
    given = parser.parse_args()
    table = FINDERS[given.name](given.image.resolve(), given.catalogue.resolve(), given.rms)
    if table is None:  # it found nothing
        given.catalogue.write_text("island_id,x_cen,y_cen,flux_peak,flux_int\n")
        return
    in_pixels(table, given.image)
    table.write(given.catalogue, format="ascii.csv", overwrite=True)


if __name__ == "__main__":
    main()
