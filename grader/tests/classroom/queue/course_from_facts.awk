# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# The course table of a term from its facts alone, for term_test.cpp: what the grader's own table must be.
# Facts, a line each:
#   D,lab,due,grace,percent,worth,last   what holds for a lab: seconds, seconds, percent a day, points of ten, seconds
#   B,days,percent                   free late days of each student; what being late costs at most
#   E,student,lab,due                an extension
#   S,student,lab,time,points        an attempt: when, and what it got of ten before lateness
#   M,student,lab,points             what a person decided, of ten
#   R,student                        somebody of the class
# Out: student, a column for each lab in the order of D, the total.
BEGIN { FS = "," }
$1 == "D" { labs[++lab_count] = $2; due[$2] = $3; grace[$2] = $4; percent[$2] = $5; worth[$2] = $6; last[$2] = $7 }
$1 == "B" { budget = $2; cap = $3 }
$1 == "E" { extended[$2, $3] = $4 }
$1 == "S" { count = ++attempts[$2, $3]; time[$2, $3, count] = $4; points[$2, $3, count] = $5 }
$1 == "M" { mark[$2, $3] = $4; marked[$2, $3] = 1 }
$1 == "R" { students[++student_count] = $2 }

function share_of(days, lab,    lost) {
  lost = days * percent[lab]
  return 100 - (lost > cap ? cap : lost)
}

# The best attempt of a student where `left` late days are left; `used` is how many of these it takes.
function best(student, lab,    i, late, days, share, most, until, free) {
  most = -1
  used = 0
  for (i = 1; i <= attempts[student, lab]; ++i) {
    late = time[student, lab, i] - due[lab]
    until = last[lab]
    if (((student, lab) in extended) && extended[student, lab] > due[lab]) {
      late = time[student, lab, i] - extended[student, lab]
      if (extended[student, lab] > until) until = extended[student, lab]
    }
    late -= grace[lab]
    days = 0
    while (late > 0) { ++days; late -= 86400 }
    free = days < left ? days : left
    if (time[student, lab, i] > until) { share = 0; free = 0 }
    else if (points[student, lab, i] == 0 || share_of(days, lab) >= share_of(days - free, lab)) { share = share_of(days, lab); free = 0 }
    else share = share_of(days - free, lab)
    if (points[student, lab, i] * share / 100 > most) { most = points[student, lab, i] * share / 100; used = free }
  }
  return most < 0 ? 0 : most
}

END {
  for (s = 1; s <= student_count; ++s) {
    line = students[s]
    total = 0
    left = budget
    for (l = 1; l <= lab_count; ++l) {
      if ((students[s], labs[l]) in marked) got = mark[students[s], labs[l]]
      else { got = best(students[s], labs[l]); left -= used }
      got = got / 10 * worth[labs[l]]
      total += got
      line = line "," sprintf("%.6f", got)
    }
    print line "," sprintf("%.6f", total)
  }
}
