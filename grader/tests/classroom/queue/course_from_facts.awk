# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# The course table of a term from its facts alone, for term_test.cpp: what the grader's own table must be.
# Facts, a line each:
#   D,lab,due,grace,percent,worth    what holds for a lab: seconds, seconds, percent a day, points of ten
#   E,student,lab,due                an extension
#   S,student,lab,time,points        an attempt: when, and what it got of ten before lateness
#   M,student,lab,points             what a person decided, of ten
#   R,student                        somebody of the class
# Out: student, a column for each lab in the order of D, the total.
BEGIN { FS = "," }
$1 == "D" { labs[++lab_count] = $2; due[$2] = $3; grace[$2] = $4; percent[$2] = $5; worth[$2] = $6 }
$1 == "E" { extended[$2, $3] = $4 }
$1 == "S" { count = ++attempts[$2, $3]; time[$2, $3, count] = $4; points[$2, $3, count] = $5 }
$1 == "M" { mark[$2, $3] = $4; marked[$2, $3] = 1 }
$1 == "R" { students[++student_count] = $2 }

function best(student, lab,    i, late, days, share, most) {
  most = 0
  for (i = 1; i <= attempts[student, lab]; ++i) {
    late = time[student, lab, i] - due[lab]
    if (((student, lab) in extended) && extended[student, lab] > due[lab])
      late = time[student, lab, i] - extended[student, lab]
    late -= grace[lab]
    days = 0
    while (late > 0) { ++days; late -= 86400 }
    share = 100 - days * percent[lab]
    if (share < 0) share = 0
    if (points[student, lab, i] * share / 100 > most) most = points[student, lab, i] * share / 100
  }
  return most
}

END {
  for (s = 1; s <= student_count; ++s) {
    line = students[s]
    total = 0
    for (l = 1; l <= lab_count; ++l) {
      got = ((students[s], labs[l]) in marked) ? mark[students[s], labs[l]] : best(students[s], labs[l])
      got = got / 10 * worth[labs[l]]
      total += got
      line = line "," sprintf("%.6f", got)
    }
    print line "," sprintf("%.6f", total)
  }
}
