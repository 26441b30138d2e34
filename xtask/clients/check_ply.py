#!/usr/bin/env python3
"""Reads PLY files with nothing but the standard library and says what is wrong with them.

An outside look at what `meniscus export --to ply` writes: the header is well formed, the file holds
exactly the elements it announces, every number is finite, and every vertex has a position and a
velocity (x y z vx vy vz), because motion blur needs the latter.
"""

import math
import struct
import sys

SIZES = {
    "char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I",
    "float": "f", "double": "d", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H",
    "int32": "i", "uint32": "I", "float32": "f", "float64": "d",
}  # fmt: skip
BYTE_ORDERS = {"binary_little_endian": "<", "binary_big_endian": ">"}


def read_header(data):
    """The format word, [(element, count, [(property, type letter or list)])] and where data begins."""
    end = data.find(b"end_header\n")
    if not data.startswith(b"ply\n") or end < 0:
        raise ValueError("the header does not run from 'ply' to 'end_header'")
    form, elements = None, []
    for line in data[:end].decode("ascii").splitlines()[1:]:
        word, *rest = line.split()
        if word == "format":
            form, version = rest
            if version != "1.0" or (form != "ascii" and form not in BYTE_ORDERS):
                raise ValueError(f"unknown format: {line}")
        elif word == "element":
            elements.append((rest[0], int(rest[1]), []))
        elif word == "property" and rest[0] == "list":
            elements[-1][2].append((rest[3], (SIZES[rest[1]], SIZES[rest[2]])))
        elif word == "property":
            elements[-1][2].append((rest[1], SIZES[rest[0]]))
        elif word not in ("comment", "obj_info"):
            raise ValueError(f"unknown header line: {line}")
    if form is None:
        raise ValueError("the header names no format")
    return form, elements, end + len(b"end_header\n")


def numbers(form, data, offset):
    """A function from type letter to the next number, and one that says how much is left over."""
    if form == "ascii":
        words = iter(data[offset:].split())
        return (lambda letter: float(next(words))), (lambda: len(list(words)))
    position = [offset]

    def take(letter):
        kind = BYTE_ORDERS[form] + letter
        (value,) = struct.unpack_from(kind, data, position[0])
        position[0] += struct.calcsize(kind)
        return value

    return take, lambda: len(data) - position[0]


def check(path):
    """How many vertices the file holds; raises ValueError if the file is wrong."""
    with open(path, "rb") as file:
        data = file.read()
    form, elements, offset = read_header(data)
    vertices = [element for element in elements if element[0] == "vertex"]
    if len(vertices) != 1:
        raise ValueError("there is not exactly one element 'vertex'")
    missing = {"x", "y", "z", "vx", "vy", "vz"} - {name for name, _ in vertices[0][2]}
    if missing:
        raise ValueError(f"vertices lack {', '.join(sorted(missing))}")
    take, left = numbers(form, data, offset)
    for element, count, properties in elements:
        for index in range(count):
            for name, kind in properties:
                letters = [kind] if isinstance(kind, str) else [kind[1]] * int(take(kind[0]))
                try:
                    values = [take(letter) for letter in letters]
                except (StopIteration, struct.error):
                    raise ValueError(f"ends in {element} {index} of {count}") from None
                if not all(math.isfinite(value) for value in values):
                    raise ValueError(f"{name} of {element} {index} is not finite")
    if left():
        raise ValueError("holds more than its header announces")
    return vertices[0][1]


def main(paths):
    if not paths:
        print("usage: check_ply.py FILE...", file=sys.stderr)
        return 2
    wrong = total = 0
    for path in paths:
        try:
            total += check(path)
        except (OSError, ValueError, KeyError, IndexError) as error:
            wrong += 1
            print(f"{path}: {error}", file=sys.stderr)
    print(f"{len(paths) - wrong} of {len(paths)} PLY files are right, {total} vertices in all")
    return 1 if wrong or not total else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
