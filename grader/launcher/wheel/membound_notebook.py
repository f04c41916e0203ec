# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
"""What the notebooks of the course call, an extension of IPython: `%course FOLDER` finds the course or lays it out;
`%%kernel 03/4` writes its cell into that stage of kernel.cu and checks it; `%kernel 03/4` puts what the file holds into
a cell; `%%answers 13` writes answers.md, `%%answers 04 writeup.md` that file; `%predict 03/4 16`, `%figure 03/tile`, and `%membound …` for every command."""
import base64
import html
import importlib.util
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve()
HEAD = re.compile(r"// Stage (\d+)")  # as grader/course/stage_text reads it
DRIVE = pathlib.Path("/content/drive")
BESIDE = {"answers.md": "each stage's check reads it", "writeup.md": "a person reads it"}  # handed in with kernel.cu
WRITTEN = ".membound/notebook.json"  # what this wrote last: other changes are of another editor
STYLE = "<style>.top,body>main>h1{display:none}body{padding:.2rem;max-width:none}</style>"


class Problem(Exception):
    """What a reader can mend; shown as a sentence, without a traceback."""


class Course:
    """A course, and how its program is called."""

    def __init__(self, root, command):
        self.root = root
        self.command = command

    def run(self, *words):
        environment = dict(os.environ, MEMBOUND_ROOT=str(self.root), NO_COLOR="1")
        return subprocess.run([*self.command, *words], cwd=self.root, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)

    def lab(self, word):
        """Its id: "03-transpose" for "03", "3" or "transpose"."""
        names = sorted(place.name for place in (self.root / "labs").iterdir() if (place / "lab.json").is_file())
        number = word.zfill(2) + "-"
        for name in names:
            if name == word or name.startswith(number) or name.endswith("-" + word):
                return name
        raise Problem(f"there is no lab {word}: the course has {', '.join(names)}")

    def stage(self, word):
        """("03-transpose", 4) for "03/4"."""
        name, _, number = word.partition("/")
        if not number.isdigit():
            raise Problem(f"\"{word}\" names no stage: write it as 03/4")
        return self.lab(name), int(number)


def open_course(folder, output=print):
    """The course that `folder` names, or the one around here; a wheel lays one out where there is none."""
    place = pathlib.Path(folder).expanduser() if folder else pathlib.Path.cwd()
    if DRIVE in place.parents and not (DRIVE / "MyDrive").exists():
        from google.colab import drive  # only there
        drive.mount(str(DRIVE))
    if HERE.parent.name == "wheel":  # of a clone
        root = HERE.parents[3]
        output("The course is this clone. A first call may build its programs, which takes some minutes.")
        return Course(root, ["bash", str(root / "membound")])
    import membound
    root = membound.find_course(place.resolve())
    if root is None:
        root = place.resolve() if folder else place.resolve() / "cuda-labs"
        root.mkdir(parents=True, exist_ok=True)
        if not (root / membound.MANIFEST).exists():
            if any(not entry.name.startswith(".") for entry in root.iterdir()):
                raise Problem(f"{root} holds other files: name an empty folder")
            membound.lay_out(root)
    if not membound.has_compiler() and importlib.util.find_spec("ziglang") is None:
        output("No clang and no nvcc are here: pip installs ziglang, which holds a clang (80 MB).")
        if subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "ziglang"], check=False).returncode:
            output("pip could not. Ask whoever runs this machine for clang 14 or newer; kernels are compiled once it is there.")
    return Course(root, [sys.executable, "-m", "membound"])


def parts_of(text):
    """The text in pieces: (0, what stands before the first head), (1, stage 1), …; stages may come twice."""
    parts = [(0, "")]
    for line in text.splitlines(keepends=True):
        head = HEAD.match(line)
        if head:
            parts.append((int(head.group(1)), ""))
        parts[-1] = (parts[-1][0], parts[-1][1] + line)
    return parts


def part_of(text, stage):
    """One stage's part without the empty lines at its end; None where it has not one head."""
    found = [part for number, part in parts_of(text) if number == stage]
    return found[0].rstrip() if len(found) == 1 else None


def with_part(text, stage, part):
    """`text` with the stage's part replaced."""
    parts = parts_of(text)
    last = parts[-1][0] == stage
    return "".join(part.rstrip() + ("\n" if last else "\n\n") if number == stage else old for number, old in parts)


def part_in_cell(cell, skeleton, stage):
    """The cell as the stage's part: with the skeleton's head where the reader has removed it."""
    heads = [number for number, _ in parts_of(cell) if number]
    if any(number != stage for number in heads) or len(heads) > 1:
        raise Problem(f"this cell holds heads \"// Stage N\" of other stages, or two: it is that of stage {stage} alone")
    return cell.rstrip() if heads else skeleton.splitlines()[0] + "\n" + cell.rstrip()


def read_json(file):
    return json.loads(file.read_text()) if file.exists() else {}


def keep(course, file):
    """A copy of a file that something else has changed, beside those of `membound reset`."""
    folder = course.root / ".membound/backups" / file.parent.name
    folder.mkdir(parents=True, exist_ok=True)
    number = 1
    while (folder / f"{file.stem}-before-notebook-{number:02}{file.suffix}").exists():
        number += 1
    kept = folder / f"{file.stem}-before-notebook-{number:02}{file.suffix}"
    kept.write_text(file.read_text())
    return kept.relative_to(course.root)


def skeleton_of(course, lab, name="kernel.cu"):
    """The untouched file: a course that was handed out has a copy; a clone's file is under version control."""
    copy = course.root / "released" / lab / ("skeleton.cu" if name == "kernel.cu" else name)
    if copy.exists():
        return copy.read_text()
    told = subprocess.run(["git", "-C", str(course.root), "show", f"HEAD:labs/{lab}/{name}"], capture_output=True,
                          text=True, check=False)
    return told.stdout if told.returncode == 0 else (course.root / "labs" / lab / name).read_text()


def put(course, file, key, old, new, skeleton, text):
    """Writes `text` to `file`, in which `new` takes the place of `old`; returns what is to be told. Work that the cell
    does not hold is never lost: an untouched cell leaves it alone, another one keeps a copy of it."""
    written = read_json(course.root / WRITTEN)
    if new == skeleton.rstrip() and old != new:
        return (f"This cell holds the untouched skeleton: what labs/{file.parent.name}/{file.name} holds is kept and "
                "checked.")
    told = ""
    if old not in (new, skeleton.rstrip(), written.get(key)):
        told = f"Something else had changed this part of {file.name}; as it was: {keep(course, file)}"
    if old != new:
        part = file.with_name(file.name + ".part")
        part.write_text(text)
        os.replace(part, file)
    if written.get(key) != new:
        (course.root / WRITTEN).parent.mkdir(exist_ok=True)
        (course.root / WRITTEN).write_text(json.dumps(dict(written, **{key: new})))
    return told


def put_stage(course, lab, stage, cell):
    """Puts a cell into its stage of kernel.cu; returns what is to be told."""
    file = course.root / "labs" / lab / "kernel.cu"
    skeleton = part_of(skeleton_of(course, lab), stage)
    if skeleton is None:
        raise Problem(f"lab {lab} has no stage {stage}")
    text = file.read_text()
    old = part_of(text, stage)
    if old is None:
        raise Problem(f"labs/{lab}/kernel.cu has not one head \"// Stage {stage}: …\"; membound reset {lab}/{stage} "
                      "brings it back")
    new = part_in_cell(cell, skeleton, stage)
    return put(course, file, f"{lab}/{stage}", old, new, skeleton, with_part(text, stage, new))


def put_answers(course, lab, name, cell):
    file = course.root / "labs" / lab / name
    if name not in BESIDE or not file.exists():
        raise Problem(f"lab {lab} asks for no {name}")
    new = cell.rstrip()
    return put(course, file, f"{lab}/{name}", file.read_text().rstrip(), new, skeleton_of(course, lab, file.name), new + "\n")


def frame(page):
    """A check's page in a frame of its own, so that its looks are not those of the notebook."""
    page = page.replace("</head>", STYLE + "</head>", 1)
    return (f'<iframe srcdoc="{html.escape(page)}" style="width:100%;height:32rem;border:0" '
            'title="what the check found" onload="try{this.style.height='
            'Math.min(this.contentDocument.documentElement.scrollHeight+20,1600)+\'px\'}catch(e){}"></iframe>')


def check(course, lab, stage):
    """Checks a stage. Returns its page or None, the text of the terminal, and what was decided."""
    with tempfile.TemporaryDirectory() as scratch:
        page, result = pathlib.Path(scratch) / "page.html", pathlib.Path(scratch) / "result.json"
        ran = course.run("check", f"{lab}/{stage}", "--html", str(page), "--json", str(result))
        told = ran.stdout + ran.stderr
        decided = {"exit_code": ran.returncode}
        if result.exists():
            for one in read_json(result)["stages"]:
                if one["stage"] == stage:
                    decided.update(stage=f"{lab}/{stage}", verdict=one["verdict"], points=one.get("points"))
        return page.read_text() if page.exists() else None, told, decided


def show(display, page, text, decided):
    data = {"text/plain": text}
    if page is not None:
        data["text/html"] = frame(page)
    display(data, raw=True, metadata={"membound": decided})


class Magics:
    """The magics, without IPython so that they can be tried alone: `display` and `next_cell` are the notebook's."""

    def __init__(self, display, next_cell=None):
        self.display = display
        self.next_cell = next_cell
        self.opened = None

    def course_here(self):
        if self.opened is None:
            self.opened = open_course("")
        return self.opened

    def course(self, line):
        self.opened = open_course(line.strip().strip("\"'"))
        told = self.opened.run("--version")
        print(f"{told.stdout.strip()}; the course is in {self.opened.root}")

    def kernel(self, line, cell=None):
        course = self.course_here()
        lab, stage = course.stage(line.strip())
        if cell is None:
            part = part_of((course.root / "labs" / lab / "kernel.cu").read_text(), stage)
            if part is None:
                raise Problem(f"labs/{lab}/kernel.cu has not one part of stage {stage}")
            self.next_cell(f"%%kernel {line.strip()}\n{part}")
            return
        told = put_stage(course, lab, stage, cell)
        if told:
            print(told)
        show(self.display, *check(course, lab, stage))

    def answers(self, line, cell):
        course = self.course_here()
        word, _, name = line.strip().partition(" ")
        lab, name = course.lab(word), name or "answers.md"
        print(put_answers(course, lab, name, cell) or f"labs/{lab}/{name} is written; {BESIDE[name]}.")

    def predict(self, line):
        words = line.split()
        if words and words[-1] == "NUMBER":
            print("Write your number instead of NUMBER, and run this cell again before the stage's.")
            words.pop()
        self.tell(self.course_here().run("predict", *words))

    def figure(self, line):
        course = self.course_here()
        lab, _, name = line.strip().partition("/")
        file = course.root / "handouts" / course.lab(lab) / "figures" / (name + ".svg")
        if not file.exists():
            raise Problem(f"there is no picture {name} of lab {lab}")
        told = re.search("<desc>(.*?)</desc>", file.read_text(), re.DOTALL)
        told = html.unescape(told.group(1)) if told else name
        address = "data:image/svg+xml;base64," + base64.b64encode(file.read_bytes()).decode()
        self.display({"text/plain": told, "text/html": f'<img alt="{html.escape(told)}" src="{address}">'}, raw=True)

    def membound(self, line):
        self.tell(self.course_here().run(*shlex.split(line)))

    @staticmethod
    def tell(ran):
        print(ran.stdout, end="")
        print(ran.stderr, end="", file=sys.stderr)


def load_ipython_extension(shell):
    from IPython.display import display
    magics = Magics(display, lambda text: shell.set_next_input(text, replace=True))

    def guarded(call):
        def run(*words):
            try:
                call(*words)
            except Problem as problem:
                print(f"membound: {problem}", file=sys.stderr)
        return run
    for name in ("course", "predict", "figure", "membound"):
        shell.register_magic_function(guarded(getattr(magics, name)), "line", name)
    shell.register_magic_function(guarded(magics.kernel), "line_cell", "kernel")
    shell.register_magic_function(guarded(magics.answers), "cell", "answers")
