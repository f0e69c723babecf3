# SPDX-License-Identifier: Apache-2.0
"""FITS files made and read by hand, with the standard library alone."""

import struct

BLOCK = 2880
_CODE = {8: "B", 16: "h", 32: "i", 64: "q", -32: "f", -64: "d"}
_COLUMN = {"K": "q", "D": "d"}


def card(keyword, value):
    if isinstance(value, bool):
        text = f"{'T' if value else 'F':>20}"
    elif isinstance(value, str):
        text = f"'{value:<8}'"
    else:
        text = f"{value!r:>20}"
    return f"{keyword:<8}= {text}".ljust(80)


def padded(data, fill):
    return data + fill * (-len(data) % BLOCK)


def header(cards):
    text = "".join(card(k, v) for k, v in cards) + "END".ljust(80)
    return padded(text.encode("ascii"), b" ")


def hdu(values, bitpix=-32, axes=None, cards=(), extension=False):
    """One image HDU. `values`: rows, first row first; or a flat list with `axes` (NAXIS1 first)."""
    if axes is None:
        axes = (len(values[0]), len(values)) if values else ()
        values = [v for row in values for v in row]
    start = [("XTENSION", "IMAGE") if extension else ("SIMPLE", True)]
    start += [("BITPIX", bitpix), ("NAXIS", len(axes))]
    start += [(f"NAXIS{i + 1}", n) for i, n in enumerate(axes)]
    if extension:
        start += [("PCOUNT", 0), ("GCOUNT", 1)]
    data = struct.pack(f">{len(values)}{_CODE[bitpix]}", *values)
    return header(start + list(cards)) + padded(data, b"\0")


def write(path, values, bitpix=-32, axes=None, cards=()):
    path.write_bytes(hdu(values, bitpix, axes, cards))
    return path


def _value(text):
    text = text.strip()
    if text.startswith("'"):
        return text[1 : text.index("'", 1)].rstrip()
    text = text.split("/")[0].strip()
    if text in ("T", "F"):
        return text == "T"
    return float(text) if any(c in text for c in ".E") else int(text)


def read_hdus(path):
    """[(cards as a dict, all cards as text, data)] of every HDU."""
    content = path.read_bytes()
    found = []
    at = 0
    while at < len(content):
        cards, texts = {}, []
        done = False
        while not done:
            block = content[at : at + BLOCK].decode("ascii")
            at += BLOCK
            for start in range(0, BLOCK, 80):
                text = block[start : start + 80]
                if text.rstrip() == "END":
                    done = True
                    break
                texts.append(text)
                if text[8:10] == "= ":
                    cards[text[:8].rstrip()] = _value(text[10:])
        size = abs(cards["BITPIX"]) // 8 if cards["NAXIS"] else 0
        for axis in range(cards["NAXIS"]):
            size *= cards[f"NAXIS{axis + 1}"]
        found.append((cards, texts, content[at : at + size]))
        at += size + -size % BLOCK
    return found


def read_image(path):
    """(cards, rows) of the primary image."""
    cards, _, data = read_hdus(path)[0]
    nx, ny = cards["NAXIS1"], cards["NAXIS2"]
    flat = struct.unpack(f">{nx * ny}{_CODE[cards['BITPIX']]}", data)
    return cards, [flat[y * nx : (y + 1) * nx] for y in range(ny)]


def read_table(path):
    """(cards, columns by name) of the first extension, a table of K and D columns."""
    cards, _, data = read_hdus(path)[1]
    forms = [cards[f"TFORM{i + 1}"].lstrip("1") for i in range(cards["TFIELDS"])]
    row = struct.Struct(">" + "".join(_COLUMN[f] for f in forms))
    rows = list(row.iter_unpack(data))
    names = [cards[f"TTYPE{i + 1}"] for i in range(cards["TFIELDS"])]
    return cards, {name: [r[i] for r in rows] for i, name in enumerate(names)}
