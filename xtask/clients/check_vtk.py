"""VTK reads the series that `meniscus export --to vtk` writes, and finds what the npz files of the same run hold.

usage: check_vtk.py EXPORTS, the folder with vtk/ and npz/ of a run exported with --what all
"""

import json
import os
import sys

import numpy
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader


def main(exports):
    for layer in ("particles", "surface"):
        folder = os.path.join(exports, "vtk", layer)
        series = json.load(open(os.path.join(folder, f"{layer}.vtp.series")))
        assert series["file-series-version"] == "1.0" and series["files"], folder
        times = [entry["time"] for entry in series["files"]]
        assert times == sorted(times), times
        for entry in series["files"]:
            reader = vtkXMLPolyDataReader()
            assert reader.CanReadFile(os.path.join(folder, entry["name"])), entry
            reader.SetFileName(os.path.join(folder, entry["name"]))
            reader.Update()
            data = reader.GetOutput()
            expected = numpy.load(os.path.join(exports, "npz", layer, entry["name"].replace(".vtp", ".npz")))
            found = vtk_to_numpy(data.GetPoints().GetData())
            assert (found == expected["positions"]).all(), entry
            velocity = data.GetPointData().GetVectors()
            assert (vtk_to_numpy(velocity) == expected["velocities"]).all(), entry
            assert abs(entry["time"] - expected["time"]) < 1e-9, entry
            if layer == "surface":
                corners = vtk_to_numpy(data.GetPolys().GetConnectivityArray()).reshape(-1, 3)
                assert (corners == expected["triangles"]).all(), entry
                assert (vtk_to_numpy(data.GetPointData().GetNormals()) == expected["normals"]).all(), entry
            else:
                assert data.GetNumberOfVerts() == len(found), entry
        print(f"{layer}: {len(times)} frames read by VTK")


if __name__ == "__main__":
    main(sys.argv[1])
