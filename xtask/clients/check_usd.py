"""OpenUSD opens what `meniscus export --to usd` writes, and finds what the npz files of the same run hold.

usage: check_usd.py EXPORTS UP [SOLID ...], the folder with usd/ and npz/ of a run exported with --what all, and the solids
that must be there, those that move with a + after their name
"""

import glob
import os
import sys

import numpy
from pxr import Usd, UsdGeom


def main(exports, up, solids):
    stage = Usd.Stage.Open(os.path.join(exports, "usd", "meniscus.usdc"))
    assert stage, "the stage does not open"
    assert UsdGeom.GetStageUpAxis(stage) == up, UsdGeom.GetStageUpAxis(stage)
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert stage.GetDefaultPrim(), "no default prim"
    for prim in stage.Traverse():
        assert prim.GetTypeName(), f"{prim.GetPath()} has no type"
        unknown = [a.GetName() for a in prim.GetAttributes() if not a.IsDefined()]
        assert not unknown, f"{prim.GetPath()}: {unknown}"
    liquid = UsdGeom.Mesh(stage.GetPrimAtPath("/meniscus/liquid"))
    particles = UsdGeom.Points(stage.GetPrimAtPath("/meniscus/particles"))
    frames = 0
    for path in sorted(glob.glob(os.path.join(exports, "npz", "surface", "*.npz"))):
        frame = int(path[-10:-4])
        expected = numpy.load(path)
        assert (numpy.array(liquid.GetPointsAttr().Get(frame)) == expected["positions"]).all(), frame
        assert (numpy.array(liquid.GetVelocitiesAttr().Get(frame)) == expected["velocities"]).all(), frame
        assert (numpy.array(liquid.GetNormalsAttr().Get(frame)) == expected["normals"]).all(), frame
        corners = numpy.array(liquid.GetFaceVertexIndicesAttr().Get(frame)).reshape(-1, 3)
        assert (corners == expected["triangles"]).all(), frame
        counts = numpy.array(liquid.GetFaceVertexCountsAttr().Get(frame))
        valid, why = UsdGeom.Mesh.ValidateTopology(
            liquid.GetFaceVertexIndicesAttr().Get(frame),
            liquid.GetFaceVertexCountsAttr().Get(frame),
            len(expected["positions"]),
        )
        assert valid and (counts == 3).all(), why
        cloud = numpy.load(path.replace("surface", "particles"))
        assert (numpy.array(particles.GetPointsAttr().Get(frame)) == cloud["positions"]).all(), frame
        assert (numpy.array(particles.GetVelocitiesAttr().Get(frame)) == cloud["velocities"]).all(), frame
        seconds = frame / stage.GetTimeCodesPerSecond()
        assert abs(seconds - cloud["time"]) < 1e-9, frame
        frames += 1
    assert frames > 0 and frames == liquid.GetPointsAttr().GetNumTimeSamples()
    assert stage.GetEndTimeCode() - stage.GetStartTimeCode() == frames - 1
    assert particles.GetWidthsAttr().Get()[0] > 0
    for name in solids:
        prim = stage.GetPrimAtPath("/meniscus/solids/" + name.rstrip("+"))
        mesh = UsdGeom.Mesh(prim)
        assert prim and len(mesh.GetPointsAttr().Get()) > 3, name
        ends = [mesh.GetLocalTransformation(code) for code in (stage.GetStartTimeCode(), stage.GetEndTimeCode())]
        assert (ends[0] != ends[1]) == name.endswith("+"), f"{name} moves or does not"
    print(f"{frames} frames and {len(solids)} solids read by OpenUSD {'.'.join(map(str, Usd.GetVersion()))}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
