# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
"""What `pip install --upgrade` does to a student's folder: package_test.py FOLDER-OF-PACKAGE.PY"""
import contextlib
import hashlib
import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

FOLDER = pathlib.Path(sys.argv.pop(1))
spec = importlib.util.spec_from_file_location("package", FOLDER / "package.py")
package = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)

SKELETON = "// Stage 1\nint one() {\n  // TODO\n}\n\n// Stage 2\nint two() {\n  // TODO\n}\n"
KERNEL = "labs/01-fake/kernel.cu"


def course(folder, version, skeleton, page="the text\n", more=None):
    files = {KERNEL: skeleton, "released/01-fake/skeleton.cu": skeleton, "labs/01-fake/kernel.cuh": "contract\n",
             "docs/page.md": page, "CMakePresets.json": "{}\n", **(more or {})}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    manifest = {"membound_version": version,
                "files": {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()}}
    (folder / "released/release.json").write_text(json.dumps(manifest))
    return folder


class Upgrade(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.old = course(self.folder / "old", "1.0.0", SKELETON)
        self.root = self.folder / "mine"
        self.root.mkdir()
        self.said(package.lay_out, self.root, self.old)
        self.kernel = self.root / KERNEL

    def said(self, call, *arguments):
        with contextlib.redirect_stderr(io.StringIO()) as told:
            call(*arguments)
        return told.getvalue()

    def upgrade(self, skeleton=SKELETON, **more):
        return self.said(package.upgrade, self.root, course(self.folder / "new", "1.1.0", skeleton, **more))

    def kept(self, lab="01-fake"):
        folder = self.root / ".membound/backups" / lab
        return sorted(file.read_text() for file in folder.iterdir()) if folder.exists() else []

    def test_keeps_what_stands_in_a_file_beside_the_kernel(self):
        answers = "labs/01-fake/answers.md"
        beside = {answers: "- line:\n", "released/01-fake/answers.md": "- line:\n"}
        self.upgrade(more=beside)
        self.assertEqual((self.root / answers).read_text(), "- line:\n")
        (self.root / answers).write_text("- line: 7\n")
        self.said(package.upgrade, self.root, course(self.folder / "newer", "1.2.0", SKELETON, more=beside))
        self.assertEqual((self.root / answers).read_text(), "- line: 7\n")

    def test_keeps_work_where_the_skeleton_is_the_same(self):
        mine = SKELETON.replace("  // TODO\n", "  return 1;\n", 1)
        self.kernel.write_text(mine)
        told = self.upgrade(page="a new text\n")
        self.assertEqual(self.kernel.read_text(), mine)
        self.assertEqual((self.root / "docs/page.md").read_text(), "a new text\n")
        self.assertNotIn("kernel.cu", told)
        self.assertIn("now that of Membound 1.1.0 (it was of 1.0.0)", told)

    def test_takes_a_new_skeleton_where_the_old_one_is_untouched(self):
        new = SKELETON + "\n// Stage 3\nint three() {\n  // TODO\n}\n"
        told = self.upgrade(new)
        self.assertEqual(self.kernel.read_text(), new)
        self.assertIn(f"{KERNEL}: the new skeleton; yours was untouched", told)
        self.assertEqual(self.kept(), [])

    def test_puts_work_and_new_skeleton_together(self):
        mine = SKELETON.replace("  // TODO\n", "  return 1;\n", 1)
        self.kernel.write_text(mine)
        told = self.upgrade(SKELETON + "\n// Stage 3\nint three() {\n  // TODO\n}\n")
        self.assertEqual(self.kernel.read_text(), mine + "\n// Stage 3\nint three() {\n  // TODO\n}\n")
        self.assertIn("your work, with what is new in the skeleton", told)
        self.assertEqual(self.kept(), [mine])

    def test_leaves_work_alone_where_both_changed(self):
        mine = SKELETON.replace("int one() {\n  // TODO\n", "int one() {\n  return 1;\n")
        self.kernel.write_text(mine)
        told = self.upgrade(SKELETON.replace("int one() {\n  // TODO\n", "int one() {\n  // TODO: the sum\n"))
        self.assertEqual(self.kernel.read_text(), mine)
        self.assertIn("yours stays", told)
        self.assertIn("the sum", (self.root / "released/01-fake/skeleton.cu").read_text())

    def test_keeps_a_copy_of_a_changed_page(self):
        (self.root / "docs/page.md").write_text("my notes\n")
        told = self.upgrade(page="a new text\n")
        self.assertEqual((self.root / "docs/page.md").read_text(), "a new text\n")
        self.assertEqual(self.kept("course"), ["my notes\n"])
        self.assertIn("docs/page.md: the course's again", told)

    def test_leaves_answers_alone(self):
        answers = self.root / "labs/01-fake/answers.md"
        answers.write_text("- kind: race\n")
        told = self.upgrade(more={"labs/01-fake/answers.md": "- kind:\n"})
        self.assertEqual(answers.read_text(), "- kind: race\n")
        self.assertIn("labs/01-fake/answers.md: yours stays", told)

    def test_leaves_a_notebook_with_work_alone(self):
        notebook = "handouts/01-fake/notebook.ipynb"
        self.upgrade(more={notebook: "one\n"})
        self.assertEqual((self.root / notebook).read_text(), "one\n")
        newer = course(self.folder / "newer", "1.2.0", SKELETON, more={notebook: "two\n"})
        (self.root / notebook).write_text("one, and my work\n")
        self.assertIn(f"{notebook}: yours stays; membound handout 01-fake --notebook",
                      self.said(package.upgrade, self.root, newer))
        self.assertEqual((self.root / notebook).read_text(), "one, and my work\n")

    def test_brings_a_new_lab_and_files_of_ones_own_stay(self):
        (self.root / "notes.txt").write_text("mine\n")
        self.upgrade(more={"labs/02-fake/kernel.cu": SKELETON})
        self.assertEqual((self.root / "labs/02-fake/kernel.cu").read_text(), SKELETON)
        self.assertEqual((self.root / "notes.txt").read_text(), "mine\n")

    def test_goes_on_where_it_was_broken_off(self):
        mine = SKELETON.replace("  // TODO\n", "  return 1;\n", 1)
        self.kernel.write_text(mine)
        new = SKELETON + "\n// Stage 3\n"
        put = package.put
        def fails_at_the_page(source, target):
            if target.name == "page.md":
                raise OSError("full")
            put(source, target)
        package.put = fails_at_the_page
        self.addCleanup(setattr, package, "put", put)
        with self.assertRaises(OSError):
            self.upgrade(new, page="a new text\n")
        package.put = put
        self.upgrade(new, page="a new text\n")
        self.assertEqual(self.kernel.read_text(), mine + "\n// Stage 3\n")
        self.assertEqual((self.root / "docs/page.md").read_text(), "a new text\n")
        self.assertEqual(self.kept(), [mine])


class Compilers(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def script(self, name, text=""):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/sh\n" + text)
        file.chmod(0o755)
        return file

    def test_an_nvcc_without_a_host_compiler_is_none(self):
        self.script("bin/nvcc")
        with unittest.mock.patch.dict(os.environ, {"PATH": str(self.folder / "bin")}):
            self.assertFalse(package.has_compiler())
            self.script("bin/g++")
            self.assertTrue(package.has_compiler())
        self.script("clang/clang++-16")
        with unittest.mock.patch.dict(os.environ, {"PATH": str(self.folder / "clang")}):
            self.assertTrue(package.has_compiler())

    def zig(self, answer=""):
        """A clang++ over a zig that prints what it is called with, and `answer` to -###."""
        zig = self.script("a b/zig", f"case \"$*\" in *-###*) echo '{answer}' >&2 ;; *) echo \"$*\" ;; esac\n")
        with contextlib.redirect_stderr(io.StringIO()):
            package.write_zig_clang(self.folder / "own", zig)
        return self.folder / "own"

    def called(self, folder, *words):
        return subprocess.run([folder / "clang++", *words], capture_output=True, text=True, check=True).stdout

    def test_zig_compiles_with_the_headers_that_its_own_driver_takes(self):
        own = self.zig('"zig" "-cc1" "-isystem" "/a b/libcxx" "-D" "_N=\\"x\\"" "-x" "c++"')
        self.assertIn('-nostdinc\n-Wno-unused-command-line-argument\n"-isystem" "/a b/libcxx"\n"-D" "_N=\\"x\\""\n',
                      (own / "zig.flags").read_text())
        self.assertIn(f"clang --driver-mode=g++ @{own}/zig.flags -x cuda a.cu", self.called(own, "-x", "cuda", "a.cu"))
        self.assertRegex(self.called(own, "--driver-mode=g++", "a.o", "-o", "a"), "^c\\+\\+ -target .*-linux-gnu.* a.o -o a")

    def test_zig_without_an_answer_takes_the_headers_of_the_machine(self):
        self.assertEqual((self.zig() / "zig.flags").read_text(), "\n")


if __name__ == "__main__":
    unittest.main()
