#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
"""A wheel of what `membound release --binaries` made: make_wheel.py TREE FOLDER

TREE/released/binaries becomes the package's programs/, with the reference answers beside the tests; of the
rest goes along what a student reads, edits and compiles with, as course/. The platform tag is the newest
version of glibc that any of the programs asks for.
"""
import base64
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

# What only a build needs stays away.
LEFT_OUT = ("released/binaries/", "grader/", "CMakeLists.txt", "labs/CMakeLists.txt", "membound", ".github/",
            ".devcontainer/", ".vscode/")
KEPT = ("grader/harness/student/", "grader/device_code/cuda_api/")  # what kernels and programs include
VIRTUAL_GPU = 90  # the capability whose fatbins the virtual GPU loads
RUNTIME = "libcudart.so.13"
METADATA = """Metadata-Version: 2.1
Name: membound
Version: {version}
Summary: A CUDA lab course that grades itself, with a virtual GPU
License: Apache-2.0
Requires-Python: >=3.8

`membound start` in an empty folder lays the course out there. Kernels are compiled by clang 14 or newer, or
nvcc. The licences of what the programs hold of others are in membound/programs/licences.
"""


def course_files(tree):
    """Names, from the tree, of what a student's folder gets."""
    for path in sorted(p for p in tree.rglob("*") if p.is_file()):
        name = path.relative_to(tree).as_posix()
        left_out = any(name == part or (part.endswith("/") and name.startswith(part)) for part in LEFT_OUT)
        # This one is the programs' own; those for GPUs are taken from here.
        if (not left_out or name.startswith(KEPT)) and not re.match(r"released/[^/]+/reference\.ptx", name):
            yield name


def add_references(tree, programs):
    for lab in sorted((tree / "released").iterdir()):
        fatbins = [(int(f.stem.split("sm_")[1]), f) for f in lab.glob("reference.sm_*.fatbin")]
        fitting = [pair for pair in fatbins if pair[0] <= VIRTUAL_GPU]
        place = programs / "labs" / lab.name
        if fitting:
            shutil.copy(max(fitting)[1], place / "reference.fatbin")
        if (lab / "reference.ptx").exists():
            shutil.copy(lab / "reference.ptx", place / "reference.ptx")


def elf_files(folder):
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        with path.open("rb") as file:
            if file.read(4) == b"\x7fELF":
                yield path


def load_the_virtual_gpu(path, programs):
    """Programs look for CUDA's runtime in folders of the machine that built them; a wheel has ours alone. The new run
    path takes the old one's place in the file, so it may not be longer."""
    said = subprocess.run(["readelf", "--dynamic", "--wide", path], check=True, capture_output=True, text=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said)
    found = re.search(r"Library (?:runpath|rpath): \[(.*)\]", said)
    if found is None or RUNTIME not in needed or path.parent == programs / "vgpu":
        return
    old = found.group(1)
    places = [place for place in ("lib", "vgpu") if any((programs / place / name).exists() for name in needed)]
    new = ":".join("$ORIGIN/" + os.path.relpath(programs / place, path.parent) for place in places)
    data = path.read_bytes()
    if len(new) > len(old) or data.count(old.encode() + b"\0") != 1:
        sys.exit(f"{path}: the run path {old} cannot become {new}")
    path.write_bytes(data.replace(old.encode() + b"\0", new.encode().ljust(len(old), b"\0") + b"\0"))


def newest_glibc(folder):
    newest = (2, 17)
    for path in elf_files(folder):
        said = subprocess.run(["readelf", "--version-info", "--wide", path], check=True, capture_output=True, text=True).stdout
        newest = max([newest] + [tuple(map(int, found)) for found in re.findall(r"Name: GLIBC_(\d+)\.(\d+)", said)])
    return newest


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def main(tree, folder):
    release = json.loads((tree / "released/release.json").read_text())
    # A version that no package index takes tells the two kinds apart, and neither upgrades to the other by chance.
    version = release["membound_version"] + ("+class" if release["made_for"] == "class" else "")
    info = f"membound-{version}.dist-info"
    with tempfile.TemporaryDirectory() as scratch:
        programs = pathlib.Path(scratch) / "programs"
        shutil.copytree(tree / "released/binaries", programs)
        add_references(tree, programs)
        machine = (programs / "machine").read_text().strip()
        strip = shutil.which(f"{machine}-linux-gnu-strip") or "strip"  # Debian's, of programs for another machine too
        for path in elf_files(programs):
            if "lib" != path.parent.name:
                subprocess.run([strip, "--strip-unneeded", path], check=True)
                load_the_virtual_gpu(path, programs)
        tag = "py3-none-manylinux_{}_{}_{}".format(*newest_glibc(programs), machine)
        files = {"membound/__init__.py": (pathlib.Path(__file__).with_name("package.py").read_bytes(), False),
                 "membound/__main__.py": (b"from . import main\n\nmain()\n", False),
                 "membound_notebook.py": (pathlib.Path(__file__).with_name("membound_notebook.py").read_bytes(), False)}
        for name in course_files(tree):
            files["membound/course/" + name] = ((tree / name).read_bytes(), os.access(tree / name, os.X_OK))
        for path in sorted(p for p in programs.rglob("*") if p.is_file()):
            name = "membound/programs/" + path.relative_to(programs).as_posix()
            files[name] = (path.read_bytes(), os.access(path, os.X_OK))
    files[f"{info}/METADATA"] = (METADATA.format(version=version).encode(), False)
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: membound\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), False)
    files[f"{info}/entry_points.txt"] = (b"[console_scripts]\nmembound = membound:main\n", False)
    files[f"{info}/LICENSE"] = ((tree / "LICENSE").read_bytes(), False)
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, (data, _) in files.items())
    files[f"{info}/RECORD"] = ((record + f"{info}/RECORD,,\n").encode(), False)
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"membound-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (data, executable) in files.items():
            entry = zipfile.ZipInfo(name)  # of 1980: the same files make the same wheel
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            archive.writestr(entry, data)
    print(f"{wheel}: {len(files)} files, {wheel.stat().st_size / 1e6:.1f} MB, for {release['made_for']}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
