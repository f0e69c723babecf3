# SPDX-License-Identifier: Apache-2.0
"""The site of the documents: all of docs/*.md, the notebooks, and the reference of the Python package.

    PYTHONPATH=build/openmp/python sphinx-build -W -n -c docs/sphinx docs build/site

`cmake --build build/openmp --target site` does that. KASTOR_DOCS_INTERSPHINX=1 links to the documents of Python,
NumPy and astropy, which are then read from the network.
"""

import json
import os
import re

import kastor
from myst_parser.sphinx_ import Parser

project = "Kastor"
author = "The Kastor developers"
copyright = author
version = release = kastor.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_parser"]
root_doc = "sphinx/index"
exclude_patterns = ["api.md"]  # the first page of the C++ reference, which doxygen makes
source_suffix = {".rst": "restructuredtext", ".md": "markdown", ".ipynb": "notebook"}
html_theme = "alabaster"
html_theme_options = {"description": "Finds and measures the sources in astronomical images", "page_width": "75em", "sidebar_width": "15em"}
html_copy_source = False

default_role = "py:obj"  # of `names` in docstrings
autodoc_typehints = "none"  # numpydoc says them
autodoc_member_order = "groupwise"
autosummary_generate = False
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # `console` with options of the command is no Python

# No links: names of other packages, and arguments.
nitpick_ignore_regex = [("py:.*", r"(astropy|matplotlib|multiprocessing|numpy|photutils|scipy|sep)\b.*"), ("py:obj", "[a-z_]+")]
if os.environ.get("KASTOR_DOCS_INTERSPHINX"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {"python": ("https://docs.python.org/3", None), "numpy": ("https://numpy.org/doc/stable", None),
                           "astropy": ("https://docs.astropy.org/en/stable", None)}


def without_links_out(text):
    """Text instead of links to files of the project that are not pages of the site."""
    return re.sub(r"(?<!!)\[([^\]]*)\]\(\.\./[^)]*\)", r"\1", text)


def shown(output):
    """An output of a cell, as Markdown."""
    data = output.get("data", {})
    for kind in ("png", "jpeg"):
        if f"image/{kind}" in data:
            return f'```{{raw}} html\n<img alt="" src="data:image/{kind};base64,{"".join(data[f"image/{kind}"]).strip()}">\n```'
    if "text/html" in data:
        return f"`````{{raw}} html\n{''.join(data['text/html'])}\n`````"
    text = "".join(output.get("text") or data.get("text/plain", ""))
    return f"`````text\n{text.rstrip()}\n`````"


class NotebookParser(Parser):
    """Notebooks with their stored outputs, as pages."""

    supported = ("notebook",)

    def parse(self, inputstring, document):
        parts = []
        for cell in json.loads(inputstring)["cells"]:
            source = "".join(cell["source"])
            parts.append(source if cell["cell_type"] == "markdown" else f"`````ipython\n{source}\n`````")
            parts += map(shown, cell.get("outputs", []))
        super().parse("\n\n".join(parts), document)


def read_source(app, name, source):
    if not name.startswith("notebooks/"):
        source[0] = without_links_out(source[0])


def setup(app):
    app.add_source_parser(NotebookParser)
    app.connect("source-read", read_source)
