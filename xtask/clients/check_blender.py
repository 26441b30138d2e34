"""Blender, as the module bpy, imports what `meniscus export` writes: PLY, OBJ, USD and OpenVDB.

usage: check_blender.py EXPORTS, the folder with ply/, obj/, usd/, vdb/ and npz/ of a run exported with the default axes and --what all
"""

import glob
import os
import sys

import bpy
import numpy


def fresh():
    bpy.ops.wm.read_factory_settings(use_empty=True)


def only(kind):
    objects = [o for o in bpy.data.objects if o.type == kind]
    assert len(objects) == 1, [o.name for o in bpy.data.objects]
    return objects[0]


def places(mesh):
    flat = numpy.empty(3 * len(mesh.vertices), numpy.float32)
    mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3)


def vectors(mesh, name):
    attribute = mesh.attributes[name]
    flat = numpy.empty(3 * len(attribute.data), numpy.float32)
    attribute.data.foreach_get("vector", flat)
    return flat.reshape(-1, 3)


def numbers(mesh, name):
    attribute = mesh.attributes[name]
    flat = numpy.empty(len(attribute.data), numpy.float32)
    attribute.data.foreach_get("value", flat)
    return flat


def main(exports):
    files = lambda *parts: sorted(glob.glob(os.path.join(exports, *parts)))
    for path in files("npz", "*", "*.npz"):
        expected = numpy.load(path)
        layer, name = path.split(os.sep)[-2:]
        fresh()
        bpy.ops.wm.ply_import(
            filepath=os.path.join(exports, "ply", layer, name.replace("npz", "ply")),
            forward_axis="Y", up_axis="Z", merge_verts=False, import_attributes=True,
        )
        mesh = only("MESH").data
        assert numpy.allclose(places(mesh), expected["positions"]), path
        assert len(mesh.polygons) == (len(expected["triangles"]) if layer == "surface" else 0), path
        for axis, column in enumerate(("vx", "vy", "vz")):
            assert (numbers(mesh, column) == expected["velocities"][:, axis]).all(), f"{path}: {column}"
        if layer == "surface":
            fresh()
            # With Blender's own axes, as a user imports it: what is up must come out up.
            bpy.ops.wm.obj_import(filepath=os.path.join(exports, "obj", layer, name.replace("npz", "obj")))
            mesh = only("MESH").data
            turn = numpy.array(only("MESH").matrix_world)[:3, :3]
            assert numpy.allclose(places(mesh) @ turn.T, expected["positions"], atol=1e-5), path
            assert len(mesh.polygons) == len(expected["triangles"]), path
    print("PLY and OBJ imported")

    fresh()
    bpy.ops.wm.usd_import(filepath=os.path.join(exports, "usd", "meniscus.usdc"))
    liquid = bpy.data.objects["liquid"]
    frames = files("npz", "surface", "*.npz")
    for path in frames:
        bpy.context.scene.frame_set(int(path[-10:-4]))
        expected = numpy.load(path)
        mesh = liquid.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        assert numpy.allclose(places(mesh), expected["positions"], atol=1e-5), path
        found = [a.name for a in mesh.attributes if "veloc" in a.name]
        assert found, f"{path}: no velocity among {[a.name for a in mesh.attributes]}"
        assert numpy.allclose(vectors(mesh, found[0]), expected["velocities"], atol=1e-5), path
    assert bpy.context.scene.frame_end >= int(frames[-1][-10:-4])
    print(f"USD imported, {len(frames)} frames, solids: {[o.name for o in bpy.data.objects]}")

    for path in files("vdb", "volume", "*.vdb"):
        fresh()
        bpy.ops.object.volume_import(filepath=path)
        volume = only("VOLUME").data
        assert volume.grids.load(), volume.grids.error_message
        grids = {grid.name: grid.data_type for grid in volume.grids}
        assert grids == {"surface": "FLOAT", "velocity": "VECTOR_FLOAT"}, grids
    print("OpenVDB imported")


if __name__ == "__main__":
    main(sys.argv[1])
