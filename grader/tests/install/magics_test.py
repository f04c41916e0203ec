# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
"""What the notebooks' magics do to a student's files: magics_test.py FOLDER-OF-MEMBOUND_NOTEBOOK.PY"""
import contextlib
import importlib.util
import io
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

FOLDER = pathlib.Path(sys.argv.pop(1))
spec = importlib.util.spec_from_file_location("membound_notebook", FOLDER / "membound_notebook.py")
notebook = importlib.util.module_from_spec(spec)
spec.loader.exec_module(notebook)

HEAD = "// The file\n#include \"kernel.cuh\"\n\n"
ONE = "// Stage 1: One\n//\n//   Stage 1 has a head of two lines.\nint one() {\n  // TODO\n}"
TWO = "// Stage 2: Two\nint two() {\n  // TODO\n}"
SKELETON = HEAD + ONE + "\n\n" + TWO + "\n"
MINE = ONE.replace("// TODO", "return 1;")
PAGE = "<html><head></head><body><main><h1>A lab</h1><p>\"passed\"</p></main></body></html>"


class FakeCourse(notebook.Course):
    """Answers as the program would, and remembers what it was asked."""

    def __init__(self, root):
        super().__init__(root, [])
        self.calls = []
        self.exit_code = 0

    def run(self, *words):
        self.calls.append(words)
        if words[0] == "check":
            self.checked = (self.root / "labs/01-fake/kernel.cu").read_text()
            if self.exit_code < 2:
                pathlib.Path(words[3]).write_text(PAGE)
                pathlib.Path(words[5]).write_text(
                    '{"stages": [{"stage": 1, "verdict": "slow", "points": 2}, {"stage": 2, "verdict": "passed", "points": 5}]}')
        return subprocess.CompletedProcess(words, self.exit_code, "said\n", "")


class Opening(unittest.TestCase):
    def test_a_compiler_that_pip_cannot_fetch_is_told_in_a_sentence(self):
        here = pathlib.Path.cwd()
        wheel = types.SimpleNamespace(find_course=lambda folder: here, has_compiler=lambda: False)
        told = []
        with unittest.mock.patch.dict(sys.modules, membound=wheel), \
                unittest.mock.patch.object(notebook, "HERE", here / "membound_notebook.py"), \
                unittest.mock.patch.object(notebook.importlib.util, "find_spec", return_value=None), \
                unittest.mock.patch.object(notebook.sys, "executable", "false"):
            self.assertEqual(notebook.open_course("", told.append).root, here)
        self.assertIn("Ask whoever runs this machine for clang", told[-1])


class Magics(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        root = pathlib.Path(scratch.name)
        for name, text in {"labs/01-fake/kernel.cu": SKELETON, "released/01-fake/skeleton.cu": SKELETON,
                           "labs/11-other-fake/writeup.md": "# What\n", "released/11-other-fake/writeup.md": "# What\n",
                           "labs/01-fake/answers.md": "- kind:\n", "released/01-fake/answers.md": "- kind:\n",
                           "labs/01-fake/lab.json": "{}", "labs/11-other-fake/lab.json": "{}"}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        self.shown, self.cells = [], []
        self.magics = notebook.Magics(lambda data, **more: self.shown.append((data, more)), self.cells.append)
        self.course = self.magics.opened = FakeCourse(root)
        self.file = root / "labs/01-fake/kernel.cu"

    def kernel(self, cell, stage="01/1"):
        with contextlib.redirect_stdout(io.StringIO()) as told:
            self.magics.kernel(stage, cell)
        return told.getvalue()

    def kept(self):
        folder = self.course.root / ".membound/backups/01-fake"
        return sorted(file.read_text() for file in folder.iterdir()) if folder.exists() else []

    def test_writes_the_cell_into_its_stage_and_checks_that(self):
        self.assertEqual(self.kernel(MINE + "\n"), "")
        self.assertEqual(self.file.read_text(), SKELETON.replace(ONE, MINE))
        self.assertEqual(self.course.checked, self.file.read_text())
        self.assertEqual(self.course.calls[0][:2], ("check", "01-fake/1"))
        self.assertEqual(self.kept(), [])

    def test_shows_the_page_the_text_and_what_was_decided(self):
        self.kernel(TWO, "01/2")
        (data, more), = self.shown
        self.assertIn("&quot;passed&quot;", data["text/html"])
        self.assertTrue(data["text/html"].startswith("<iframe srcdoc="))
        self.assertEqual(data["text/plain"], "said\n")
        self.assertEqual(more["metadata"]["membound"],
                         {"exit_code": 0, "stage": "01-fake/2", "verdict": "passed", "points": 5})

    def test_shows_the_text_alone_where_nothing_was_judged(self):
        self.course.exit_code = 2
        self.kernel(MINE)
        (data, more), = self.shown
        self.assertEqual(list(data), ["text/plain"])
        self.assertEqual(more["metadata"]["membound"], {"exit_code": 2})

    def test_the_last_stage_ends_the_file(self):
        mine = TWO.replace("// TODO", "return 2;")
        self.kernel(mine + "\n\n", "fake/2")
        self.assertEqual(self.file.read_text(), SKELETON.replace(TWO, mine))

    def test_an_untouched_cell_never_replaces_work(self):
        self.kernel(MINE)
        self.assertIn("holds the untouched skeleton", self.kernel(ONE))
        self.assertEqual(self.course.checked, SKELETON.replace(ONE, MINE))

    def test_what_another_editor_wrote_is_kept(self):
        self.kernel(MINE)
        other = SKELETON.replace(ONE, MINE.replace("1;", "7;"))
        self.file.write_text(other)
        self.assertIn("as it was: .membound/backups/01-fake/kernel-before-notebook-01.cu", self.kernel(MINE))
        self.assertEqual(self.kept(), [other])
        self.kernel(MINE.replace("1;", "3;"))
        self.assertEqual(self.kept(), [other], "what the notebook itself wrote needs no copy")

    def test_brings_a_removed_head_back(self):
        self.kernel("int one() {\n  return 1;\n}\n")
        self.assertEqual(notebook.part_of(self.file.read_text(), 1), "// Stage 1: One\nint one() {\n  return 1;\n}")

    def test_refuses_heads_of_other_stages(self):
        for cell in (TWO, ONE + "\n" + TWO, ONE + "\n" + ONE):
            with self.assertRaisesRegex(notebook.Problem, "stage 1 alone"):
                self.kernel(cell)
        self.assertEqual(self.file.read_text(), SKELETON)

    def test_refuses_stages_and_labs_that_are_not_there(self):
        for stage, problem in (("01/3", "no stage 3"), ("07/1", "no lab 07"), ("01", "names no stage")):
            with self.assertRaisesRegex(notebook.Problem, problem):
                self.kernel(ONE, stage)

    def test_refuses_a_file_without_the_stage(self):
        self.file.write_text(HEAD + TWO)
        with self.assertRaisesRegex(notebook.Problem, "membound reset 01-fake/1"):
            self.kernel(MINE)

    def test_finds_labs_by_number_and_name(self):
        self.assertEqual([self.course.lab(word) for word in ("01", "1", "01-fake", "11", "other-fake")],
                         ["01-fake", "01-fake", "01-fake", "11-other-fake", "11-other-fake"])

    def test_puts_what_the_file_holds_into_a_cell(self):
        self.kernel(MINE)
        self.magics.kernel("01/1")
        self.assertEqual(self.cells, ["%%kernel 01/1\n" + MINE])

    def test_answers_are_kept_in_the_same_way(self):
        with contextlib.redirect_stdout(io.StringIO()):
            self.magics.answers("01", "- kind: race\n")
            answers = self.course.root / "labs/01-fake/answers.md"
            self.assertEqual(answers.read_text(), "- kind: race\n")
            self.magics.answers("01", "- kind:\n")
            self.assertEqual(answers.read_text(), "- kind: race\n", "an untouched cell")
            with self.assertRaisesRegex(notebook.Problem, "no answers.md"):
                self.magics.answers("11", "- kind: race\n")
            with self.assertRaisesRegex(notebook.Problem, "no lab.json"):
                self.magics.answers("11 lab.json", "{}\n")
            self.magics.answers("11 writeup.md", "# What I measured\n")
        self.assertEqual((self.course.root / "labs/11-other-fake/writeup.md").read_text(), "# What I measured\n")

    def test_a_prediction_without_a_number_asks_for_one(self):
        with contextlib.redirect_stdout(io.StringIO()) as told:
            self.magics.predict("01/1 NUMBER")
            self.magics.predict("01/1 4")
        self.assertIn("instead of NUMBER", told.getvalue())
        self.assertEqual(self.course.calls, [("predict", "01/1"), ("predict", "01/1", "4")])


if __name__ == "__main__":
    unittest.main()
