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
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #1d2330; background: #fff; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin-top: 2rem; border-bottom: 1px solid #ccd; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } th, td { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid #e6e8ee; }
th:first-child, td:first-child { text-align: left; } img { max-width: 100%; height: auto; } code { background: #f2f4f8; padding: .1rem .3rem; overflow-wrap: anywhere; }
figure { margin: 1rem 0; } figcaption { color: #556; } .row { display: flex; flex-wrap: wrap; gap: 1rem; } .row figure { flex: 1 1 26rem; margin: 0; }
.wide { overflow-x: auto; }
</style>
</head>
<body>
<h1>{{ title }}</h1>
<p>{{ summary }}</p>
{% for section in sections %}
<h2>{{ section.heading }}</h2>
{% for text in section.texts %}<p>{{ text }}</p>
{% endfor %}
{% if section.table %}<div class="wide"><table><thead><tr>{% for cell in section.table[0] %}<th>{{ cell }}</th>{% endfor %}</tr></thead><tbody>
{% for row in section.table[1:] %}<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor %}</tbody></table></div>
{% endif %}
<div class="row">
{% for figure in section.figures %}<figure><img src="data:image/png;base64,{{ figure.png }}" alt="{{ figure.caption }}"><figcaption>{{ figure.caption }}</figcaption></figure>
{% endfor %}</div>
{% endfor %}
<h2>How it was made</h2>
<p><code>{{ command }}</code></p>
<table><tbody>
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


@dataclasses.dataclass
class Section:
    heading: str
    texts: list[str] = dataclasses.field(default_factory=list)
    table: list[list[str]] | None = None
    figures: list[Figure] = dataclasses.field(default_factory=list)


def _figure(draw: Any, caption: str, size: tuple[float, float] = (6, 4.2), projection: Any = None) -> Figure:
    """`draw(axes)` as a PNG image; drawn without a display, whatever backend the program has chosen."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=size, dpi=110, layout="constrained")
    FigureCanvasAgg(canvas)
    draw(canvas.add_subplot(projection=projection) if projection is not None else canvas.add_subplot())
    stream = io.BytesIO()
    canvas.savefig(stream, format="png", metadata={"Software": None})
    return Figure(caption, base64.b64encode(stream.getvalue()).decode())


def _coordinates(run: Run) -> Any:
    """The WCS of the image; None if it has no celestial one."""
    import warnings

    from astropy.wcs import WCS

    if run.header is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wcs = WCS(run.header).celestial
        except Exception:  # noqa: BLE001 - astropy raises many kinds; pixels are drawn then
            return None
    return wcs if wcs.naxis == 2 and wcs.has_celestial else None


def _thinned(pixels: np.ndarray, most: int = 1400) -> tuple[np.ndarray, int]:
    """Every k-th pixel of a large image, and k."""
    step = max(1, -(-max(pixels.shape) // most))
    return pixels[::step, ::step], step


def _draw_map(axes: Any, pixels: np.ndarray, unit: str, colours: str, limits: tuple[float, float] | None = None) -> None:
    shown, step = _thinned(pixels)
    finite = shown[np.isfinite(shown)]
    if limits is None:
        limits = tuple(np.percentile(finite, [1, 99.7])) if finite.size else (0, 1)
    extent = (-0.5, shown.shape[1] * step - 0.5, -0.5, shown.shape[0] * step - 0.5)
    image = axes.imshow(shown, origin="lower", cmap=colours, vmin=limits[0], vmax=limits[1], extent=extent, interpolation="nearest")
    axes.figure.colorbar(image, ax=axes, label=unit or None, shrink=0.85)
    axes.set(xlim=(-0.5, pixels.shape[1] - 0.5), ylim=(-0.5, pixels.shape[0] - 0.5))


def _draw_sky(axes: Any, run: Run) -> None:
    from matplotlib.collections import EllipseCollection

    level, rms = run.report.get("background", {}).get("level"), run.report.get("background", {}).get("rms")
    limits = (level - 3 * rms, level + 15 * rms) if level is not None and rms else None
    _draw_map(axes, run.pixels, run.units.get("flux_peak", ""), "gray", limits)
    if run.components is not None and len(run.components):
        rows = run.components
        axes.add_collection(EllipseCollection(rows["maj_axis_pix"], rows["min_axis_pix"], rows["pos_ang_pix"], units="xy",
                                              offsets=np.column_stack([rows["x_cen"], rows["y_cen"]]), offset_transform=axes.transData,
                                              facecolors="none", edgecolors="tab:orange", linewidths=0.9))
    axes.plot(run.sources["x_cen"], run.sources["y_cen"], "+", color="tab:cyan", markersize=4, markeredgewidth=0.7)


def _labelled(axes: Any, has_sky: bool) -> None:
    if has_sky:
        axes.coords[0].set_axislabel("right ascension or longitude")
        axes.coords[1].set_axislabel("declination or latitude")
    else:
        axes.set(xlabel="x [pixel]", ylabel="y [pixel]")


def _sky(run: Run) -> Section:
    wcs = _coordinates(run)

    def draw(axes: Any) -> None:
        _draw_sky(axes, run)
        _labelled(axes, wcs is not None)

    what = "Crosses: sources." if run.components is None else "Crosses: islands. Ellipses: components, at half of their peak."
    section = Section("Sky", figures=[_figure(draw, what, (11, 9), wcs)])
    for name, pixels in (("Background", run.background), ("Noise", run.rms)):
        if pixels is None:
            continue

        def draw_map(axes: Any, pixels: np.ndarray = pixels) -> None:
            _draw_map(axes, pixels, run.units.get("flux_peak", ""), "viridis")
            _labelled(axes, wcs is not None)

        section.figures.append(_figure(draw_map, name, (6, 4.8), wcs))
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

    def draw(axes: Any) -> None:
        bins = np.geomspace(fluxes.min() * 0.999, fluxes.max() * 1.001, int(np.clip(fluxes.size / 8, 6, 30)))
        axes.hist(fluxes, bins, histtype="step", color="tab:blue", label="islands" if run.components is not None else "sources")
        if run.components is not None:
            axes.hist(_positive(run.components["flux_int"]), bins, histtype="step", color="tab:orange", label="components")
        axes.set(xscale="log", yscale="log", xlabel=f"{name} [{run.units.get(name, '')}]", ylabel="number")
        axes.legend()

    section.figures.append(_figure(draw, "Numbers by flux."))
    if "snr" in run.sources.dtype.names:
        def draw_snr(axes: Any) -> None:
            snr = _positive(np.abs(run.sources["snr"]))
            axes.hist(snr, np.geomspace(snr.min() * 0.999, snr.max() * 1.001, int(np.clip(snr.size / 8, 6, 30))), histtype="step")
            axes.set(xscale="log", yscale="log", xlabel="peak / local noise", ylabel="number")

        section.figures.append(_figure(draw_snr, "Numbers by signal to noise."))
    return section


def _draw_bins(axes: Any, bins: list[dict[str, Any]], name: str, label: str) -> None:
    low, high = np.array([each["low"] for each in bins], float), np.array([each["high"] if each["high"] is not None else np.nan for each in bins], float)
    high = np.where(np.isfinite(high), high, 2 * low)
    low = np.maximum(low, 1e-3 * high)
    value = np.array([each[name] if each[name] is not None else np.nan for each in bins], float)
    ends = [np.array([each.get(f"{name}_{end}") if each.get(f"{name}_{end}") is not None else np.nan for each in bins], float) for end in ("low", "high")]
    middle = np.sqrt(low * high)
    axes.errorbar(middle, value, xerr=[middle - low, high - middle],
                  yerr=np.nan_to_num([np.abs(value - ends[0]), np.abs(ends[1] - value)]), fmt="o", markersize=4, label=label)


def _truth(run: Run) -> list[Section]:
    if run.evaluation is None:
        return []
    e = run.evaluation
    completeness, reliability = e["completeness"], e["reliability"]

    def draw(axes: Any) -> None:
        _draw_bins(axes, completeness["bins"], "completeness", "completeness (by the truth's S/N)")
        _draw_bins(axes, reliability["bins"], "reliability", "reliability (by the catalogue's S/N)")
        if completeness.get("half_snr"):
            axes.axvline(completeness["half_snr"], color="gray", linewidth=0.8)
        axes.set(xscale="log", ylim=(-0.03, 1.03), xlabel="S/N")
        axes.legend()

    section = Section("Against the truth", figures=[_figure(draw, "Completeness and reliability, with 68 % intervals.")])
    section.texts.append(f"{completeness['found']} of {completeness['sources']} sources that stand alone were found, half of them at an S/N of "
                         f"{_number(completeness.get('half_snr'))}. {e['false_detections']['count']} of {e['rows']['rows']} rows are false; "
                         f"Gaussian noise leads to expect {_number(e['false_detections'].get('expected_false'))}.")
    rows = [["", "median of the deviation", "scatter", "width of the pulls"]]
    for name, measure in e["measures"].items():
        pooled = measure["pooled"]
        if measure["trouble"] or not pooled or not pooled["deviation"]:
            continue
        deviation, pull = pooled["deviation"], pooled["pull"]
        rows.append([f"{measure['column']} {'(relative)' if name.startswith('flux') or name in ('major', 'minor') else '[pixel]'}",
                     f"{_number(deviation['median'])} ± {_number(deviation['median_err'])}", _number(deviation["sigma"]),
                     _number(pull["sigma"]) if pull else "no errors"])
    if len(rows) > 1:
        section.texts.append(f"Sources with an S/N of {_number(e['pool'][0])} to {_number(e['pool'][1])}:")
        section.table = rows
    section.figures += _pair_figures(run.pairs, "true_flux_int", "flux_int", ("true_x", "x"), ("true_y", "y"), "truth", "pixel")
    return [section]


def _reference(run: Run) -> list[Section]:
    if run.comparison is None:
        return []
    c = run.comparison
    section = Section(f"Against {run.reference or 'another catalogue'}")
    section.texts.append(f"{c['matched']} matched within {_number(c['radius'])} {c['radius_unit']}; {c['missed']} of the reference are missing here, "
                         f"{c['extra']} are here alone.")
    rows = [["", "pairs", "median ratio", "scatter"]]
    rows += [[name, str(ratio["pairs"]), _number(ratio["median"]), _number(ratio["sigma"])] for name, ratio in c["flux_ratio"].items() if ratio]
    if len(rows) > 1:
        section.table = rows
    if run.compared is not None and len(run.compared):
        names = run.compared.dtype.names or ()
        flux = next((each for each in ("flux_int", "flux_peak", "flux_sum") if f"{each}1" in names and f"{each}2" in names), None)
        if flux:
            section.figures += _pair_figures(run.compared, f"{flux}1", f"{flux}2", None, None, "reference", "")
        x, y = ("d_ra", "d_dec") if "d_ra" in names else ("d_x", "d_y")
        if x in names:
            section.figures.append(_offsets(run.compared[x], run.compared[y], c["offset"]["unit"]))
    return [section]


def _offsets(dx: np.ndarray, dy: np.ndarray, unit: str) -> Figure:
    def draw(axes: Any) -> None:
        axes.plot(dx, dy, ".", markersize=4)
        axes.axhline(0, color="gray", linewidth=0.8)
        axes.axvline(0, color="gray", linewidth=0.8)
        axes.set(xlabel=f"offset in x [{unit}]", ylabel=f"offset in y [{unit}]", aspect="equal")
        axes.set_adjustable("datalim")

    return _figure(draw, "Offsets of positions, measured minus reference.")


def _pair_figures(pairs: np.ndarray | None, true: str, measured: str, x: tuple[str, str] | None, y: tuple[str, str] | None,
                  what: str, unit: str) -> list[Figure]:
    if pairs is None or len(pairs) == 0 or pairs.dtype.names is None or true not in pairs.dtype.names:
        return []

    def draw(axes: Any) -> None:
        good = np.isfinite(pairs[true]) & (pairs[true] > 0)
        axes.plot(pairs[true][good], pairs[measured][good] / pairs[true][good], ".", markersize=4)
        axes.axhline(1, color="gray", linewidth=0.8)
        axes.set(xscale="log", xlabel=f"flux of the {what}", ylabel=f"measured / {what}")

    figures = [_figure(draw, f"Fluxes against the {what}.")]
    if x and y:
        figures.append(_offsets(pairs[x[1]] - pairs[x[0]], pairs[y[1]] - pairs[y[0]], unit))
    return figures


def _number(value: Any) -> str:
    return "-" if value is None or isinstance(value, float) and not np.isfinite(value) else f"{value:.4g}"


def _brightest(run: Run) -> Section:
    rows = run.components if run.components is not None else run.sources
    names = [each for each in ("id", "island_id", "component_id", "ra_deg_cont", "dec_deg_cont", "x_cen", "y_cen", "flux_peak", "flux_peak_err", "flux_int", "flux_int_err", "flux_sum",
                               "maj_axis", "min_axis", "pos_ang", "snr", "n_pix", "flags") if each in (rows.dtype.names or ())]
    order = np.argsort(-np.nan_to_num(rows["flux_peak"]))[:20]
    table = [names] + [[f"{rows[name][row]:.6g}" for name in names] for row in order]
    return Section("The brightest" + (" components" if run.components is not None else ""), table=table)


def page(run: Run) -> str:
    """The page as HTML."""
    import jinja2

    background = run.report.get("background") or {}
    summary = f"{run.pixels.shape[1]} x {run.pixels.shape[0]} pixels; {len(run.sources)} sources"
    if run.components is not None:
        summary += f", {len(run.components)} components"
    if background.get("rms"):
        summary += f"; background {_number(background['level'])}, noise {_number(background['rms'])} {run.units.get('flux_peak', '')}"
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
    return environment.from_string(TEMPLATE).render(title=run.name, summary=summary + ".", sections=sections, command=run.command, facts=facts)
