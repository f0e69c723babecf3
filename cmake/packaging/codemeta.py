# SPDX-License-Identifier: Apache-2.0
"""Writes codemeta.json from CITATION.cff (needs PyYAML): python3 cmake/packaging/codemeta.py"""

import json
import pathlib

import yaml

PROJECT = pathlib.Path(__file__).resolve().parents[2]


def text():
    citation = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))
    name, _, what = citation["title"].partition(": ")
    found = {
        "@context": "https://w3id.org/codemeta/3.0",
        "@type": "SoftwareSourceCode",
        "name": name,
        "headline": what,
        "description": citation["abstract"],
        "version": citation["version"],
        "license": f"https://spdx.org/licenses/{citation['license']}",
        "author": [{"@type": "Organization", "name": each["name"]} for each in citation["authors"]],
        "keywords": citation["keywords"],
        "programmingLanguage": ["C++", "Python"],
        "operatingSystem": "Linux",
    }
    if "repository-code" in citation:
        found["codeRepository"] = citation["repository-code"]
    if "date-released" in citation:
        found["datePublished"] = str(citation["date-released"])
    return json.dumps(found, indent=2) + "\n"


if __name__ == "__main__":
    (PROJECT / "codemeta.json").write_text(text(), encoding="utf-8")
