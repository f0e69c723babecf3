# SPDX-License-Identifier: Apache-2.0
"""PNG files read by hand, with the standard library alone."""

import struct
import zlib


def _chunks(content):
    if content[:8] != b"\x89PNG\r\n\x1a\n":
        raise AssertionError("not a PNG file")
    at = 8
    while at < len(content):
        (size,) = struct.unpack(">I", content[at : at + 4])
        kind, data = content[at + 4 : at + 8], content[at + 8 : at + 8 + size]
        (check,) = struct.unpack(">I", content[at + 8 + size : at + 12 + size])
        if check != zlib.crc32(kind + data):
            raise AssertionError(f"wrong checksum of {kind}")
        yield kind.decode("ascii"), data
        at += 12 + size


def _unfiltered(kind, row, above):
    """PNG specification, section 9."""
    out = bytearray(row)
    for i in range(len(out)):
        left = out[i - 3] if i >= 3 else 0
        corner = above[i - 3] if i >= 3 else 0
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = above[i]
        elif kind == 3:
            guess = (left + above[i]) // 2
        elif kind == 4:
            estimate = left + above[i] - corner
            guess = min(
                (left, above[i], corner),
                key=lambda value: abs(estimate - value),
            )
        else:
            guess = 0
        out[i] = (out[i] + guess) & 0xFF
    return out


def data_of(path):
    """The pixels as they are filtered: equal for equal pictures of one writer."""
    return zlib.decompress(b"".join(data for kind, data in _chunks(path.read_bytes()) if kind == "IDAT"))


def read(path):
    """(texts by keyword, rows of (red, green, blue), the lowest row first)."""
    texts, data, shape = {}, b"", None
    for kind, content in _chunks(path.read_bytes()):
        if kind == "IHDR":
            shape = struct.unpack(">IIBBBBB", content)
        elif kind == "tEXt":
            keyword, text = content.split(b"\0", 1)
            texts[keyword.decode("latin-1")] = text.decode("latin-1")
        elif kind == "IDAT":
            data += content
    width, height = shape[:2]
    if shape[2:] != (8, 2, 0, 0, 0):
        raise AssertionError(f"{shape}: expected 8 bit RGB, not interlaced")
    data = zlib.decompress(data)
    rows, above = [], bytes(3 * width)
    for y in range(height):
        start = y * (3 * width + 1)
        above = _unfiltered(data[start], data[start + 1 : start + 1 + 3 * width], above)
        rows.append([tuple(above[3 * x : 3 * x + 3]) for x in range(width)])
    return texts, rows[::-1]
