"""NumPy reads what `meniscus export --to npz` writes, and finds the numbers that the PLY files of the same run hold.

usage: check_npz.py EXPORTS, the folder with npz/ and ply/ of a run exported with --what all
"""

import glob
import os
import sys

import numpy


def ply_vertices(path):
    """The columns of the vertices of a binary PLY file by their names, and the triangles."""
    data = open(path, "rb").read()
    end = data.index(b"end_header\n") + len(b"end_header\n")
    lines = data[:end].decode().splitlines()
    columns = [line.split()[-1] for line in lines if line.startswith("property float")]
    counts = {line.split()[1]: int(line.split()[2]) for line in lines if line.startswith("element")}
    body = end + 4 * len(columns) * counts["vertex"]
    table = numpy.frombuffer(data[end:body], "<f4").reshape(-1, len(columns))
    face = numpy.dtype([("count", "u1"), ("corners", "<u4", 3)])
    faces = numpy.frombuffer(data[body:], face)
    assert len(faces) == counts.get("face", 0) and (faces["count"] == 3).all(), path
    return {name: table[:, i] for i, name in enumerate(columns)}, faces["corners"]


def main(exports):
    checked = 0
    for path in sorted(glob.glob(os.path.join(exports, "npz", "*", "*.npz"))):
        layer, name = path.split(os.sep)[-2:]
        ply, triangles = ply_vertices(os.path.join(exports, "ply", layer, name.replace(".npz", ".ply")))
        arrays = numpy.load(path)
        lists = [("positions", "x y z"), ("velocities", "vx vy vz")]
        lists += [("normals", "nx ny nz")] if layer == "surface" else []
        for array, names in lists:
            for axis, column in enumerate(names.split()):
                assert (arrays[array][:, axis] == ply[column]).all(), f"{path}: {array}"
        if layer == "surface":
            assert (arrays["triangles"] == triangles).all(), path
            lengths = numpy.linalg.norm(arrays["normals"], axis=1)
            assert numpy.allclose(lengths, 1.0, atol=1e-5), path
        assert arrays["time"] > 0 and arrays["dx"] > 0, path
        checked += 1
    assert checked > 0, "no files"
    print(f"{checked} npz files agree with PLY")


if __name__ == "__main__":
    main(sys.argv[1])
