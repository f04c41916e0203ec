# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
"""The command `membound` of the wheel: finds the course around the current folder, lays it out where `start`
is called in an empty one, brings it to the wheel's state after an upgrade, and becomes the built program."""
import hashlib
import importlib.util
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

PACKAGE = pathlib.Path(__file__).resolve().parent
COURSE = PACKAGE / "course"
PROGRAM = PACKAGE / "programs/bin/membound-student"
MANIFEST = "released/release.json"
MARK = ".membound/from_pip"  # a folder that this laid out; others are their owner's to keep
USAGE_ERROR = 2
COMPILE = ("start", "check", "watch", "profile", "ptx", "compare", "experiment", "hand-in", "doctor")
# The texts of the course call it so.
LAUNCHER = '#!/bin/sh\n# Starts the installed Membound.\nexec "${MEMBOUND_PYTHON:-%s}" -m membound "$@"\n'


def find_course(folder):
    """The nearest folder from here upwards that holds a course; None where there is none."""
    for place in (folder, *folder.parents):
        if (place / "labs").is_dir() and (place / "CMakePresets.json").is_file():
            return place
    return None


def fail(where, found, expected, advice):
    print(f"membound: error: {where}: {found}\n  expected: {expected}\n  try: {advice}", file=sys.stderr)
    sys.exit(USAGE_ERROR)


def note(text):
    print(f"membound: note: {text}", file=sys.stderr)


def course_names(course=COURSE):
    return sorted(p.relative_to(course).as_posix() for p in course.rglob("*") if p.is_file())


def put(source, target):
    """Whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    shutil.copy(source, part)
    os.replace(part, target)


def write_launcher(root):
    (root / MARK).parent.mkdir(exist_ok=True)
    (root / MARK).write_text("laid out by pip's membound\n")
    (root / "membound").write_text(LAUNCHER % sys.executable)
    (root / "membound").chmod(0o755)


def lay_out(root, course=COURSE):
    for name in course_names(course):
        if name != MANIFEST:
            put(course / name, root / name)
    write_launcher(root)
    put(course / MANIFEST, root / MANIFEST)
    note(f"laid the course out in {root}: ./membound there is what you have just called")


def keep(root, name):
    """A copy of the student's file, beside those of `membound reset`."""
    lab = name.split("/")[1] if name.startswith("labs/") else "course"
    folder = root / ".membound/backups" / lab
    folder.mkdir(parents=True, exist_ok=True)
    stem, ending = os.path.splitext(name.rsplit("/", 1)[-1])
    number = 1
    while (folder / f"{stem}-before-upgrade-{number:02}{ending}").exists():
        number += 1
    kept = folder / f"{stem}-before-upgrade-{number:02}{ending}"
    shutil.copy(root / name, kept)
    return kept.relative_to(root)


def merged(mine, base, theirs):
    """The student's file with what is new in the skeleton; None where both changed the same lines."""
    run = subprocess.run(["diff3", "-m", str(mine), str(base), str(theirs)], capture_output=True, check=False)
    return run.stdout if run.returncode == 0 else None


def untouched_of(name):
    """Where a tree keeps the skeleton of a file that students work in: labs/LAB/kernel.cu, labs/LAB/answers.md."""
    _, lab, file = name.split("/")
    return f"released/{lab}/" + ("skeleton.cu" if file == "kernel.cu" else file)


def upgrade_kernel(root, name, course):
    """A new skeleton under the student's work; returns what is to be told, or None."""
    mine, theirs = root / name, course / name
    untouched = untouched_of(name)
    base = root / untouched
    if not mine.exists() or (base.exists() and mine.read_bytes() == base.read_bytes()):
        changed = mine.exists() and mine.read_bytes() != theirs.read_bytes()
        put(theirs, mine)
        return f"{name}: the new skeleton; yours was untouched" if changed else None
    if not base.exists() or base.read_bytes() == theirs.read_bytes():
        return None
    text = merged(mine, base, theirs) if shutil.which("diff3") else None
    if text is None:
        return f"{name}: yours stays. The skeleton has changed where you worked: compare it with {untouched}"
    if text == mine.read_bytes():
        return None
    kept = keep(root, name)
    with tempfile.NamedTemporaryFile(dir=root) as file:
        file.write(text)
        file.flush()
        put(file.name, mine)
    return f"{name}: your work, with what is new in the skeleton; as it was: {kept}"


def upgrade(root, course=COURSE):
    """Brings a folder that lay_out() made to this wheel's state. Broken off anywhere, the next call goes on."""
    before = json.loads((root / MANIFEST).read_text())
    now = json.loads((course / MANIFEST).read_text())
    told = []
    names = course_names(course)
    kernels = [name for name in names if name.startswith("labs/") and name.count("/") == 2
               and (name.endswith("/kernel.cu") or untouched_of(name) in names)]
    for name in kernels:  # first: the old skeletons are what both sides came from
        line = upgrade_kernel(root, name, course)
        if line:
            told.append(line)
    for name in (n for n in names if n not in kernels and n != MANIFEST):
        target = root / name
        is_new = not target.exists() or target.read_bytes() != (course / name).read_bytes()
        if target.exists() and is_new and hashlib.sha256(target.read_bytes()).hexdigest() != before["files"].get(name):
            if name.startswith("labs/") and name.endswith("/answers.md"):  # handed in with kernel.cu
                told.append(f"{name}: yours stays")
                continue
            if name.endswith("/notebook.ipynb"):  # its cells hold work, its outputs results
                told.append(f"{name}: yours stays; membound handout {name.split('/')[1]} --notebook FILE writes the new one")
                continue
            told.append(f"{name}: the course's again; as you had it: {keep(root, name)}")
        if is_new:
            put(course / name, target)
    write_launcher(root)
    put(course / MANIFEST, root / MANIFEST)
    note(f"the course in {root} is now that of Membound {now['membound_version']} "
         f"(it was of {before['membound_version']})" + "".join("\n  " + line for line in told))


def has_compiler():
    if any(map(shutil.which, ["clang++"] + [f"clang++-{version}" for version in range(20, 13, -1)])):
        return True
    toolkits = [os.environ.get("MEMBOUND_TOOLKIT"), "/usr/local/cuda"]
    nvcc = shutil.which("nvcc") or any(toolkit and os.path.exists(f"{toolkit}/bin/nvcc") for toolkit in toolkits)
    return bool(nvcc and shutil.which("g++"))  # which nvcc gives every source to first


# PyPI's ziglang has clang in it, and what a machine without a compiler lacks: LLVM's C++ library, Linux's headers and a
# linker. Its own driver, "zig c++", knows no CUDA, so the compiler proper is called as "zig clang", with the headers that
# the driver would take, and the driver links.
ZIG_CLANG = """#!/bin/sh
export ZIG_GLOBAL_CACHE_DIR="{folder}/zig_cache"
case " $* " in
*" -x cuda "* | *" @"* | *" --version "*) exec "{zig}" clang --driver-mode=g++ "@{folder}/zig.flags" "$@" ;;
esac
exec "{zig}" c++ -target {target} "$@"
"""


def write_zig_clang(folder, zig):
    """`folder`/clang++, which is the clang of the program `zig`."""
    target = f"{platform.machine()}-linux-gnu"
    linked = f"{target}.2.34"  # the oldest glibc that the wheel's programs take
    text = ZIG_CLANG.format(folder=folder, zig=zig, target=linked)
    script, flags = folder / "clang++", folder / "zig.flags"
    if script.exists() and script.read_text() == text and flags.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)

    def driver(*words):
        return subprocess.run([zig, "c++", "-target", linked, *words], capture_output=True, text=True, check=False,
                              env={**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(folder / "zig_cache")})

    asked = driver("-###", "-c", "-x", "c++", "/dev/null")
    headers = re.findall(r'"-(?:isystem|D)" "(?:[^"\\]|\\.)*"', asked.stderr)
    # Without an answer: the machine's own headers, with which kernels compile.
    flags.write_text("\n".join([f"--target={target}", "-nostdinc", "-Wno-unused-command-line-argument", *headers, ""])
                     if headers else "\n")
    # The driver builds the C++ library at its first link, which takes longer than a check waits for a compiler.
    note("ziglang's clang compiles here; it builds its C++ library first, once (a minute of one processor)")
    with tempfile.TemporaryDirectory() as scratch:
        empty = pathlib.Path(scratch) / "empty.cpp"
        empty.write_text("int main() {}\n")
        driver(str(empty), "-o", str(empty.with_suffix("")))
    script.write_text(text)
    script.chmod(0o755)


def compiler_from_pip(root):
    """A folder with the clang++ that PyPI's ziglang holds, for machines on which nobody may install another."""
    found = importlib.util.find_spec("ziglang")
    if found is None or not found.submodule_search_locations:
        note("no compiler for kernels is here. Ask whoever runs this machine for clang 14 or newer "
             "(apt-get install clang, dnf install clang), or, where nobody can: pip install ziglang")
        return None
    folder = root / ".membound/compilers"
    write_zig_clang(folder, pathlib.Path(found.submodule_search_locations[0]) / "zig")
    return folder


def main():
    words = sys.argv[1:]
    here = pathlib.Path.cwd()
    root = pathlib.Path(os.environ["MEMBOUND_ROOT"]) if os.environ.get("MEMBOUND_ROOT") else find_course(here)
    answers_anywhere = not words or words[0] in ("help", "doctor") or any(w in ("--help", "-h", "--version") for w in words)
    if root is None and words[:1] == ["start"] and not answers_anywhere:
        if any(not entry.name.startswith(".") for entry in here.iterdir()):
            fail("start", f"there is no course in {here}, and the folder is not empty",
                 "an empty folder, or one with a course", "mkdir cuda-labs; cd cuda-labs; membound start")
        lay_out(here)
        root = here
    elif root is None and not answers_anywhere:
        fail(words[0], f"there is no course in {here}, nor above it", "a folder that membound start laid out",
             "mkdir cuda-labs; cd cuda-labs; membound start")
    if root and (root / MARK).exists() and (root / MANIFEST).read_bytes() != (COURSE / MANIFEST).read_bytes():
        upgrade(root)
    environment = dict(os.environ, **({"MEMBOUND_ROOT": str(root)} if root else {}))
    if root and words[:1] and words[0] in COMPILE and not has_compiler():
        compilers = compiler_from_pip(root)
        if compilers:
            environment["PATH"] = f"{compilers}:{environment.get('PATH', os.defpath)}"
    os.execve(PROGRAM, [str(PROGRAM), *words], environment)
