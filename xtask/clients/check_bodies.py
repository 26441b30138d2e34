"""OpenUSD, NumPy and VTK read what `meniscus export` writes of a run of rigid bodies, and find what its bodies.csv holds.

usage: check_bodies.py RUN UP, a run of bodies.toml with the exports usd, npz, ply, obj and vtk in its folder
"""

import csv
import json
import os
import sys

import numpy
from pxr import Gf, Usd, UsdGeom, UsdPhysics, UsdShade
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

BODIES = {"tilted box": (0.7, 0.25), "box": (0.5, 0.0), "leaver": (0.5, 0.0), "ball": (0.5, 0.0)}


def upward(vector, up):
    x, y, z = vector
    return numpy.array([x, y, z] if up == "Z" else [x, z, -y])


def table(run):
    """Rows of bodies.csv by frame and name."""
    with open(os.path.join(run, "bodies.csv"), newline="") as file:
        assert next(file).startswith("# SI units")
        return {(int(row["frame"]), row["name"]): row for row in csv.DictReader(file)}


def triple(row, names):
    return numpy.array([float(row[name]) for name in names.split()])


def mass_properties(points, triangles):
    """Volume, centre and inertia about it of a closed mesh of density one, by signed tetrahedra."""
    volume, first, second = 0.0, numpy.zeros(3), numpy.zeros((3, 3))
    for a, b, c in points[triangles].astype(float):
        six = numpy.dot(a, numpy.cross(b, c))
        total = a + b + c
        volume += six / 6
        first += six / 24 * total
        second += six / 120 * (sum(numpy.outer(x, x) for x in (a, b, c)) + numpy.outer(total, total))
    center = first / volume
    second -= volume * numpy.outer(center, center)
    return volume, center, numpy.trace(second) * numpy.eye(3) - second


def check_mass(name, prim, exact):
    mass = UsdPhysics.MassAPI(prim)
    found = mass.GetMassAttr().Get()
    mesh = UsdGeom.Mesh(prim)
    points = numpy.array(mesh.GetPointsAttr().Get())
    triangles = numpy.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)
    volume, center, inertia = mass_properties(points, triangles)
    rotation = numpy.array(Gf.Matrix3d(Gf.Rotation(Gf.Quatd(mass.GetPrincipalAxesAttr().Get())))).T
    diagonal = numpy.diag(mass.GetDiagonalInertiaAttr().Get())
    assert abs(numpy.linalg.det(rotation) - 1) < 1e-5, name
    tolerance = 1e-5 if exact else 0.05
    scale = inertia.max() * found / volume
    assert numpy.allclose(mass.GetCenterOfMassAttr().Get(), center, atol=1e-5), name
    assert numpy.allclose(rotation @ diagonal @ rotation.T, inertia * found / volume, atol=tolerance * scale), name


def check_usd(run, up, rows):
    stage = Usd.Stage.Open(os.path.join(run, "export", "usd", "meniscus.usdc"))
    assert stage and UsdGeom.GetStageUpAxis(stage) == up
    assert UsdPhysics.GetStageKilogramsPerUnit(stage) == 1.0
    scene = UsdPhysics.Scene(stage.GetPrimAtPath("/meniscus/physics_scene"))
    assert numpy.allclose(scene.GetGravityDirectionAttr().Get(), upward([0, 0, -1], up))
    assert abs(scene.GetGravityMagnitudeAttr().Get() - 9.81) < 1e-6
    for prim in stage.Traverse():
        unknown = [a.GetName() for a in prim.GetAttributes() if not a.IsDefined()]
        assert prim.GetTypeName() and not unknown, f"{prim.GetPath()}: {unknown}"
        # Every attribute of UsdPhysics is one of an applied schema, not a custom one.
        builtin = prim.GetPrimDefinition().GetPropertyNames()
        custom = [n for n in prim.GetPropertyNames() if n.startswith("physics:") and n not in builtin]
        assert not custom, f"{prim.GetPath()}: {custom}"
    for name, (friction, restitution) in BODIES.items():
        prim = stage.GetPrimAtPath("/meniscus/bodies/" + name.replace(" ", "_"))
        assert prim.HasAPI(UsdPhysics.RigidBodyAPI) and prim.HasAPI(UsdPhysics.CollisionAPI), name
        assert prim.HasAPI(UsdPhysics.MassAPI) and prim.HasAPI(UsdPhysics.MeshCollisionAPI), name
        body = UsdPhysics.RigidBodyAPI(prim)
        assert body.GetRigidBodyEnabledAttr().Get() and not body.GetKinematicEnabledAttr().Get()
        assert UsdPhysics.MeshCollisionAPI(prim).GetApproximationAttr().Get() == "convexHull"
        material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")
        material = UsdPhysics.MaterialAPI(material.GetPrim())
        for found, expected in [
            (material.GetDynamicFrictionAttr(), friction),
            (material.GetStaticFrictionAttr(), friction),
            (material.GetRestitutionAttr(), restitution),
        ]:
            assert abs(found.Get() - expected) < 1e-6, name
        check_mass(name, prim, name != "ball")
        center = UsdPhysics.MassAPI(prim).GetCenterOfMassAttr().Get()
        frames = 0
        for frame in range(13):
            row = rows.get((frame, name))
            shown = UsdGeom.Imageable(prim).ComputeVisibility(frame)
            assert shown == ("inherited" if row else "invisible"), (name, frame, shown)
            if not row:
                continue
            world = UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(frame)
            place = numpy.array(world.Transform(Gf.Vec3d(center)))
            assert numpy.allclose(place, upward(triple(row, "x y z"), up), atol=1e-6), (name, frame)
            turn = world.ExtractRotationQuat()
            parts = [turn.GetReal(), *turn.GetImaginary()]
            imaginary = upward(triple(row, "qx qy qz"), up)
            expected = numpy.array([float(row["qw"]), *imaginary])
            assert min(abs(parts - expected).max(), abs(parts + expected).max()) < 1e-6, (name, frame)
            velocity = body.GetVelocityAttr().Get(frame)
            assert numpy.allclose(velocity, upward(triple(row, "vx vy vz"), up), atol=1e-5), (name, frame)
            spin = numpy.radians(body.GetAngularVelocityAttr().Get(frame))
            assert numpy.allclose(spin, upward(triple(row, "wx wy wz"), up), atol=1e-5), (name, frame)
            frames += 1
        assert frames == 13 or name == "leaver" and 3 < frames < 13, (name, frames)
    masses = {name: UsdPhysics.MassAPI(stage.GetPrimAtPath("/meniscus/bodies/" + name)).GetMassAttr().Get() for name in ("box", "tilted_box", "ball")}
    expected = {"box": 2.0, "tilted_box": 500 * 0.04 * 0.1 * 0.2, "ball": 1000 * 4 / 3 * numpy.pi * 0.05**3}
    for name, mass in expected.items():
        assert abs(masses[name] / mass - 1) < 1e-6, (name, masses[name])
    step, lift = (stage.GetPrimAtPath("/meniscus/solids/" + name) for name in ("step", "lift"))
    assert step.HasAPI(UsdPhysics.CollisionAPI) and not step.HasAPI(UsdPhysics.RigidBodyAPI)
    assert UsdPhysics.RigidBodyAPI(lift).GetKinematicEnabledAttr().Get() and not lift.HasAPI(UsdPhysics.MassAPI)


def check_npz(run, up, rows):
    folder = os.path.join(run, "export", "npz", "bodies")
    for frame in range(13):
        arrays = numpy.load(os.path.join(folder, f"bodies_{frame:06}.npz"))
        names = list(arrays["names"])
        assert names[:2] == ["step", "lift"] and abs(arrays["time"] - frame / 24) < 1e-9
        assert {name for number, name in rows if number == frame} == set(names[2:]), frame
        for k, name in enumerate(names):
            rotation = arrays["rotations"][k]
            assert numpy.allclose(rotation @ rotation.T, numpy.eye(3), atol=1e-12)
            if k < 2:
                assert numpy.isnan(arrays["contact_forces"][k]).all() and numpy.isnan(arrays["contacts"][k])
                continue
            row = rows[frame, name]
            for array, columns in [
                ("centers", "x y z"),
                ("center_velocities", "vx vy vz"),
                ("angular_velocities", "wx wy wz"),
                ("contact_forces", "contact_fx contact_fy contact_fz"),
                ("contact_torques", "contact_tx contact_ty contact_tz"),
                ("joint_forces", "joint_fx joint_fy joint_fz"),
            ]:
                expected = upward(triple(row, columns), up)
                assert numpy.allclose(arrays[array][k], expected, rtol=1e-12, atol=1e-15), (frame, name, array)
            assert arrays["contacts"][k] == float(row["contacts"]) and arrays["penetrations"][k] == float(row["penetration"])
    return folder


def check_meshes(run, up, rows):
    """Every body of the VTK files is at the pose that the npz files have, and PLY and OBJ have the same vertices."""
    folder = os.path.join(run, "export", "vtk", "bodies")
    series = json.load(open(os.path.join(folder, "bodies.vtp.series")))
    assert len(series["files"]) == 13
    starts = {}
    for frame, entry in enumerate(series["files"]):
        reader = vtkXMLPolyDataReader()
        reader.SetFileName(os.path.join(folder, entry["name"]))
        reader.Update()
        data = reader.GetOutput()
        points = vtk_to_numpy(data.GetPoints().GetData()).astype(float)
        corners = vtk_to_numpy(data.GetPolys().GetConnectivityArray()).reshape(-1, 3)
        body = vtk_to_numpy(data.GetCellData().GetArray("body"))
        numbers = vtk_to_numpy(data.GetFieldData().GetArray("body_id"))
        words = data.GetFieldData().GetAbstractArray("body_name")
        names = [words.GetValue(k) for k in range(words.GetNumberOfValues())]
        arrays = numpy.load(os.path.join(run, "export", "npz", "bodies", f"bodies_{frame:06}.npz"))
        assert names == [name.replace(" ", "_") for name in arrays["names"]], frame
        assert sorted(set(body)) == sorted(numbers), frame
        for k, (number, name) in enumerate(zip(numbers, names)):
            own = numpy.unique(corners[body == number])
            local = (points[own] - arrays["positions"][k]) @ arrays["rotations"][k]
            starts.setdefault(name, local)
            assert numpy.allclose(local, starts[name], atol=1e-6), (frame, name)
            arm = points[own] - arrays["positions"][k]
            velocity = arrays["velocities"][k] + numpy.cross(arrays["angular_velocities"][k], arm)
            assert numpy.allclose(vtk_to_numpy(data.GetPointData().GetVectors())[own], velocity, atol=1e-5), (frame, name)
        ply = open(os.path.join(run, "export", "ply", "bodies", f"bodies_{frame:06}.ply"), "rb").read()
        end = ply.index(b"end_header\n") + len(b"end_header\n")
        vertex = numpy.dtype([("place", "<f4", 3), ("normal", "<f4", 3), ("velocity", "<f4", 3), ("body", "<i4")])
        vertices = numpy.frombuffer(ply[end:], vertex, len(points))
        assert numpy.allclose(vertices["place"], points), frame
        assert (vertices["body"][corners[:, 0]] == body).all(), frame
        assert len(ply) == end + vertex.itemsize * len(points) + 13 * len(corners), frame
        obj = open(os.path.join(run, "export", "obj", "bodies", f"bodies_{frame:06}.obj")).read().splitlines()
        assert [line[2:] for line in obj if line.startswith("o ")] == names, frame
        places = numpy.array([line.split()[1:] for line in obj if line.startswith("v ")], float)
        assert numpy.allclose(places, points, atol=1e-6), frame


def main(run, up):
    rows = table(run)
    check_npz(run, up, rows)
    check_usd(run, up, rows)
    check_meshes(run, up, rows)
    print(f"{len(rows)} lines of bodies.csv found in USD, npz, VTK, PLY and OBJ")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
