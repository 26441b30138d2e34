"""Packs a library that cargo built, and the Python sources, into a wheel for the tests.

Usage: python pack_wheel.py LIBRARY FOLDER

Users get the wheel of ``cargo xtask wheel``, which maturin builds and links for older systems. This one takes the library as it
is, so that tests need no second build.
"""

import base64
import hashlib
import re
import sys
import sysconfig
import zipfile
from pathlib import Path

CRATE = Path(__file__).parent


def version() -> str:
    """Version of the workspace."""
    text = (CRATE / "../../Cargo.toml").read_text()
    return re.search(r'^version = "(.+)"', text, re.MULTILINE).group(1)


def main() -> None:
    library, folder = Path(sys.argv[1]), Path(sys.argv[2])
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"cp310-abi3-{platform}"
    name = f"meniscus-{version()}"
    info = f"{name}.dist-info"
    sources = CRATE / "python"
    files = {str(file.relative_to(sources)): file.read_bytes() for file in sources.rglob("*") if file.suffix in (".py", ".pyi", ".typed")}
    files["meniscus/py.typed"] = b""
    files["meniscus/_native.abi3.so"] = library.read_bytes()
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: meniscus\nVersion: {version()}\nRequires-Dist: numpy\n".encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: pack_wheel\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = []
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.append(f"{path},sha256={digest},{len(content)}\n")
    files[f"{info}/RECORD"] = ("".join(record) + f"{info}/RECORD,,\n").encode()
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("meniscus-*.whl"):
        old.unlink()
    with zipfile.ZipFile(folder / f"{name}-{tag}.whl", "w", zipfile.ZIP_STORED) as wheel:
        for path, content in files.items():
            wheel.writestr(path, content)


main()
