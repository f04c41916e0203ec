// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/compile_jail.hpp"

#include <array>
#include <system_error>
#include <utility>

#include "grader/base/failpoint.hpp"
#include "grader/base/result.hpp"
#include "grader/base/strings.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

// Inside, the same for everybody: neither messages nor line tables tell where the course lies.
constexpr const char* kToolkit = "/toolkit";
constexpr const char* kCourse = "/course";
constexpr const char* kStudentHeaders = "grader/harness/student";
constexpr const char* kSource = "kernel.cu";
constexpr const char* kResult = "kernel.out";
constexpr const char* kRuntime = "/membound/cuda";

struct Tool {
  std::string inside;  // the compiler's path in the jail
  std::vector<jail::Binding> bindings;
};

/// A compiler below /usr is there already; any other brings the folder above its bin/.
Tool tool_of(const compilers::CompilerInfo& compiler) {
  std::error_code error;
  const fs::path whole = fs::canonical(compiler.program, error);
  const fs::path program = error ? compiler.program : whole;
  const fs::path home = program.parent_path().parent_path();
  if (home == "/usr" || program.string().starts_with("/usr/lib/")) return {program, {}};
  return {fs::path(kToolkit) / "bin" / program.filename(), {{home, kToolkit}}};
}

/// Of the lab's folder only the headers for the student: its tests and reference stay outside.
void add_headers(const fs::path& folder, const fs::path& inside,
                 std::vector<jail::Binding>& bindings) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".cuh" && entry->is_regular_file(error))
      bindings.push_back({entry->path(), inside / entry->path().filename()});
}

}  // namespace

jail::LimitHit limit_in_messages(std::string_view output) {
  static constexpr std::array<std::pair<std::string_view, jail::LimitHit>, 8> kWords = {{
      {"died due to signal 25", jail::LimitHit::kFileSize},
      {"File size limit exceeded", jail::LimitHit::kFileSize},
      {"No space left on device", jail::LimitHit::kFileSize},
      {"died due to signal 24", jail::LimitHit::kCpu},
      {"CPU time limit exceeded", jail::LimitHit::kCpu},
      {"virtual memory exhausted", jail::LimitHit::kMemory},
      {"out of memory", jail::LimitHit::kMemory},
      {"std::bad_alloc", jail::LimitHit::kMemory},
  }};
  for (const auto& [text, limit] : kWords)
    if (output.find(text) != std::string_view::npos) return limit;
  return jail::LimitHit::kNone;
}

base::Result<JailedCompile> compile_in_jail(const CompileRequest& request) {
  MEMBOUND_CHECK(request.graded.has_value());
  const Tool tool = tool_of(request.compiler);
  const std::string lab = "labs/" + request.lab_folder.filename().string();
  const fs::path course = kCourse;
  jail::JailRequest run;
  run.arguments = compilers::command_of({.kind = request.compiler.kind,
                                         .program = tool.inside,
                                         .architecture = request.architecture,
                                         .student = kStudentHeaders,
                                         .lab = lab,
                                         .source = kSource,
                                         .output = fs::path("/scratch") / kResult,
                                         .runtime = request.runtime.empty() ? "" : kRuntime,
                                         .library = request.library,
                                         .gaps = request.gaps});
  run.bindings = tool.bindings;
  run.bindings.push_back({request.root / kStudentHeaders, course / kStudentHeaders});
  add_headers(request.lab_folder, course / lab, run.bindings);
  run.bindings.push_back({request.source, course / kSource});
  if (!request.runtime.empty()) run.bindings.push_back({request.runtime, kRuntime});
  run.folder = course;
  run.hides_proc = true;
  run.collected = {kResult};
  run.limits = request.graded->limits;
  run.stop = request.stop;
  auto outcome = jail::run(run);
  if (!outcome) return outcome.error();

  JailedCompile made;
  made.limit = outcome->limit;
  made.stopped = outcome->stopped;
  made.seconds = outcome->seconds;
  made.output =
      base::switched_off("compile.printable") ? outcome->output : base::printable(outcome->output);
  const auto code = outcome->files.find(kResult);
  made.compiled = outcome->exit_code == 0 && made.limit == jail::LimitHit::kNone &&
                  code != outcome->files.end();
  if (made.compiled) made.code = std::move(code->second);
  if (!made.compiled && !made.stopped && made.limit == jail::LimitHit::kNone)
    made.limit = limit_in_messages(outcome->output);
  return made;
}

}  // namespace membound::judge
