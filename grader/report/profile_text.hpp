// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the virtual GPU saw of a kernel, as text for a terminal: what bounds it, what each
/// source line costs, what makes it slow and what to try.
#pragma once

#include <string>
#include <vector>

#include "grader/course/lab_result.hpp"
#include "grader/report/diagnostics.hpp"
#include "grader/report/text.hpp"

namespace membound::report {

/// The kernel that takes the most time of all a stage launched; null where none was counted.
[[nodiscard]] const course::KernelProfile* costliest(const course::StageResult& stage);

/// Whether `finding` stands in the table of the guided analysis already.
[[nodiscard]] bool is_advice(const course::Finding& finding, const course::StageResult& stage);

/// "line 26", or nothing where no line is to blame.
[[nodiscard]] std::string place_of(const course::SpeedAdvice& advice);

/// The counter that shows it: "shared_wavefronts 557,056", and by whom where two counted.
[[nodiscard]] std::string evidence_of(const course::SpeedAdvice& advice);

/// The handout that explains it: "05-bank-conflicts, When does it cost time?".
[[nodiscard]] std::string explained_in(const course::SpeedAdvice& advice);

/// The first few faults, the largest gain first; nothing where there are none.
[[nodiscard]] std::string render_advice(const course::KernelProfile& kernel, const Style& style);

/// One row of a profile's table: a line and one kind of access, or branches that diverged.
struct ProfileRow {
  int line = 0;
  std::string access;       ///< "load", "shared store", "branch", …
  std::string requests;     ///< "131,072"
  std::string per_request;  ///< "32 sectors", "25 % diverge"
  std::string ideal;        ///< "4"; empty where none is defined
  bool wasteful = false;    ///< above its ideal, in a stage that does not earn all points
};

/// The rows of one kernel in the order of the source. Lines of headers are left out.
[[nodiscard]] std::vector<ProfileRow> profile_rows(const course::StageResult& stage,
                                                   const course::KernelProfile& kernel);

/// Lines of `source` that `kernel` spends instructions on: first and last, widened by a few; both 0
/// where there are none.
[[nodiscard]] std::pair<int, int> lines_shown(const course::KernelProfile& kernel,
                                              const SourceText& source);

/// "8 blocks of 256 threads; 24 registers a thread, 0 bytes shared memory a block": a kernel's
/// launch in words.
[[nodiscard]] std::string launch_in_words(const course::KernelProfile& kernel);

/// "latency; without bank conflicts it would take 979 us": the longest bound, and the fault whose
/// end would gain most. The two may differ: waiting for conflicts is latency, too.
[[nodiscard]] std::string bound_words(const course::KernelProfile& kernel);

/// Why the predicted time is more than the longest bound; empty where it hardly is.
[[nodiscard]] std::string overlap_words(const course::KernelProfile& kernel);

/// Below a kernel's name: its launch, what bounds it, its lines, what would make it faster.
[[nodiscard]] std::string render_kernel(const course::StageResult& stage,
                                        const course::KernelProfile& kernel,
                                        const SourceText& source, const Style& style);

/// All kernels of a stage.
[[nodiscard]] std::string render_profile(const course::StageResult& stage, const SourceText& source,
                                         const Style& style);

}  // namespace membound::report
