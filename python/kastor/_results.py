# SPDX-License-Identifier: Apache-2.0
"""What the functions return."""

from __future__ import annotations

import dataclasses
import functools
import html
import json
import os
import tempfile
from typing import Any

import numpy as np

from . import _kastor


@dataclasses.dataclass(frozen=True)
class Column:
    """What a column of a table is: its unit in the spelling of FITS, its UCD1+, and one sentence."""

    name: str
    unit: str
    ucd: str
    description: str


class Rows:
    """A table: a structured array, and what its columns are.

    Attributes
    ----------
    array : numpy.ndarray
        One structured element for each row.
    columns : dict of str to Column
    cards : list of tuple
        Keyword, value and comment of what holds for the whole table.
    """

    def __init__(self, table: dict[str, Any]):
        values = [
            np.asarray(column["values"])
            if not isinstance(column["values"], list)
            else np.array(column["values"], dtype=str)
            for column in table["columns"]
        ]
        # astropy tells the two 64-bit integers of C apart: the usual one.
        types = [(column["name"], np.dtype(value.dtype.str)) for column, value in zip(table["columns"], values)]
        self.name: str = table["name"]
        self.description: str = table["description"]
        self.array = np.empty(len(values[0]) if values else 0, dtype=types)
        for (name, _), value in zip(types, values):
            self.array[name] = value
        self.columns = {
            column["name"]: Column(column["name"], column["unit"], column["ucd"], column["description"])
            for column in table["columns"]
        }
        self.cards: list[tuple[str, Any, str]] = table["cards"]

    def table(self) -> Any:
        """As an `astropy.table.QTable`, with units, and UCDs in the meta of each column."""
        from astropy import units
        from astropy.table import Column as Column_
        from astropy.table import QTable

        table = QTable()
        for name, column in self.columns.items():
            unit = units.Unit(column.unit, parse_strict="silent") if column.unit else units.dimensionless_unscaled
            if isinstance(unit, units.UnrecognizedUnit):  # as ELECTRONS/S: it can be shown, not computed with
                table[name] = Column_(self.array[name], unit=unit)
            else:
                table[name] = self.array[name] if unit == "" else self.array[name] * unit
            info = table[name].info
            info.description = column.description
            info.meta = {"ucd": column.ucd}
        table.meta = {"name": self.name, "description": self.description}
        table.meta.update({keyword: value for keyword, value, _ in self.cards})
        return table


class Kept:
    """What `Found` needs of the compiled result, in plain Python: of one that was pickled."""

    def __init__(self, values: dict[str, Any]):
        self._values = values
        for name in ("path", "shape", "unit", "preset", "cards", "seconds"):
            setattr(self, name, values[name])

    def __getattr__(self, name: str) -> Any:
        if name in ("islands", "components", "maps", "text", "json", "notes", "count"):
            return lambda: self._values[name]
        raise AttributeError(name)

    def write(self, *_: Any) -> None:
        raise _kastor.Error(
            "this result was pickled; expected found.table().write(...), or that the process that searched writes"
        )


def _unpickled(values: dict[str, Any], origin: Any) -> Found:
    return Found(Kept(values), origin)


class Found:
    """The sources of an image. `kastor.find` returns it.

    Attributes
    ----------
    sources : numpy.ndarray
        One structured element for each island, or each source of the preset "lesson": the columns
        that the command writes (docs/catalogue.md).
    components : numpy.ndarray or None
        The Gaussians that were fitted to the islands (docs/components.md); None if none were.
    maps : dict of str to numpy.ndarray
        The maps that were asked for.
    notes : list of str
        What to know of the pixels, the header and the options, one sentence each.

    Notes
    -----
    It can be pickled, so that a process can return it. The copy has tables and maps, but not the image.

    Examples
    --------
    >>> import kastor
    >>> found = kastor.find("sky.fits", preset="radio")
    >>> len(found), found.sources.dtype.names[:4]
    (8, ('island_id', 'island_name', 'ra_deg_cont', 'dec_deg_cont'))
    >>> found.columns()["flux_int"].unit
    'Jy'
    >>> found.table()["flux_int"].unit
    Unit("Jy")
    >>> found.write("components.reg", "components")
    """

    def __init__(self, found: Any, origin: Any):
        self._found = found
        self._origin = origin
        self.maps = {name[2:].removesuffix("-map").replace("-", "_"): value for name, value in found.maps().items()}
        self.notes: list[str] = found.notes()

    @functools.cached_property
    def _sources(self) -> Rows:
        return Rows(self._found.islands())

    @functools.cached_property
    def _components(self) -> Rows | None:
        components = self._found.components()
        return Rows(components) if components is not None else None

    @property
    def sources(self) -> np.ndarray:
        return self._sources.array

    @property
    def components(self) -> np.ndarray | None:
        return self._components.array if self._components else None

    @property
    def name(self) -> str:
        """Of the file, or what messages call the array."""
        return str(self._found.path)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the image."""
        height, width = self._found.shape
        return int(height), int(width)

    @property
    def unit(self) -> str:
        """Of the pixels, in the spelling of FITS; empty if there is none."""
        return str(self._found.unit)

    @property
    def preset(self) -> str:
        return str(self._found.preset)

    @property
    def report(self) -> dict[str, Any]:
        """What ``kastor find --json`` prints: counts, the background, the beam, hashes, notes."""
        report: dict[str, Any] = json.loads(self._found.json())
        return report

    @property
    def hash(self) -> str:
        """The hash of the catalogue, that of the command: equal on all backends."""
        return str(self.report["catalogue_hash"])

    @property
    def component_hash(self) -> str | None:
        """The same of the components."""
        return self.report.get("component_hash")

    def _rows(self, which: str) -> Rows:
        if which == "sources":
            return self._sources
        if which != "components":
            raise ValueError(f"which: found '{which}'; expected 'sources' or 'components'")
        if self._components is None:
            raise ValueError(
                "which: found 'components', but none were fitted; expected kastor.find(..., components=True)"
            )
        return self._components

    def columns(self, which: str = "sources") -> dict[str, Column]:
        """Unit, UCD and description of each column."""
        return self._rows(which).columns

    def table(self, which: str = "sources") -> Any:
        """The sources, or the components, as an `astropy.table.QTable`."""
        return self._rows(which).table()

    def write(
        self, path: str | os.PathLike[str], which: str = "sources", *, names: str = "kastor", overwrite: bool = False
    ) -> None:
        """Write a catalogue or regions. The suffix of `path` is the format, as of the command.

        Parameters
        ----------
        path : str or path-like
            Ends with .csv, .ecsv, .fits, .vot, .cat, .reg, .crtf, or .skymodel (components alone).
        which : {"sources", "components"}
        names : {"kastor", "pybdsf", "aegean", "sextractor", "vizier"}
            Whose columns, units and conventions a table has.
        overwrite : bool
            Whether a file that exists is replaced.
        """
        self._rows(which)
        self._found.write(os.fspath(path), which == "components", names, overwrite)

    def __len__(self) -> int:
        return int(self._found.count())

    def __reduce__(self) -> tuple[Any, ...]:
        # For processes that return it. The image stays where it is, if it is an array.
        values = {
            name: getattr(self._found, name)()
            for name in ("islands", "components", "maps", "text", "json", "notes", "count")
        }
        values |= {name: getattr(self._found, name) for name in ("path", "shape", "unit", "preset", "cards", "seconds")}
        return _unpickled, (values, None)

    def __repr__(self) -> str:
        fitted = "" if self.components is None else f", {len(self.components)} components"
        height, width = self.shape
        kind = "sources" if self.preset == "lesson" else "islands"
        return (
            f"<kastor.Found: {len(self)} {kind}{fitted} in {self.name}, {width} x {height} pixels, "
            f"preset {self.preset}>"
        )

    def __str__(self) -> str:
        return str(self._found.text())

    def _repr_html_(self) -> str:
        """The counts and the ten brightest, for notebooks."""
        names = [
            name
            for name in (
                "id",
                "island_id",
                "ra_deg_cont",
                "dec_deg_cont",
                "x_cen",
                "y_cen",
                "flux_peak",
                "flux_int",
                "flux_sum",
                "snr",
                "n_pix",
            )
            if name in self.columns()
        ]
        order = np.argsort(-self.sources["flux_peak"])[:10]
        head = "".join(f"<th>{name}</th>" for name in names)
        unit = "".join(f"<th>{html.escape(self.columns()[name].unit)}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{self.sources[name][row]:.6g}</td>" for name in names) + "</tr>" for row in order
        )
        return (
            f"<p>{html.escape(repr(self)[1:-1])}</p><table><thead><tr>{head}</tr><tr>{unit}</tr></thead>"
            f"<tbody>{body}</tbody></table>" + "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        )

    def show(self, ax: Any = None, which: str | None = None) -> Any:
        """Draw the image with ellipses of its components, or marks of its sources. Needs matplotlib.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from . import _show

        return _show.show(self, ax, which)

    def send(self, client: str | None = None, which: str = "sources") -> None:
        """Send the table to TOPCAT, Aladin or others by SAMP; `client` is the name of one. Needs astropy."""
        from astropy.samp import SAMPIntegratedClient

        self._rows(which)
        folder = tempfile.mkdtemp(prefix="kastor-")  # the receiver reads it later
        path = os.path.join(folder, f"{which}.vot")
        self.write(path, which)
        hub = SAMPIntegratedClient(name="Kastor")
        hub.connect()
        try:
            message = {
                "samp.mtype": "table.load.votable",
                "samp.params": {"url": "file://" + path, "name": f"Kastor {which} of {self.name}"},
            }
            if client is None:
                hub.notify_all(message)
                return
            for key in hub.get_subscribed_clients("table.load.votable"):
                if hub.get_metadata(key).get("samp.name") == client:
                    hub.notify(key, message)
                    return
            raise ValueError(f"client: found no '{client}' that takes tables; expected the name of one that runs")
        finally:
            hub.disconnect()
