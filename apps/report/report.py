# SPDX-License-Identifier: Apache-2.0
"""Draws the page of `kastor report`.

report.py check                prints one JSON object: what is there, or what is missing
report.py run JOB IMAGE PAGE   writes PAGE; JOB is the JSON file that apps/report/report.cpp writes

The page itself is made by _page.py, which lies beside this file. The last line is {"done": true}, or
{"failed": WHY}.
"""

import importlib
import json
import sys

PACKAGES = {"astropy": "astropy", "matplotlib": "matplotlib", "jinja2": "Jinja2"}


def say(**line):
    print(json.dumps(line), flush=True)


def check():
    """Looks whether each package can be imported: one that is there may still be broken."""
    missing = []
    for module, name in PACKAGES.items():
        try:
            importlib.import_module(module)
        except Exception:  # noqa: BLE001 - whatever it is, the package cannot be used
            missing.append(name)
    if missing:
        say(missing="found no " + ", ".join(missing))
    else:
        say(packages=list(PACKAGES.values()))


def table_of(path):
    """The rows of a FITS table, and the units of its columns."""
    import numpy
    from astropy.io import fits

    with fits.open(path, memmap=False) as hdus:
        table = next(hdu for hdu in hdus if isinstance(hdu, fits.BinTableHDU))
        names = table.columns.names
        columns = {name: numpy.asarray(table.data[name]) for name in names}
        units = {column.name: column.unit or "" for column in table.columns}
        rows = numpy.zeros(len(table.data), [(n, c.dtype.newbyteorder("="), c.shape[1:]) for n, c in columns.items()])
    for name, column in columns.items():
        rows[name] = column
    return rows, units


def run_of(job, image):
    import _page

    pixels, header = _page.image_of(image, job["hdu"], job["plane"])
    sources, units = table_of(job["sources"])
    rows = {name: table_of(job[name])[0] if job.get(name) else None for name in ("components", "pairs", "compared")}
    maps = {name: _page.image_of(job[name], 0, None)[0] if job[name] else None for name in ("background", "rms")}
    return _page.Run(
        name=job["name"],
        command=job["command"],
        version=job["version"],
        report=job["find"],
        pixels=pixels,
        header=header,
        sources=sources,
        units=units,
        evaluation=job.get("evaluation"),
        comparison=job.get("comparison"),
        reference=job.get("reference", ""),
        **rows,
        **maps,
    )


def run(job, image, page):
    import _page

    with open(job, encoding="utf-8") as stream:
        text = _page.page(run_of(json.load(stream), image))
    with open(page, "r+", encoding="utf-8") as stream:  # it is there, unless the command was stopped
        stream.write(text)
    say(done=True)


def main(words):
    if words == ["check"]:
        check()
        return
    try:
        run(*words[1:])
    except Exception as error:  # noqa: BLE001 - the command reports it in one line
        say(failed=f"{type(error).__name__}: {error}")
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
