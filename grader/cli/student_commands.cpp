// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/action.hpp"
#include "grader/cli/command_line.hpp"

namespace membound::cli {

void add_student_commands(CommandLine& line) {
  line.add(add_list);        // labs, stages, progress
  line.add(add_progress);    // the course as a ladder
  line.add(add_next);        // what to do next
  line.add(add_handout);     // what to read first
  line.add(add_predict);     // what one thinks a stage will count
  line.add(add_check);       // is it right, how fast is it, what next
  line.add(add_watch);       // check on every save
  line.add(add_profile);     // what each line costs, what bounds the kernel
  line.add(add_ptx);         // the instructions that each line became
  line.add(add_compare);     // one kernel on GPUs of several generations
  line.add(add_experiment);  // the handouts' experiments, beside printed figures
  line.add(add_hint);        // a nudge that follows from the last check
  line.add(add_solution);    // our answer beside one's own
  line.add(add_reset);       // the skeleton back
  line.add(add_doctor);      // what this machine can do
  line.add(add_run);         // any CUDA program on the virtual GPU
}

}  // namespace membound::cli
