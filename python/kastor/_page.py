# SPDX-License-Identifier: Apache-2.0
"""Draws what was found in an image as one HTML page that loads nothing from elsewhere.

Needs matplotlib, Jinja2 and astropy. Figures are PNG images within the page.
"""

from __future__ import annotations

import base64
import dataclasses
import io
from typing import Any

import numpy as np

TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>{{ title }}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
  color: #1d2330; background: #fff; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin-top: 2rem; border-bottom: 1px solid #ccd; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .8rem; }
th, td { padding: .15rem .45rem; text-align: right; border-bottom: 1px solid #e6e8ee; }
th { vertical-align: bottom; } th small { display: block; color: #556; font-weight: normal; }
th:first-child, td:first-child, .facts td { text-align: left; }
img { max-width: 100%; height: auto; } code { background: #f2f4f8; padding: .1rem .3rem; overflow-wrap: anywhere; }
figcaption { color: #556; }
.row { display: flex; flex-wrap: wrap; gap: 1rem; margin-top: 1rem; }
.row figure { flex: 1 1 26rem; max-width: calc(50% - .5rem); margin: 0; }
.row figure.full { flex-basis: 100%; max-width: 100%; } .wide { overflow-x: auto; }
@media (max-width: 50rem) { .row figure { max-width: 100%; } }
</style>
</head>
<body>
<h1>{{ title }}</h1>
<p>{{ summary }}</p>
{% for section in sections %}
<h2>{{ section.heading }}</h2>
{% for text in section.texts %}<p>{{ text }}</p>
{% endfor %}
{% if section.table %}<div class="wide"><table><thead><tr>
{% for cell in section.table[0] %}<th>{{ cell }}
{%- if section.units %}<small>{{ section.units[loop.index0] or "\u00a0" }}</small>{% endif %}</th>
{% endfor %}</tr></thead><tbody>
{% for row in section.table[1:] %}<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor %}</tbody></table></div>
{% endif %}
<div class="row">
{% for figure in section.figures %}<figure{% if figure.is_full %} class="full"{% endif %}>
<img src="data:image/png;base64,{{ figure.png }}" alt="{{ figure.caption }}">
<figcaption>{{ figure.caption }}</figcaption></figure>
{% endfor %}</div>
{% endfor %}
<h2>How it was made</h2>
<p><code>{{ command }}</code></p>
<table class="facts"><tbody>
{% for name, value in facts %}<tr><td>{{ name }}</td><td><code>{{ value }}</code></td></tr>
{% endfor %}</tbody></table>
</body>
</html>
"""


@dataclasses.dataclass
class Run:
    """All that a page shows. Tables are structured arrays; units are by the name of the column."""

    name: str
    command: str
    version: str
    report: dict[str, Any]
    pixels: np.ndarray
    header: Any
    sources: np.ndarray
    units: dict[str, str]
    components: np.ndarray | None = None
    background: np.ndarray | None = None
    rms: np.ndarray | None = None
    evaluation: dict[str, Any] | None = None
    pairs: np.ndarray | None = None
    comparison: dict[str, Any] | None = None
    compared: np.ndarray | None = None
    reference: str = ""


@dataclasses.dataclass
class Figure:
    caption: str
    png: str
    is_full: bool = False  # as wide as the page


@dataclasses.dataclass
class Section:
    heading: str
    texts: list[str] = dataclasses.field(default_factory=list)
    table: list[list[str]] | None = None
    units: list[str] | None = None  # of the columns of the table
    figures: list[Figure] = dataclasses.field(default_factory=list)


def image_of(path: str, hdu: int, plane: int | None) -> tuple[np.ndarray, Any]:
    """The pixels of an image of a FITS file (`plane` of a cube), and its header; axes of length 1 are dropped as by the
    command, from the last of the file down."""
    from astropy.io import fits

    with fits.open(path) as hdus:
        pixels, header = np.asarray(hdus[hdu].data), hdus[hdu].header.copy()
    axis = 0  # the last one of the file
    while pixels.ndim > 2 and axis < pixels.ndim:
        if pixels.shape[axis] == 1:
            pixels = pixels.reshape(pixels.shape[:axis] + pixels.shape[axis + 1 :])
        else:
            axis += 1
    return (pixels if plane is None or pixels.ndim == 2 else pixels[plane]), header


def _figure(
    draw: Any, caption: str, size: tuple[float, float] = (6, 4.2), projection: Any = None, is_full: bool = False
) -> Figure:
    """`draw(axes)` as a PNG image; drawn without a display, whatever backend the program has chosen."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=size, dpi=110, layout="constrained")
    FigureCanvasAgg(canvas)
    draw(canvas.add_subplot(projection=projection) if projection is not None else canvas.add_subplot())
    stream = io.BytesIO()
    canvas.savefig(stream, format="png", metadata={"Software": None})
    return Figure(caption, base64.b64encode(stream.getvalue()).decode(), is_full)


def _coordinates(run: Run) -> Any:
    """The WCS of the image; None if its axes are not those of the sky."""
    import warnings

    from astropy.wcs import WCS

    if run.header is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            whole = WCS(run.header)
            wcs = whole.celestial
            if wcs.naxis != 2 or not wcs.has_celestial:
                return None
        except Exception:  # noqa: BLE001 - astropy raises many kinds; pixels are drawn then
            return None
    of_sky = sorted((whole.wcs.lng, whole.wcs.lat))
    lengths = tuple(run.header.get(f"NAXIS{axis + 1}") for axis in reversed(of_sky))
    return wcs if lengths == run.pixels.shape else None


def _thinned(pixels: np.ndarray, most: int = 1400) -> tuple[np.ndarray, int]:
    """Means of k x k pixels of a large image, without those that are no numbers, and k."""
    import warnings

    step = max(1, -(-max(pixels.shape) // most))
    if step == 1:
        return pixels, 1
    height, width = (max(side // step, 1) for side in pixels.shape)
    means = np.empty((height, width))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of blocks without a number
        for y in range(height):
            rows = pixels[y * step : (y + 1) * step, : width * step].astype(float)
            rows[~np.isfinite(rows)] = np.nan
            means[y] = np.nanmean(rows.reshape(rows.shape[0], width, -1), axis=(0, 2))
    return means, step


def _limits(shown: np.ndarray, is_sky: bool) -> tuple[float, float]:
    """The values at the ends of the colours: of a sky by its noise, of a map by nearly all of it."""
    finite = shown[np.isfinite(shown)]
    if finite.size == 0:
        return 0, 1
    middle = np.median(finite)
    noise = 1.4826 * np.median(np.abs(finite - middle))
    if is_sky and noise > 0:
        return middle - 3 * noise, middle + 15 * noise
    low, high = np.percentile(finite, [0.5, 99.5])
    return (low, high) if high > low else (low - 0.5 * (abs(low) or 1), low + 0.5 * (abs(low) or 1))


def _draw_map(axes: Any, pixels: np.ndarray, unit: str, colours: str, is_sky: bool = False) -> None:
    shown, step = _thinned(pixels)
    limits = _limits(shown, is_sky)
    extent = (-0.5, shown.shape[1] * step - 0.5, -0.5, shown.shape[0] * step - 0.5)
    image = axes.imshow(
        shown, origin="lower", cmap=colours, vmin=limits[0], vmax=limits[1], extent=extent, interpolation="nearest"
    )
    axes.figure.colorbar(image, ax=axes, label=unit or None, pad=0.02, fraction=0.06)
    axes.set(xlim=(-0.5, pixels.shape[1] - 0.5), ylim=(-0.5, pixels.shape[0] - 0.5))


def _draw_sky(axes: Any, run: Run) -> None:
    from matplotlib.collections import EllipseCollection

    _draw_map(axes, run.pixels, run.units.get("flux_peak", ""), "gray", is_sky=True)
    if run.components is not None and len(run.components):
        rows = run.components
        axes.add_collection(
            EllipseCollection(
                rows["maj_axis_pix"],
                rows["min_axis_pix"],
                rows["pos_ang_pix"],
                units="xy",
                offsets=np.column_stack([rows["x_cen"], rows["y_cen"]]),
                offset_transform=axes.transData,
                facecolors="none",
                edgecolors="tab:orange",
                linewidths=0.9,
            )
        )
    axes.plot(run.sources["x_cen"], run.sources["y_cen"], "+", color="tab:cyan", markersize=4, markeredgewidth=0.7)


def _labelled(axes: Any, wcs: Any) -> None:
    names = {
        "RA": "right ascension",
        "DEC": "declination",
        "GLON": "galactic longitude",
        "GLAT": "galactic latitude",
        "ELON": "ecliptic longitude",
        "ELAT": "ecliptic latitude",
    }
    if wcs is not None:
        for axis, kind in ((wcs.wcs.lng, wcs.wcs.lngtyp), (wcs.wcs.lat, wcs.wcs.lattyp)):
            axes.coords[axis].set_axislabel(names.get(kind.strip(), kind))
    else:
        axes.set(xlabel="x [pixel]", ylabel="y [pixel]")


def _map_size(pixels: np.ndarray, width: float) -> tuple[float, float]:
    """The size of a figure [inch] in which the image fills the axes, beside labels and a colour bar."""
    return width, float(np.clip((width - 2.2) * pixels.shape[0] / pixels.shape[1] + 0.75, 0.3 * width, 1.5 * width))


def _sky(run: Run) -> Section:
    wcs = _coordinates(run)

    def draw(axes: Any) -> None:
        _draw_sky(axes, run)
        _labelled(axes, wcs)

    what = (
        "Crosses: sources."
        if run.components is None
        else "Crosses: islands. Ellipses: components, at half of their peak."
    )
    section = Section("Sky", figures=[_figure(draw, what, _map_size(run.pixels, 11), wcs, is_full=True)])
    for name, pixels in (("Background", run.background), ("Noise", run.rms)):
        if pixels is None:
            continue

        def draw_map(axes: Any, pixels: np.ndarray = pixels) -> None:
            _draw_map(axes, pixels, run.units.get("flux_peak", ""), "viridis")
            _labelled(axes, wcs)

        section.figures.append(_figure(draw_map, name, _map_size(run.pixels, 6), wcs))
    return section


def _positive(values: np.ndarray) -> np.ndarray:
    return values[np.isfinite(values) & (values > 0)]


def _counts(run: Run) -> Section:
    name = next(each for each in ("flux_int", "flux_auto", "flux_sum", "flux_peak") if each in run.sources.dtype.names)
    fluxes = _positive(run.sources[name])
    section = Section("Counts")
    if fluxes.size < 2:
        section.texts.append("There are too few sources with a positive flux to count them.")
        return section

    components = None if run.components is None else _positive(run.components["flux_int"])
    section.figures.append(_numbers(fluxes, components, _with_unit(name, run.units.get(name, "")), "Numbers by flux."))
    if "snr" in run.sources.dtype.names:
        section.figures.append(
            _numbers(_positive(np.abs(run.sources["snr"])), None, "peak / local noise", "Numbers by signal to noise.")
        )
    return section


def _with_unit(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit else name


def _numbers(sources: np.ndarray, components: np.ndarray | None, label: str, caption: str) -> Figure:
    """Histograms in bins of equal ratio, of sources and of components, if there are any."""

    def draw(axes: Any) -> None:
        both = sources if components is None else np.concatenate([sources, components])
        bins = np.geomspace(both.min() * 0.999, both.max() * 1.001, int(np.clip(both.size / 8, 6, 30)))
        axes.hist(
            sources, bins, histtype="step", color="tab:blue", label="sources" if components is None else "islands"
        )
        if components is not None:
            axes.hist(components, bins, histtype="step", color="tab:orange", label="components")
            axes.legend()
        axes.set(xscale="log", yscale="log", xlabel=label, ylabel="number")
        axes.set_ylim(bottom=0.7)
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("")

    return _figure(draw, caption)


def _draw_bins(axes: Any, bins: list[dict[str, Any]], name: str) -> None:
    low, high = (
        np.array([each["low"] for each in bins], float),
        np.array([each["high"] if each["high"] is not None else np.nan for each in bins], float),
    )
    high = np.where(np.isfinite(high), high, 2 * low)
    low = np.maximum(low, 1e-3 * high)
    value = np.array([each[name] if each[name] is not None else np.nan for each in bins], float)
    ends = [
        np.array(
            [each.get(f"{name}_{end}") if each.get(f"{name}_{end}") is not None else np.nan for each in bins], float
        )
        for end in ("low", "high")
    ]
    middle = np.sqrt(low * high)
    axes.errorbar(
        middle,
        value,
        xerr=[middle - low, high - middle],
        yerr=np.nan_to_num([np.abs(value - ends[0]), np.abs(ends[1] - value)]),
        fmt="o",
        markersize=4,
        linewidth=1,
    )
    axes.set(xscale="log", ylim=(-0.03, 1.03), ylabel=name)


def _truth(run: Run) -> list[Section]:
    if run.evaluation is None:
        return []
    e = run.evaluation
    completeness, reliability = e["completeness"], e["reliability"]

    def draw(axes: Any) -> None:
        _draw_bins(axes, completeness["bins"], "completeness")
        if completeness.get("half_snr"):
            axes.axvline(completeness["half_snr"], color="gray", linewidth=0.8)
        axes.set(xlabel="S/N of the truth")

    def draw_reliability(axes: Any) -> None:
        _draw_bins(axes, reliability["bins"], "reliability")
        axes.set(xlabel="S/N of the catalogue")

    section = Section("Against the truth", figures=[_figure(draw, "Completeness, with 68 % intervals.")])
    if reliability["bins"]:
        section.figures.append(_figure(draw_reliability, "Reliability, with 68 % intervals."))
    section.texts.append(
        f"{completeness['found']} of the {completeness['sources']} true sources that stand alone were found; "
        f"half are found at an S/N of {_number(completeness.get('half_snr'))}. "
        f"{e['false_detections']['count']} of {e['rows']['rows']} rows are false; "
        f"Gaussian noise leads to expect {_number(e['false_detections'].get('expected_false'))}."
    )
    rows = [["", "median of the deviation", "scatter", "width of the pulls"]]
    for name, measure in e["measures"].items():
        pooled = measure["pooled"]
        if measure["trouble"] or not pooled or not pooled["deviation"]:
            continue
        deviation, pull = pooled["deviation"], pooled["pull"]
        is_relative = name.startswith("flux") or name in ("major", "minor")
        rows.append(
            [
                f"{measure['column']} {'(relative)' if is_relative else '[pixel]'}",
                f"{_number(deviation['median'])} ± {_number(deviation['median_err'])}",
                _number(deviation["sigma"]),
                _number(pull["sigma"]) if pull else "no errors",
            ]
        )
    if len(rows) > 1:
        section.texts.append(f"Sources with an S/N of {_number(e['pool'][0])} to {_number(e['pool'][1])}:")
        section.table = rows
    section.figures += _pair_figures(
        run.pairs, "true_flux_int", "flux_int", ("true_x", "x"), ("true_y", "y"), "truth", "pixel"
    )
    return [section]


def _reference(run: Run) -> list[Section]:
    if run.comparison is None:
        return []
    c = run.comparison
    section = Section(f"Against {run.reference or 'another catalogue'}")
    section.texts.append(
        f"{c['matched']} matched within {_number(c['radius'])} {c['radius_unit']}; "
        f"{c['missed']} of the reference are missing here, "
        f"{c['extra']} are here alone."
    )
    rows = [["", "pairs", "median ratio", "scatter"]]
    rows += [
        [name, str(ratio["pairs"]), _number(ratio["median"]), _number(ratio["sigma"])]
        for name, ratio in c["flux_ratio"].items()
        if ratio
    ]
    if len(rows) > 1:
        section.table = rows
    if run.compared is not None and len(run.compared):
        names = run.compared.dtype.names or ()
        flux = next(
            (each for each in ("flux_int", "flux_peak", "flux_sum") if f"{each}1" in names and f"{each}2" in names),
            None,
        )
        if flux:
            section.figures += _pair_figures(run.compared, f"{flux}1", f"{flux}2", None, None, "reference", "")
        x, y = ("d_ra", "d_dec") if "d_ra" in names else ("d_x", "d_y")
        if x in names:
            axes = ("right ascension", "declination") if x == "d_ra" else ("x", "y")
            section.figures.append(_offsets(run.compared[x], run.compared[y], c["offset"]["unit"], axes, "reference"))
    return [section]


def _offsets(dx: np.ndarray, dy: np.ndarray, unit: str, names: tuple[str, str], what: str) -> Figure:
    def draw(axes: Any) -> None:
        axes.plot(dx, dy, ".", markersize=4)
        axes.axhline(0, color="gray", linewidth=0.8)
        axes.axvline(0, color="gray", linewidth=0.8)
        axes.set(xlabel=f"offset in {names[0]} [{unit}]", ylabel=f"offset in {names[1]} [{unit}]", aspect="equal")
        axes.set_adjustable("datalim")

    return _figure(draw, f"Offsets of positions, measured minus {what}.")


def _pair_figures(
    pairs: np.ndarray | None,
    true: str,
    measured: str,
    x: tuple[str, str] | None,
    y: tuple[str, str] | None,
    what: str,
    unit: str,
) -> list[Figure]:
    if pairs is None or len(pairs) == 0 or pairs.dtype.names is None or true not in pairs.dtype.names:
        return []

    def draw(axes: Any) -> None:
        good = np.isfinite(pairs[true]) & (pairs[true] > 0)
        ratio = pairs[measured][good] / pairs[true][good]
        axes.plot(pairs[true][good], ratio, ".", markersize=4)
        axes.axhline(1, color="gray", linewidth=0.8)
        axes.set(xscale="log", xlabel=f"flux of the {what}", ylabel=f"measured / {what}")
        if ratio.size and np.nanmin(ratio) > 0 and np.nanmax(ratio) / np.nanmin(ratio) > 4:  # outliers hide the rest
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter("{x:g}")

    figures = [_figure(draw, f"Fluxes against the {what}.")]
    if x and y:
        figures.append(_offsets(pairs[x[1]] - pairs[x[0]], pairs[y[1]] - pairs[y[0]], unit, ("x", "y"), what))
    return figures


def _number(value: Any) -> str:
    return "-" if value is None or isinstance(value, float) and not np.isfinite(value) else f"{value:.4g}"


def _cell(name: str, value: Any) -> str:
    if not isinstance(value, np.floating):
        return str(value)
    if not np.isfinite(value):
        return "-"
    return (
        f"{value:.5f}"
        if name.endswith("_deg_cont")
        else f"{value:.2f}"
        if name in ("x_cen", "y_cen")
        else f"{value:.4g}"
    )


def _brightest(run: Run) -> Section:
    rows = run.components if run.components is not None else run.sources
    places = ("ra_deg_cont", "dec_deg_cont") if "ra_deg_cont" in (rows.dtype.names or ()) else ("x_cen", "y_cen")
    names = [
        each
        for each in (
            "id",
            "island_id",
            "component_id",
            *places,
            "flux_peak",
            "flux_peak_err",
            "flux_int",
            "flux_int_err",
            "flux_sum",
            "maj_axis",
            "min_axis",
            "pos_ang",
            "snr",
            "n_pix",
            "flags",
        )
        if each in (rows.dtype.names or ())
    ]
    order = np.argsort(-np.nan_to_num(rows["flux_peak"]))[:20]
    table = [names] + [[_cell(name, rows[name][row]) for name in names] for row in order]
    return Section(
        "The brightest" + (" components" if run.components is not None else " sources"),
        table=table,
        units=[run.units.get(name, "") for name in names],
    )


def page(run: Run) -> str:
    """The page as HTML."""
    import jinja2

    background = run.report.get("background") or {}
    summary = f"{run.pixels.shape[1]} x {run.pixels.shape[0]} pixels; {len(run.sources)} sources"
    if run.components is not None:
        summary += f", {len(run.components)} components"
    if background.get("rms"):
        unit = run.units.get("flux_peak", "")
        summary += f"; background {_number(background['level'])}, noise {_number(background['rms'])} {unit}"
    beam = run.report.get("beam")
    if beam:
        summary += f"; beam {_number(beam['major_arcsec'])} x {_number(beam['minor_arcsec'])} arcsec"
    sections = [_sky(run), _brightest(run), _counts(run), *_truth(run), *_reference(run)]
    notes = run.report.get("notes") or []
    if notes:
        sections.append(Section("Notes", texts=list(notes)))
    facts = [("Kastor", run.version), ("catalogue hash", run.report.get("catalogue_hash", "-"))]
    if run.report.get("component_hash"):
        facts.append(("component hash", run.report["component_hash"]))
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(TEMPLATE).render(
        title=run.name, summary=summary + ".", sections=sections, command=run.command, facts=facts
    )
