#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
"""A term as an instructor has it, with the real grader: what comes out is held against term_from_facts.py.

  simulated_term.py BUILD [--students N] [--labs 01,02,08] [--seed N] [--keep FOLDER]

Each lab comes twice as an export of one of five platforms, with the platform's own record of times: first what is there
when it is due, then all that came by the last date. Three texts a lab stand for everybody's. There are groups in two
labs, three sections, late work, late days, extensions, marks by a table, weights, best ones and two kills of the grader.
Then every export is read as its platform reads it. Prints rate, time and the grader's own memory; without --labs: all.
"""
import argparse
import csv
import datetime
import io
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
from zoneinfo import ZoneInfo

sys.dont_write_bytecode = True
from term_from_facts import Term, seconds_of

ROOT = pathlib.Path(__file__).resolve().parents[4]
ZONE = "Europe/Berlin"
PLATFORMS = ["plain", "gradescope", "moodle", "canvas", "github"]
MOST_MEMORY_MB = 400
# A text that waits for ever costs a minute; three of them would be half of what all others cost.
WAITS = re.compile("ever|never|wait|barrier|turn|fence|ticket|reset|than-fit|stops|graph|stream")


def fail(text):
    sys.exit("simulated_term: " + text)


# ---- The pool of texts.

def patched(text, patch):
    """`text` with the hunks of a wrong answer; each stands in it once."""
    for hunk in re.split(r"(?m)^@@.*\n", patch)[1:]:
        lines = hunk.splitlines(keepends=True)
        old = "".join(line[1:] if line.strip() else "\n" for line in lines if not line.startswith("+"))
        new = "".join(line[1:] if line.strip() else "\n" for line in lines if not line.startswith("-"))
        if text.count(old) != 1:
            return None
        text = text.replace(old, new)
    return text


def pool_of(lab):
    """Three texts by name: the answer, and two of which one stage is wrong."""
    folder = ROOT / "solutions" / lab
    answer = (folder / "kernel.cu").read_text()
    patches = "".join(one.read_text() for one in sorted((folder / "wrong").glob("stage-*.patch")))
    # A wrong answer begins with "# 3-missing-barrier fails OneBlock".
    wrong = {one.split(" ", 1)[0]: one for one in re.split(r"(?m)^# ", patches)[1:]}
    names = sorted(name for name in wrong if not WAITS.search(name))
    texts = {"answer": answer}
    for name in [names[0]] + names[::-1]:
        text = patched(answer, wrong[name])
        if text and len(texts) < 3:
            texts[name] = text
    if len(texts) < 3:
        fail(f"{lab}: no three texts")
    return {name: f"{text}\n// of the pool: {lab} {name}\n" for name, text in texts.items()}


# ---- The facts.

class Maker:
    """Draws everything that the term is made of."""

    def __init__(self, students, labs, seed):
        self.random = random.Random(seed)
        self.labs = labs
        self.pools = {lab: pool_of(lab) for lab in labs}
        self.own = {lab: json.loads((ROOT / "labs" / lab / "lab.json").read_text()) for lab in labs}
        own_stages = {lab: {str(one["number"]): one["points"] for one in self.own[lab]["stages"]} for lab in labs}
        self.platform = {lab: PLATFORMS[i % len(PLATFORMS)] for i, lab in enumerate(labs)}
        self.facts = {"zone": ZONE, "own_stages": own_stages, "weights": {}, "best": [], "limits": {}, "groups": {},
                      "late": {"grace_minutes": 15, "percent_per_day": 10, "most_percent": 25, "late_days": 1},
                      "people": {}, "labs": {}, "extensions": [], "attempts": [], "marks": [], "texts": {}}
        self.people(students)
        self.rules()
        self.groups()
        self.extensions()
        for lab in labs:
            self.attempts(lab)

    def draw(self, below):
        return self.random.randrange(below)

    def people(self, count):
        first = ["Jane", "Zoë", "学", "Björn", "Li", "Ana", "Иван", "O'Neil"]
        last = ["Doe", "Müller", "王", "Roe", "D'Arcy", "Nuñez", "van der Berg", "Šimić"]
        numbers = self.random.sample(range(10000, 99999), 3 * count)  # a platform's numbers are nobody's id
        for i in range(count):
            student = f"u{1000 + i}"
            # Some share a name: only ids and addresses tell them apart.
            name = f"{first[self.draw(8)]} {last[self.draw(8)]}" + ("" if i % 10 == 0 else f" {i}")
            self.facts["people"][student] = {
                "name": name, "email": f"{student}@uni.example", "section": ("Monday", "Tuesday", "Friday")[i % 3],
                "canvas": str(numbers[3 * i]), "moodle": str(numbers[3 * i + 1]), "github": f"octo{numbers[3 * i + 2]}"}

    def rules(self):
        for i, lab in enumerate(self.labs):
            # The first due date is two days before summer time ends.
            due = datetime.datetime(2026, 10, 23, 23, 59) + datetime.timedelta(days=7 * i)
            own = self.facts["own_stages"][lab]
            stages = {n: 10 * int(n) for n in own} if i % 7 == 1 else own
            self.facts["labs"][lab] = {
                "due": seconds_of(due, ZONE), "last_date": seconds_of(due + datetime.timedelta(days=4), ZONE),
                "stages": stages, "points": 25 if i % 5 == 2 else None}
        self.facts["weights"] = {self.labs[0]: 0.5, self.labs[-1]: 2}
        self.facts["best"] = [{"count": 1, "labs": self.labs[:2]}]
        if len(self.labs) > 6:
            self.facts["best"].append({"count": 2, "labs": self.labs[3:6]})
        self.facts["limits"] = {self.labs[0]: 1}

    def groups(self):
        """In the first lab by a column of the roster, in one that Gradescope has by its record."""
        recorded = [lab for lab in self.labs if self.platform[lab] == "gradescope"][:1]
        for lab in [self.labs[0]] + recorded:
            students = list(self.facts["people"])
            self.random.shuffle(students)
            self.facts["groups"][lab] = {one: f"team{i // 2:03}" for i, one in enumerate(students[:len(students) // 2])}

    def extensions(self):
        students = list(self.facts["people"])
        day = 24 * 3600
        for i in range(20):
            lab = self.labs[self.draw(len(self.labs))]
            one = {"lab": lab, "due": self.facts["labs"][lab]["due"] + (1 + self.draw(7)) * day}
            if i == 0:
                one.update(section="Tuesday")
            elif i < 3:
                lab = self.labs[0]
                one.update(lab=lab, group=f"team00{i}", due=self.facts["labs"][lab]["due"] + 3 * day)
            else:
                one.update(student=students[self.draw(len(students))])
            self.facts["extensions"].append(one)

    def attempts(self, lab):
        """One or two of each student or group; the second is another text."""
        groups = self.facts["groups"].get(lab, {})
        owners = sorted(set(groups.values())) + [one for one in self.facts["people"] if one not in groups]
        for owner in owners:
            members = [one for one, group in groups.items() if group == owner] or [owner]
            if self.draw(20) == 0:
                continue  # hands in nothing
            due = self.facts["labs"][lab]["due"]
            minutes = 1 + self.draw(6 * 24 * 60)
            is_late = self.draw(10) == 0
            if is_late and self.draw(2) == 0:  # as grace ends, or a day after that
                minutes = 15 + self.draw(2) + self.draw(4) * 24 * 60
            first = due + 60 * minutes if is_late else due - 60 * minutes
            texts = self.random.sample(list(self.pools[lab]), 3)
            self.attempt(lab, owner, members, first, texts[0])
            if self.draw(4) == 0:
                self.attempt(lab, owner, members, first + 60 * (1 + self.draw(2 * 24 * 60)), texts[1])

    def attempt(self, lab, owner, members, when, text):
        self.facts["attempts"].append(
            {"students": members, "owner": owner, "lab": lab, "time": when // 60 * 60, "text": text})

    def marks(self, labs, count):
        """By a table: of whole labs, of stages, excused ones. Whoever has attempts and no mark yet."""
        there = sorted({(one, attempt["lab"]) for attempt in self.facts["attempts"] if attempt["lab"] in labs
                        for one in attempt["students"]} - {(one["student"], one["lab"]) for one in self.facts["marks"]})
        made = []
        for i, (student, lab) in enumerate(self.random.sample(there, min(count, len(there)))):
            stages = self.facts["labs"][lab]["stages"]
            one = {"student": student, "lab": lab}
            if i % 5 == 0:
                one["excused"] = True
            elif i % 3 == 0:
                one["stage"] = 1 + self.draw(len(stages))
                one["points"] = self.draw(int(stages[str(one["stage"])]) + 1)
            else:
                one["points"] = self.draw(int(sum(stages.values())) + 1)
            made.append(one)
        self.facts["marks"] += made
        return made


# ---- What the platforms give out.

def csv_text(rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows(rows)
    return out.getvalue()


def clock(seconds):
    return datetime.datetime.fromtimestamp(seconds, ZoneInfo(ZONE))


def utc(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def moodle_time(seconds):
    at = clock(seconds)
    return f"{at:%A}, {at.day} {at:%B %Y}, {at:%I:%M %p}"


class Export:
    """What a platform gives out of one lab at some time: the newest attempt of everybody, Canvas's and our own: all."""

    def __init__(self, maker, lab, until, folder):
        self.maker, self.lab, self.folder = maker, lab, folder
        self.people = maker.facts["people"]
        self.by_owner = {}
        for one in maker.facts["attempts"]:
            if one["lab"] == lab and one["time"] <= until:
                self.by_owner.setdefault(one["owner"], []).append(one)
        folder.mkdir(parents=True)
        self.times = folder.with_name(folder.name + "-times.csv")
        getattr(self, maker.platform[lab])()

    def write(self, path, one, name=str):
        """What the lab wants of one attempt; `name` makes of a file's name that of the platform."""
        one["given_out"] = True
        (self.folder / path).mkdir(parents=True, exist_ok=True)
        (self.folder / path / name("kernel.cu")).write_text(self.maker.pools[self.lab][one["text"]])
        for other in self.maker.own[self.lab].get("files", [])[1:]:
            shutil.copy(ROOT / "solutions" / self.lab / other, self.folder / path / name(other))

    def plain(self):
        rows = [["id", "lab", "attempt", "submitted_at"]]
        for owner, attempts in self.by_owner.items():
            for i, one in enumerate(attempts, 1):
                self.write(f"{owner}/attempt-{i}", one)
                for student in one["students"]:
                    rows.append([student, self.lab, i, utc(one["time"])])
        self.times.write_text(csv_text(rows))

    def canvas(self):
        records = []
        for owner, attempts in self.by_owner.items():
            person = self.people[owner]
            for i, one in enumerate(attempts):
                word = re.sub("[^a-z]", "", person["name"].lower()) or "student"
                before = f"{word}_{person['canvas']}_{100000 + len(records) * 10 + i}_"
                again = f"-{i}" if i > 0 else ""  # Canvas numbers what is handed in again
                self.write("", one, lambda file: before + file.replace(".", again + ".", 1))
            records.append({"user_id": int(person["canvas"]), "attempt": len(attempts),
                            "submitted_at": utc(attempts[-1]["time"]),
                            "submission_history": [{"user_id": int(person["canvas"]), "attempt": i,
                                                    "submitted_at": utc(one["time"])}
                                                   for i, one in enumerate(attempts, 1)],
                            "user": {"id": int(person["canvas"]), "name": person["name"], "sis_user_id": owner}})
        self.times = self.times.with_suffix(".json")
        self.times.write_text(json.dumps(records))

    def moodle(self):
        self.times.write_text(csv_text(moodle_worksheet(
            self.people, {owner: attempts[-1]["time"] for owner, attempts in self.by_owner.items()})))
        for owner, attempts in self.by_owner.items():
            person = self.people[owner]
            self.write(f"{person['name']}_{person['moodle']}_assignsubmission_file_", attempts[-1])

    def gradescope(self):
        text = ""
        for i, attempts in enumerate(self.by_owner.values()):
            one = attempts[-1]
            self.write(f"assignment_9_export/submission_{i}", one)
            text += f"submission_{i}:\n  :submitters:\n"
            for student in one["students"]:
                text += f"  - :name: \"{self.people[student]['name']}\"\n    :sid: {student}\n"
                text += f"    :email: {self.people[student]['email']}\n"
            text += f"  :created_at: {utc(one['time']).replace('T', ' ').replace('Z', ' +0000')}\n"
        (self.folder / "assignment_9_export/submission_metadata.yml").write_text(text)
        self.times = None

    def github(self):
        rows = [["assignment_name", "github_username", "roster_identifier", "submission_timestamp"]]
        for owner, attempts in self.by_owner.items():
            self.write(f"lab-{self.people[owner]['github']}", attempts[-1])
            (self.folder / f"lab-{self.people[owner]['github']}/.git").mkdir()
            (self.folder / f"lab-{self.people[owner]['github']}/.git/HEAD").write_text("ref: refs/heads/main\n")
            rows.append([self.lab, self.people[owner]["github"], owner,
                         utc(attempts[-1]["time"]).replace("T", " ").replace("Z", " UTC")])
        self.times.write_text(csv_text(rows))


def moodle_worksheet(people, times):
    rows = [["Identifier", "Full name", "ID number", "Email address", "Status", "Grade", "Maximum Grade",
             "Grade can be changed", "Last modified (submission)", "Last modified (grade)", "Feedback comments"]]
    for student, person in people.items():
        there = student in times
        rows.append([f"Participant {person['moodle']}", person["name"], student, person["email"],
                     "Submitted for grading" if there else "No submission", "", "100.00", "Yes",
                     moodle_time(times[student]) if there else "-", "-", ""])
    return rows


# ---- The grader.

class Grader:
    def __init__(self, build, work):
        self.program, self.work, self.out = build / "bin/membound", work, work / "out"
        self.environment = {**os.environ, "MEMBOUND_ROOT": str(ROOT)}
        self.most_kb, self.seconds, self.calls, self.trust = 0, 0.0, 0, []

    def call(self, *words, code=0, kill_after=None):
        """Runs a command and looks at its memory; kills it once so many more results are there."""
        started, before = time.monotonic(), self.results()
        with open(self.work / "messages", "w+") as messages:
            process = subprocess.Popen([self.program, *map(str, words)], stdout=messages, stderr=subprocess.STDOUT,
                                       env=self.environment)
            while process.poll() is None:
                try:
                    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
                    self.most_kb = max(self.most_kb, *map(int, re.findall(r"VmHWM:\s*(\d+)", status)), 0)
                except OSError:
                    pass  # it has just ended
                if kill_after is not None and self.results() >= before + kill_after:
                    process.send_signal(signal.SIGKILL)
                time.sleep(0.02)
            messages.seek(0)
            said = messages.read()
        seconds = time.monotonic() - started
        self.seconds += seconds
        self.calls += 1
        expected = -signal.SIGKILL if kill_after is not None else code
        if process.returncode != expected:
            fail(f"{' '.join(map(str, words))} ended with {process.returncode} instead of {expected}:\n{said}")
        return said, seconds

    def grade(self, *words, **more):
        return self.call("grade", *words, *self.trust, "--device", "vgpu", "--out", self.out, **more)

    def results(self):
        folder = self.out / "results"
        return len(list(folder.glob("*.json"))) if folder.exists() else 0

    def grades(self):
        """Of each student and lab, as students/ID.json has them."""
        found = {}
        for file in (self.out / "students").iterdir():
            for one in json.loads(file.read_text()):
                found[one["student"], one["lab"]] = one
        return found


def course_yml(facts):
    """The facts as an instructor writes them."""
    late = facts["late"]
    lines = [f"zone: {ZONE}", "attempts: best", "late:"] + [f"  {key}: {value}" for key, value in late.items()]
    lines.append("labs:")
    for lab, one in facts["labs"].items():
        lines.append(f"  {lab}: {{due: {clock(one['due']):%Y-%m-%dT%H:%M}, last_date: "
                     f"{clock(one['last_date']):%Y-%m-%dT%H:%M}"
                     + (f", points: {one['points']}" if one["points"] else "") + "}")
    lines.append("counting:\n  weights: " + json.dumps(facts["weights"]))
    lines.append("  best: " + json.dumps(facts["best"]))
    changed = {lab: one["stages"] for lab, one in facts["labs"].items() if one["stages"] != facts["own_stages"][lab]}
    lines.append("  stages: {" + ", ".join(f"{lab}: {{" + ", ".join(f"{n}: {worth}" for n, worth in stages.items()) + "}"
                                           for lab, stages in changed.items()) + "}")
    lines.append("limits:\n  attempts: " + json.dumps(facts["limits"]))
    lines.append("extensions:")
    for one in facts["extensions"]:
        due = f"{clock(one['due']):%Y-%m-%dT%H:%M}"
        lines.append("  - " + json.dumps({**one, "due": due, "reason": "ill"}))
    return "\n".join(lines) + "\n"


def roster_csv(facts):
    lab = next(iter(facts["groups"]))  # the other lab's groups are the platform's
    rows = [["id", "name", "email", "canvas_id", "github_id", "section", f"group {lab}"]]
    for student, one in facts["people"].items():
        rows.append([student, one["name"], one["email"], one["canvas"], one["github"], one["section"],
                     facts["groups"][lab].get(student, "")])
    return csv_text(rows)


def hand_in(maker, grader, lab, number, until, kill_after=None):
    folder = grader.work / f"{lab}-{number}"
    export = Export(maker, lab, until, folder)
    words = [folder, "--lab", lab]
    if export.times:
        words += ["--times", export.times]
    if not (grader.out / "roster.csv").exists():
        words += ["--roster", grader.work / "roster.csv", "--course", grader.work / "course.yml"]
    if kill_after is not None:
        grader.grade(*words, kill_after=kill_after)
    grader.grade(*words)
    return words


def mark(maker, grader, labs, count):
    marks = maker.marks(labs, count)
    file = grader.work / f"marks-{labs[0]}.csv"
    file.write_text(csv_text([["student", "lab", "stage", "points", "comment", "excused"]] + [
        [one["student"], one["lab"], one.get("stage", ""), one.get("points", ""), "looked at together",
         "yes" if one.get("excused") else "no"] for one in marks]))
    grader.call("mark", "--csv", file, "--out", grader.out)


def learn_texts(maker, grader):
    """The facts that only the grader can tell: what each text of the pool earned, by its signed result."""
    digests = {}
    for file in (grader.out / "store/sha256").glob("*/kernel.cu"):
        for lab, name in re.findall(r"// of the pool: (\S+) (\S+)", file.read_text()):
            digests[file.parent.name] = (lab, name)
    graded = []
    for file in sorted((grader.out / "results").glob("*.json")):
        result = json.loads(file.read_text())
        grade = result.get("grade", result)
        lab, name = digests[grade["submission_sha256"]]
        graded.append((lab, name))
        maker.facts["texts"].setdefault(lab, {})[name] = {
            str(one["stage"]): one["points"] for one in grade["result"]["stages"]}
        if grade["verdict"] in ("SUSPICIOUS", "INFRA_ERROR"):
            fail(f"{lab} {name}: {grade['verdict']} {grade['note']}")
    if len(graded) != len(set(graded)):
        fail("a text was graded twice: " + str(sorted(one for one in set(graded) if graded.count(one) > 1)))
    return graded


# ---- What came out, against the facts.

def near(found, expected):
    """As tables hold them: two decimals."""
    return found != "" and abs(float(found) - float(expected)) <= 0.005001


class Comparison:
    def __init__(self, maker, grader):
        self.facts, self.out, self.grader = maker.facts, grader.out, grader
        self.own = maker.own
        self.term = Term(maker.facts)
        self.rows = self.term.table()
        self.problems, self.compared = [], 0

    def expect(self, holds, text):
        self.compared += 1
        if not holds:
            self.problems.append(text)

    def points(self, where, found, expected):
        self.expect(near(found, expected), f"{where}: {found!r} instead of {float(expected):.4f}")

    def course(self):
        with open(self.out / "course.csv", newline="") as file:
            rows = {row["student"]: row for row in csv.DictReader(file)}
        self.expect(set(rows) == set(self.rows), "course.csv has other students")
        for student, expected in self.rows.items():
            for lab, points in expected["points"].items():
                if points is None:
                    self.expect(rows[student][lab] == "", f"{student} {lab}: excused, but {rows[student][lab]}")
                else:
                    self.points(f"course.csv {student} {lab}", rows[student][lab], points)
            for column in ("total", "maximum", "late_days_used"):
                self.points(f"course.csv {student} {column}", rows[student][column], expected[column])

    def score(self, student, lab, maximum=None):
        """Expected points of `maximum`, else of the lab's own; None: excused."""
        one = self.rows[student]["grades"][lab]
        if one["excused"]:
            return None
        return one["points"] if maximum is None else one["points"] * maximum / self.term.own_maximum(lab)

    def there(self):
        return [(student, lab) for student in self.rows for lab, one in self.rows[student]["grades"].items()
                if one["there"]]

    def export(self, name, *more):
        folder = self.grader.work / f"export-{name}"
        self.grader.call("export", self.out, "--format", name, "--out", folder, *more)
        return folder

    def canvas(self):
        """The gradebook that Canvas gave out, filled in: its people and titles as they were."""
        people, labs = self.facts["people"], list(self.facts["labs"])
        titles = [f"{self.own[lab]['title']} ({7000 + i})" for i, lab in enumerate(labs)]
        head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
        sheet = [head + titles, ["    Points Possible", "", "", "", ""] + ["40"] * len(labs)]
        sheet += [[one["name"], one["canvas"], student, one["email"], one["section"]] + [""] * len(labs)
                  for student, one in people.items()]
        file = self.grader.work / "gradebook.csv"
        file.write_text(csv_text(sheet))
        with open(self.export("canvas", "--sheet", file) / "canvas.csv", newline="") as text:
            rows = list(csv.reader(text))
        self.expect([row[:5] for row in rows] == [row[:5] for row in sheet], "canvas: other people")
        self.expect(rows[0] == sheet[0] and rows[1] == sheet[1], "canvas: other titles or points possible")
        for row in rows[2:]:
            for i, lab in enumerate(labs):
                expected = self.score(row[2], lab, 40)
                if expected is None:
                    self.expect(row[5 + i] == "", f"canvas {row[2]} {lab}: excused")
                else:
                    self.points(f"canvas {row[2]} {lab}", row[5 + i], expected)

    def moodle(self):
        lab = next((one for one in self.facts["labs"]), None)
        sheet = moodle_worksheet(self.facts["people"], {})
        file = self.grader.work / "worksheet.csv"
        file.write_text(csv_text(sheet))
        with open(self.export("moodle", "--sheet", file, "--lab", lab) / "moodle-worksheet.csv", newline="",
                  encoding="utf-8-sig") as text:
            rows = list(csv.reader(text))
        self.expect([row[:5] for row in rows] == [row[:5] for row in sheet], "moodle: other people")
        for row in rows[1:]:
            expected = self.score(row[2], lab, 100)
            if expected is None:
                self.expect(row[5] == "", f"moodle {row[2]}: excused")
            else:
                self.points(f"moodle {row[2]}", row[5], expected)
            self.expect(len(row[10].encode()) < 32768, "moodle: a cell that a spreadsheet cuts")

    def each_submission(self, name, pattern, points, *more):
        """Formats with a file for each submission: `points` reads a file's text."""
        folder = self.export(name, *more)
        files = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}
        for student, lab in self.there():
            file = files.pop(pattern.format(student=student, lab=lab), None)
            expected = self.score(student, lab)
            if expected is None and file is not None:
                self.expect(points(file.read_text(), lab) is None, f"{name} {student} {lab}: excused")
            elif expected is not None:
                self.expect(file is not None, f"{name} {student} {lab}: no file")
                if file:
                    self.points(f"{name} {student} {lab}", points(file.read_text(), lab), expected)
        return files

    def autograders(self):
        def autolab(text, lab):
            return json.loads(text.rstrip("\n").rsplit("\n", 1)[1])["scores"][lab]

        def classroom50(text, lab):
            one = json.loads(text)
            self.expect(isinstance(one["score"], int) and one["schema"] == "classroom50/result/v1", "classroom50: form")
            return one["score"] / 100

        def gradescope(text, lab):
            one = json.loads(text)
            self.expect(all(test["max_score"] > 0 for test in one["tests"]), "gradescope: a test without points")
            return one["score"]

        def prairielearn(text, lab):
            one = json.loads(text)
            self.expect(len(text) <= 1_000_000 and 0 <= one.get("score", 0) <= 1, "prairielearn: form")
            return one["score"] * float(self.term.own_maximum(lab)) if one["gradable"] else None

        context = self.grader.work / "context.json"
        context.write_text(json.dumps({"classroom": "gpu", "commit": "0" * 40, "release": "v1", "review": "",
                                       "submission": "submit/1"}))
        left = [self.each_submission("autolab", "{student}/{lab}.txt", autolab),
                self.each_submission("classroom50", "{student}/{lab}/result.json", classroom50, "--context", context),
                self.each_submission("gradescope", "{student}/{lab}/results.json", gradescope),
                self.each_submission("prairielearn", "{student}/{lab}/results.json", prairielearn)]
        self.expect([sorted(one) for one in left] == [["scoreboard.json"], [], [], []], f"files of nobody: {left}")

    def reports(self):
        suites = xml.etree.ElementTree.parse(self.export("junit") / "junit.xml").getroot()
        found = {}
        for suite in suites:
            values = {one.get("name"): one.get("value") for one in suite.iter("property")}
            found[suite.get("name")] = values["score"]
        lines = (self.export("markdown") / "grades.md").read_text().splitlines()
        table = [[cell.strip().replace("\\", "") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines
                 if line.startswith("| ") and not line.startswith("| ---")]
        scores = {(re.search(r"\((u\d+)\)$", row[0]).group(1), row[1]): row[2] for row in table[1:]}
        for student, lab in self.there():
            expected = self.score(student, lab)
            if expected is None:
                self.expect(scores[student, lab] == "excused", f"markdown {student} {lab}: excused")
                continue
            self.points(f"junit {student} {lab}", found.get(f"{student}.{lab}", ""), expected)
            self.points(f"markdown {student} {lab}", scores[student, lab].split(" / ")[0], expected)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--labs", default="")
    parser.add_argument("--seed", type=int, default=20261128)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    labs = sorted(one.name for one in (ROOT / "labs").iterdir() if (one / "lab.json").exists())
    if options.labs:
        labs = [lab for lab in labs if lab[:2] in options.labs.split(",")]
    work = options.keep or pathlib.Path(tempfile.mkdtemp(prefix="membound-term-"))
    work.mkdir(exist_ok=True)
    try:
        run(options, labs, work)
    finally:
        if not options.keep:
            shutil.rmtree(work, ignore_errors=True)


def run(options, labs, work):
    maker, grader = Maker(options.students, labs, options.seed), Grader(options.build.resolve(), work)
    (work / "roster.csv").write_text(roster_csv(maker.facts))
    (work / "course.yml").write_text(course_yml(maker.facts))
    (work / "nobody").mkdir()
    probe = subprocess.run([grader.program, "grade", work / "nobody", "--lab", labs[0], "--device", "vgpu", "--out",
                            work / "nothing"], capture_output=True, text=True, env=grader.environment, check=False)
    if "--trust-submissions" in probe.stderr:
        grader.trust = ["--trust-submissions"]
        print("nothing here confines submissions: graded as trusted")

    for i, lab in enumerate(labs):
        due, last = maker.facts["labs"][lab]["due"], maker.facts["labs"][lab]["last_date"]
        hand_in(maker, grader, lab, 1, due, kill_after=1 if i in (0, len(labs) // 2) else None)
        words = hand_in(maker, grader, lab, 2, last + 365 * 24 * 3600)
        if i == len(labs) // 2:
            mark(maker, grader, labs[:i + 1], 10)
    grading = grader.seconds
    mark(maker, grader, labs, 20)
    _, again = grader.grade(*words)
    _, resumed = grader.call("grade", "--resume", *grader.trust, "--out", grader.out)
    print(grader.call("grade", "--verify", "--out", grader.out)[0].strip())
    graded = learn_texts(maker, grader)
    _, report = grader.call("report", grader.out)

    # Of some platforms nobody ever gets an attempt that another one followed before the export.
    maker.facts["attempts"] = [one for one in maker.facts["attempts"] if one.get("given_out")]
    comparison = Comparison(maker, grader)
    (work / "facts.json").write_text(json.dumps(maker.facts))
    for part in (comparison.course, comparison.canvas, comparison.moodle, comparison.autograders, comparison.reports):
        part()
    attempts = sum(len(one["students"]) for one in maker.facts["attempts"])
    late = sum(one["time"] > maker.facts["labs"][one["lab"]]["due"] for one in maker.facts["attempts"])
    free = sum(row["late_days_used"] for row in comparison.rows.values())
    print(f"{options.students} students, {len(labs)} labs, {attempts} attempts of {len(graded)} texts ({late} late, "
          f"{free} free late days, {len(maker.facts['marks'])} marks, 2 kills): graded in {grading:.0f} s, "
          f"{attempts / grading * 60:.0f} a minute")
    print(f"nothing to do: {again:.2f} s, --resume {resumed:.2f} s; report {report:.1f} s; {grader.calls} calls; "
          f"the grader's own memory: {grader.most_kb / 1024:.0f} MiB at most")
    print(f"{comparison.compared} facts compared, {len(comparison.problems)} differ")
    comparison.expect(grader.most_kb <= MOST_MEMORY_MB * 1024, f"more than {MOST_MEMORY_MB} MB")
    comparison.expect(late > 0 and free > 0 and len(maker.facts["marks"]) == 30, "the term has too little in it")
    if comparison.problems:
        fail("\n".join(comparison.problems[:40]))


if __name__ == "__main__":
    main()
