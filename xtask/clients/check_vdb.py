"""OpenVDB's own vdb_print reads what `meniscus export --to vdb` writes, and counts the same voxels in the same box.

usage: check_vdb.py FILE ...
"""

import re
import subprocess
import sys


def main(paths):
    assert paths, "no files"
    for path in paths:
        said = subprocess.run(
            ["vdb_print", "-l", "-m", path], check=True, capture_output=True, text=True
        ).stdout
        grids = re.split(r"\nName: ", said)[1:]
        assert [grid.split("\n")[0] for grid in grids] == ["surface", "velocity"], said
        boxes = []
        for grid in grids:
            # The first of each is counted from the tree that was read, the second is what the file says of itself.
            active = int(re.search(r"active voxels: +([\d,]+)", grid)[1].replace(",", ""))
            assert active == int(re.search(r"file_voxel_count: (\d+)", grid)[1]) > 0, grid
            box = re.search(r"Bounding box of active voxels: (\[.*?\]) -> (\[.*?\])", grid).groups()
            stated = [re.search(rf"file_bbox_{end}: (\[.*?\])", grid)[1] for end in ("min", "max")]
            assert list(box) == stated, grid
            boxes.append((active, box))
        assert boxes[0] == boxes[1], boxes
        least, most = (float(re.search(rf"{end} value: (\S+)", grids[0])[1]) for end in ("Min", "Max"))
        background = float(re.search(r"Background value: (\S+)", grids[0])[1])
        assert least < 0 < most <= background, (least, most, background)
    print(f"{len(paths)} files read by OpenVDB")


if __name__ == "__main__":
    main(sys.argv[1:])
