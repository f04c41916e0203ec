// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/error_output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "grader/base/system_text.hpp"
#include "grader/cli/action.hpp"
#include "grader/report/style.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {

int report_error(const base::Error& error) {
  const report::Style style = report::Style::for_stream(STDERR_FILENO);
  std::string text = error.where.empty() ? "" : error.where + ": ";
  text += error.found;
  std::string out = style.paint("membound:", report::Tone::kBad) + " ";
  // The coloured word is nine columns wide, and so is what the rest is wrapped around.
  out += report::wrapped("membound: " + text, style.width, 0).substr(10);
  if (!error.expected.empty())
    out += report::wrapped("expected: " + error.expected, style.width, 2);
  if (!error.advice.empty()) out += report::wrapped("try: " + error.advice, style.width, 2);
  std::fputs(out.c_str(), stderr);
  return base::exit_code_of(error.kind);
}

int report_exception(const std::exception& error) {
  report_error({base::ErrorKind::kMachine, "", error.what(), "", "membound doctor"});
  return kExitOurFault;
}

base::Status finish_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return base::Done{};
  const std::string reason = errno == 0 ? "" : ": " + base::reason_text(errno);
  return base::Error{base::ErrorKind::kMachine, "standard output",
                     "not all of it could be written" + reason, "a disk with room, or a terminal",
                     "send the output elsewhere"};
}

void report_note(const std::string& text) {
  const report::Style style = report::Style::for_stream(STDERR_FILENO);
  std::fputs(report::wrapped("membound: note: " + text, style.width, 0).c_str(), stderr);
}

}  // namespace membound::cli
