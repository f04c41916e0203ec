# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
"""Runs notebooks of the course as a reader would, from an installed wheel: notebooks.py SITE SOLUTIONS [LAB…]

SITE is the folder into which pip has installed the wheel, SOLUTIONS the course's solutions/. Each notebook runs as it is,
two at a time, and those of some labs again with the reference answers in its cells: of a lab for each kind of cell, of the
labs that are named, or of all with MEMBOUND_ALL_NOTEBOOKS=1. No cell may fail; untouched stages must not pass, and answers
must. Without a LAB: all. Needs nbclient and ipykernel; `notebooks.sh` installs them."""
import concurrent.futures
import os
import pathlib
import re
import resource
import shutil
import sys
import tempfile
import time

import nbclient
import nbformat

ANSWERED = ("01-reverse-array", "04-reduction", "13-debugging")  # kernels; a write-up; answers.md and a program
LARGEST = 150_000  # bytes, as grader/report/handout.hpp has it
SECONDS = 300  # for one cell, on a busy machine
SITE, SOLUTIONS = (pathlib.Path(word).resolve() for word in sys.argv[1:3])


def part_of(text, stage):
    found = re.search(rf"^// Stage {stage}\b.*?(?=^// Stage \d|\Z)", text, re.MULTILINE | re.DOTALL)
    return found.group(0)


def with_answers(notebook, solution):
    """The reference answers in the cells; a number in each prediction."""
    for cell in notebook.cells:
        first, _, _ = cell.source.partition("\n")
        if first.startswith("%%kernel"):
            stage = int(first.rpartition("/")[2])
            cell.source = first + "\n" + part_of((solution / "kernel.cu").read_text(), stage)
        elif first.startswith("%%answers"):
            answers = solution / "answers.md"
            cell.source = first + "\n" + (answers.read_text() if answers.exists() else "Doubles are faster.\n")
        elif "%predict" in cell.source:
            cell.source = cell.source.replace(" NUMBER", " 4")
    return notebook


def decided(notebook):
    """{1: "passed", …}: what each stage's cell has shown, from the newest check of it."""
    verdicts = {}
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.source.startswith("%%kernel"):
            stage = int(cell.source.partition("\n")[0].rpartition("/")[2])
            shown = [output for output in cell.outputs if output.output_type == "display_data"]
            told = shown[0].metadata.get("membound", {}) if len(shown) == 1 else {}
            page = shown[0].data.get("text/html", "") if shown else ""
            verdicts[stage] = told.get("verdict") if "srcdoc=" in page else f"no page: {cell.outputs}"
    return verdicts


def processor_seconds():
    """Of this process and of those that it has waited for: kernels, and what they have waited for."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def run(job):
    """A line for each thing that is wrong."""
    file, lab, solution, wheel = job
    began, spent = time.monotonic(), processor_seconds()
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    bad = []
    if any(cell.get("outputs") for cell in notebook.cells):
        bad.append("it has outputs")
    if file.stat().st_size > LARGEST:
        bad.append(f"it has {file.stat().st_size} bytes")
    stages = [cell for cell in notebook.cells if cell.source.startswith("%%kernel")]
    if solution:
        notebook = with_answers(notebook, solution)
    with tempfile.TemporaryDirectory() as folder:
        site = SITE
        if wheel:  # the first cell finds it there, and pip installs it into a folder of its own
            shutil.copy(wheel, folder)
            site = pathlib.Path(folder) / ".site"
        environment = dict(os.environ, PYTHONPATH=str(site), PIP_TARGET=str(site), PIP_NO_INDEX="1",
                           PIP_ROOT_USER_ACTION="ignore", PIP_DISABLE_PIP_VERSION_CHECK="1")
        try:
            nbclient.NotebookClient(notebook, timeout=SECONDS, kernel_name="python3",
                                    resources={"metadata": {"path": folder}}).execute(env=environment)
        except nbclient.exceptions.CellExecutionError as error:
            bad.append(f"a cell fails: {error}")
        for output in (o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs):
            if output.output_type == "stream" and "membound: " in output.text and "note: " not in output.text:
                bad.append(f"a cell tells of a problem: {output.text}")
    verdicts = decided(notebook)
    if len(verdicts) != len(stages) or not stages:
        bad.append(f"{len(stages)} cells, verdicts {verdicts}")
    for stage, verdict in verdicts.items():
        if solution and verdict != "passed":
            bad.append(f"stage {stage}, with the answer: {verdict}")
        elif not solution and (verdict is None or verdict == "passed" or "no page" in verdict):
            bad.append(f"stage {stage}, untouched: {verdict}")
    kept = os.environ.get("MEMBOUND_KEEP_NOTEBOOKS")
    if kept:
        nbformat.write(notebook, pathlib.Path(kept) / f"{lab}-{'answers' if solution else 'skeleton'}.ipynb")
    print(f"{lab} {'with answers' if solution else 'untouched'}: {len(verdicts)} stages, "
          f"{time.monotonic() - began:.1f} s, {processor_seconds() - spent:.1f} s of processor time", flush=True)
    return [f"BAD {lab}{' with answers' if solution else ''}: {what}" for what in bad]


def main(labs):
    handouts = SITE / "membound/course/handouts"
    known = sorted(file.parent.name for file in handouts.glob("*/notebook.ipynb"))
    chosen = [lab for lab in known if not labs or lab in labs or lab.partition("-")[0] in labs]
    if not chosen or (labs and len(chosen) != len(labs)):
        sys.exit(f"BAD of {labs or 'all labs'} there are notebooks of {chosen}")
    answered = chosen if labs or os.environ.get("MEMBOUND_ALL_NOTEBOOKS") else ANSWERED
    jobs = [(handouts / lab / "notebook.ipynb", lab, None, None) for lab in chosen]
    jobs += [(handouts / lab / "notebook.ipynb", lab, SOLUTIONS / lab, None) for lab in answered]
    wheels = sorted((SITE.parent / "dist").glob("*.whl"))
    if wheels:  # one reader has nothing installed
        jobs[0] = (*jobs[0][:3], wheels[-1])
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        bad = [line for lines in pool.map(run, jobs) for line in lines]
    print("\n".join(bad))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main(sys.argv[3:])
