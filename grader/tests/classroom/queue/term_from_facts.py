# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
"""The grades of a term from its facts alone, for simulated_term.py: what the grader's own tables must be.

It shares no line with the grader: docs/grading.md is all that both follow. Points are fractions, so that no rounding of
a sum decides anything.
"""
import datetime
from fractions import Fraction
from zoneinfo import ZoneInfo

UTC = datetime.timezone.utc


def seconds_of(local, zone):
    """Seconds since 1970 of a time as the zone's clock shows it."""
    return int(local.replace(tzinfo=ZoneInfo(zone)).timestamp())


def days_begun(due, time, zone):
    """Calendar days begun between two times: a day ends when the clock shows the time of the day of `due` again."""
    clock = datetime.datetime.fromtimestamp(due, ZoneInfo(zone)).replace(tzinfo=None)
    days = 0
    while time > (due if days == 0 else seconds_of(clock + datetime.timedelta(days=days), zone)):
        days += 1
    return days


class Term:
    """`facts`: what simulated_term.py made up, and the points of each text's stages."""

    def __init__(self, facts):
        self.facts = facts
        self.labs = facts["labs"]

    def stage_worth(self, lab):
        return {int(n): Fraction(worth) for n, worth in self.labs[lab]["stages"].items()}

    def own_maximum(self, lab):
        return sum(self.stage_worth(lab).values())

    def worth(self, lab):
        """What the lab is worth in the course's table."""
        if self.labs[lab].get("points") is not None:
            return Fraction(self.labs[lab]["points"])
        return Fraction(100) if lab in self.facts["weights"] else self.own_maximum(lab)

    def stages_of(self, lab, text):
        """Points of a text's stages, in what the course says that they are worth."""
        own = self.facts["own_stages"][lab]
        worth = self.stage_worth(lab)
        return {n: Fraction(points) * worth[n] / Fraction(own[str(n)])
                for n, points in ((int(n), points) for n, points in self.facts["texts"][lab][text].items())}

    def due_of(self, student, lab):
        """Due date and last date of one student, in seconds since 1970."""
        due, last = self.labs[lab]["due"], self.labs[lab]["last_date"]
        person = self.facts["people"][student]
        for one in self.facts["extensions"]:
            if one.get("lab") not in (None, lab):
                continue
            mine = (one.get("student") == student or one.get("section", "-") == person["section"] or
                    one.get("group", "-") == self.facts["groups"].get(lab, {}).get(student))
            if mine:
                due = max(due, one["due"])
        return due, max(last, due)

    def share(self, days):
        late = self.facts["late"]
        return 1 - Fraction(min(days * late["percent_per_day"], late["most_percent"]), 100)

    def attempts_of(self, student, lab):
        found = [one for one in self.facts["attempts"] if one["lab"] == lab and student in one["students"]]
        found.sort(key=lambda one: one["time"])
        return found[:self.facts["limits"].get(lab, len(found))]

    def counted(self, student, lab, left):
        """Points, share and used late days of the attempt that counts, and its stages; None: nothing handed in."""
        due, last = self.due_of(student, lab)
        best = None
        for one in self.attempts_of(student, lab):
            stages = self.stages_of(lab, one["text"])
            points = sum(stages.values())
            days = days_begun(due + 60 * self.facts["late"]["grace_minutes"], one["time"], self.facts["zone"])
            free, share = 0, self.share(days)
            if one["time"] > last:
                share = Fraction(0)
            elif points > 0 and self.share(days - min(days, left)) > share:
                free = min(days, left)
                share = self.share(days - free)
            if best is None or points * share > best["points"]:
                best = {"points": points * share, "share": share, "free": free, "stages": stages}
        return best

    def row(self, student):
        """Each lab's grade: points of the lab's own maximum, whether excused, late days used; and the totals."""
        left, grades = self.facts["late"]["late_days"], {}
        for lab in sorted(self.labs, key=lambda one: (self.due_of(student, one)[0], one)):
            counts = self.counted(student, lab, left)
            grade = {"there": counts is not None, "points": Fraction(0), "free": 0, "excused": False, "marked": False}
            if counts:
                grade.update(points=counts["points"], free=counts["free"])
            marks = [one for one in self.facts["marks"] if (one["student"], one["lab"]) == (student, lab)]
            for mark in marks:  # at most one for a lab
                grade["marked"] = True
                if mark.get("excused"):
                    grade.update(excused=True, free=0)
                elif mark.get("stage"):
                    grade["points"] = Fraction(mark["points"]) + sum(
                        points * counts["share"] for n, points in counts["stages"].items() if n != mark["stage"])
                else:
                    grade.update(points=Fraction(mark["points"]), free=0)
            left -= grade["free"]
            grades[lab] = grade
        return grades

    def table(self):
        """By student: each lab's points of what it is worth (None: excused), total, maximum, late days used."""
        rows = {}
        for student in self.facts["people"]:
            grades = self.row(student)
            points = {lab: None if one["excused"] else one["points"] * self.worth(lab) / self.own_maximum(lab)
                      for lab, one in grades.items()}
            dropped = set()
            for rule in self.facts["best"]:
                labs = [lab for lab in sorted(rule["labs"]) if points[lab] is not None]
                labs.sort(key=lambda lab: points[lab] / self.worth(lab), reverse=True)
                dropped.update(labs[rule["count"]:])
            counting = [lab for lab in self.labs if points[lab] is not None and lab not in dropped]
            weight = {lab: Fraction(self.facts["weights"].get(lab, 1)) for lab in self.labs}
            rows[student] = {"grades": grades, "points": points,
                             "total": sum(points[lab] * weight[lab] for lab in counting),
                             "maximum": sum(self.worth(lab) * weight[lab] for lab in counting),
                             "late_days_used": sum(one["free"] for one in grades.values())}
        return rows
