// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/compile.hpp"

#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "grader/base/digest.hpp"
#include "grader/base/failpoint.hpp"
#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/strings.hpp"
#include "grader/device_code/policy/policy.hpp"
#include "grader/judge/compile_jail.hpp"
#include "grader/judge/source_text.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCompilerOutputLimit = 256 * 1024;
/// Files kept in the cache; each is some ten kilobytes.
constexpr std::size_t kMostCached = 400;

fs::path student_folder(const CompileRequest& request) {
  return request.root / "grader" / "harness" / "student";
}

fs::path flags_file(const CompileRequest& request) {
  return student_folder(request) / (std::string(to_string(request.compiler.kind)) +
                                    (request.runtime.empty() ? ".flags" : "-program.flags"));
}

/// Below the root as a path from the root: short in messages, and the same on every machine.
fs::path shown_path(const fs::path& file, const fs::path& root) {
  std::error_code ignored;
  const fs::path whole = fs::weakly_canonical(file, ignored);
  const fs::path relative = whole.lexically_relative(fs::weakly_canonical(root, ignored));
  return relative.empty() || *relative.begin() == ".." ? whole : relative;
}

/// Text of every header that the source may include, and of what clang needs besides.
std::string header_texts(const CompileRequest& request) {
  std::vector<fs::path> files;
  const auto add = [&](const fs::path& folder, const auto& is_wanted) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
      if (is_wanted(entry->path().extension())) files.push_back(entry->path());
  };
  const auto is_header = [](const fs::path& extension) {
    return extension == ".cuh" || extension == ".h" || extension == ".hpp";
  };
  for (const fs::path& folder :
       {student_folder(request), request.lab_folder, request.source.parent_path()})
    add(folder, is_header);
  if (request.compiler.kind == compilers::DeviceCompiler::kClang)
    add(student_folder(request) / "clang", [](const fs::path&) { return true; });
  std::sort(files.begin(), files.end());
  std::string text;
  for (const fs::path& file : files) {
    const auto content = base::read_file(file);
    text += file.filename().string() + '\0' + (content ? *content : "") + '\0';
  }
  return text;
}

std::vector<std::string> command(const CompileRequest& request, const fs::path& output) {
  return compilers::command_of({.kind = request.compiler.kind,
                                .program = request.compiler.program,
                                .architecture = request.architecture,
                                .student = shown_path(student_folder(request), request.root),
                                .lab = shown_path(request.lab_folder, request.root),
                                .source = shown_path(request.source, request.root),
                                .output = output,
                                .runtime = request.runtime,
                                .library = request.library,
                                .gaps = request.gaps});
}

/// Keeps the newest files only. Another process may do the same at the same moment: every failure
/// is one that does not matter.
void trim(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    files.emplace_back(fs::last_write_time(entry->path(), ignored), entry->path());
  }
  if (files.size() <= kMostCached) return;
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i < files.size() / 2; ++i) fs::remove(files[i].second, error);
}

/// What a graded compile depends on besides: the same text may not be allowed in another lab.
std::string mark_of(const GradedCompile& graded) {
  std::string mark = "graded";
  for (const std::string& name : graded.allowed) mark += " " + name;
  return mark;
}

struct CachePlace {
  fs::path code;      // the fatbin or PTX
  fs::path messages;  // what the compiler printed while making it
};

CachePlace place_of(const CompileRequest& request, const std::string& key) {
  const std::string ending = request.runtime.empty()
                                 ? std::string(compilers::code_ending(request.compiler.kind))
                                 : ".program";
  return {request.cache_folder / (key + ending), request.cache_folder / (key + ".txt")};
}

bool confined(const CompileRequest& request) {
  return request.graded && request.graded->confined && !base::switched_off("compile.jail");
}

/// Sets `rejected` where the compiled code holds what this lab does not allow.
void hold_against_policy(const CompileRequest& request, std::string_view compiled,
                         CompiledCode& code) {
  const auto breaches = policy::check_policy(compiled, request.graded->allowed);
  if (!breaches) {
    // The parser knows all that compilers write; whoever made it write something else meant to.
    code.rejected = "kernel.cu: compiles to PTX that cannot be checked: " +
                    base::printable(breaches.error().found) + "\n";
    return;
  }
  for (const policy::Breach& breach : *breaches)
    code.rejected += base::printable(to_string(breach)) + "\n";
}

/// As people see it: printable, and without where on this machine the submission lies.
std::string graded_output(const CompileRequest& request, std::string output) {
  const std::string place = shown_path(request.source, request.root).string();
  const std::string name = request.source.filename().string();
  for (auto at = output.find(place); at != std::string::npos; at = output.find(place, at))
    output.replace(at, place.size(), name), at += name.size();
  return base::printable(output);
}

/// Sets what is known of the run, and `compiled`.
base::Status run_compiler(const CompileRequest& request, const fs::path& output,
                          CompiledCode& code) {
  const auto run = base::run_process({.arguments = command(request, output),
                                      .folder = request.root,
                                      .timeout_seconds = request.timeout_seconds,
                                      .output_limit_bytes = kCompilerOutputLimit,
                                      .stop = request.stop});
  if (!run) return run.error();
  code.output = request.graded ? graded_output(request, run->output) : run->output;
  code.seconds = run->seconds;
  code.timed_out = run->timed_out;
  code.stopped = run->stopped;
  code.compiled = run->exit_code == 0;
  if (code.compiled && !request.graded && !request.library)
    if (const auto text = base::read_file(request.source); text)
      code.output += notes_on_headers(request.source, *text);
  if (!code.compiled || !request.graded) return base::Done{};
  const auto made = base::read_file(output);
  if (!made) return made.error();
  hold_against_policy(request, *made, code);
  code.compiled = code.rejected.empty();
  return base::Done{};
}

base::Status run_confined(const CompileRequest& request, const fs::path& output,
                          CompiledCode& code) {
  const auto made = compile_in_jail(request);
  if (!made) return made.error();
  code.output = made->output;
  code.seconds = made->seconds;
  code.stopped = made->stopped;
  code.limit = made->limit;
  code.timed_out = made->limit == jail::LimitHit::kWall || made->limit == jail::LimitHit::kCpu;
  if (!made->compiled) return base::Done{};
  hold_against_policy(request, made->code, code);
  code.compiled = code.rejected.empty();
  if (!code.compiled) return base::Done{};
  return base::write_file(output, made->code);
}

}  // namespace

course::GradeVerdict grade_verdict_of(const CompiledCode& code) {
  if (!code.rejected.empty()) return course::GradeVerdict::kPolicyReject;
  if (code.limit == jail::LimitHit::kOutput) return course::GradeVerdict::kOutputLimit;
  if (code.limit != jail::LimitHit::kNone || code.timed_out)
    return course::GradeVerdict::kCompileLimit;
  return course::GradeVerdict::kCompileError;
}

base::Result<CompiledCode> compile(const CompileRequest& request) {
  if (!request.runtime.empty() && request.compiler.kind != compilers::DeviceCompiler::kNvcc)
    return base::Error{
        base::ErrorKind::kUsage, request.source.string(),
        "is a whole program, which nvcc alone compiles, and not " + request.compiler.name(), "nvcc",
        "call it with --compiler nvcc; ./membound fetches nvcc where it is missing"};
  const auto source = base::read_file(request.source);
  if (!source) return source.error();
  const auto flags = base::read_file(flags_file(request));
  if (!flags) return flags.error();

  CompiledCode code;
  code.sha256 = base::sha256(*source);
  code.not_text = why_not_text(*source);
  if (!code.not_text.empty()) return code;
  // The path is part of the name because line tables and messages hold it.
  std::string everything;
  for (const std::string& part :
       {request.compiler.name(), *flags, request.architecture,
        request.graded ? mark_of(*request.graded) : "",
        std::string(request.library ? "library" : ""), std::string(request.gaps ? "gaps" : ""),
        confined(request) ? "" : shown_path(request.source, request.root).string(),
        header_texts(request), *source})
    everything += std::to_string(part.size()) + ":" + part;
  const CachePlace place = place_of(request, base::sha256(everything));
  std::error_code error;
  if (fs::exists(place.code, error)) {
    const auto messages = base::read_file(place.messages);
    code.compiled = code.from_cache = true;
    code.file = place.code;
    if (messages) code.output = *messages;
    fs::last_write_time(place.code, fs::file_time_type::clock::now(), error);
    return code;
  }

  fs::create_directories(request.cache_folder, error);
  if (error) {
    return base::Error{base::ErrorKind::kMachine, request.cache_folder.string(),
                       "cannot be made: " + error.message(), "a folder for compiled kernels",
                       "check the rights of the course's folder and that the disk is not full"};
  }
  // Not two writers of one file, whether they are processes or threads.
  const fs::path part = place.code.string() + "." + std::to_string(gettid()) + ".part";
  const auto done =
      confined(request) ? run_confined(request, part, code) : run_compiler(request, part, code);
  if (!done) return done.error();
  if (!code.compiled) {
    fs::remove(part, error);
    return code;
  }
  const auto messages = base::write_file(place.messages, code.output);
  if (!messages) return messages.error();
  if (!request.runtime.empty())
    fs::permissions(part,
                    fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                        fs::perms::others_read | fs::perms::others_exec,
                    error);
  fs::rename(part, place.code, error);
  if (error) {
    return base::Error{base::ErrorKind::kMachine, place.code.string(),
                       "cannot be written: " + error.message(), "",
                       "check the rights and the disk"};
  }
  code.file = place.code;
  trim(request.cache_folder);
  return code;
}

}  // namespace membound::judge
