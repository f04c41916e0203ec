// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/compile.hpp"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "grader/base/digest.hpp"
#include "grader/base/failpoint.hpp"
#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/result.hpp"
#include "grader/base/strings.hpp"
#include "grader/course/course_tree.hpp"
#include "grader/device_code/policy/policy.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

/// Begins with the mark of one of the two orders of bytes, or has a zero in every other byte.
bool is_utf16(std::string_view bytes) {
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) return true;
  constexpr std::size_t kEnough = 16;
  if (bytes.size() < kEnough) return false;
  const auto zeros_from = [&](std::size_t first) {
    for (std::size_t i = first; i < kEnough; i += 2)
      if (bytes[i] != '\0') return false;
    return true;
  };
  return zeros_from(0) != zeros_from(1);
}

/// Control characters but for those that space text out, and that of colours in a terminal.
bool is_no_text(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  constexpr unsigned char kEscape = 0x1B, kDelete = 0x7F;
  if (code == kDelete) return true;
  return code < ' ' && (code < '\t' || code > '\r') && code != kEscape;
}

/// Of `#include "NAME"` the name, if it names a file and no folder.
std::string included(std::string_view line) {
  const auto skip = [&](std::string_view word) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos || !line.substr(begin).starts_with(word)) return false;
    line.remove_prefix(begin + word.size());
    return true;
  };
  if (!skip("#") || !skip("include") || !skip("\"")) return "";
  const std::string_view name = line.substr(0, line.find('"'));
  return name.find('/') == std::string_view::npos ? std::string(name) : "";
}

// Inside, the same for everybody: neither messages nor line tables tell where the course lies.
constexpr const char* kToolkit = "/toolkit";
constexpr const char* kCourse = "/course";
constexpr const char* kStudentHeaders = "grader/harness/student";
constexpr const char* kRuntimeHeaders = "grader/device_code/cuda_api";  // for programs, with clang
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

/// The words of the toolchain's programs, and of the shell that nvcc starts them in, when a limit
/// has ended one of them or refused it something.
constexpr std::array<std::pair<std::string_view, jail::LimitHit>, 14> kWordsOfLimits = {{
    {"due to signal 25", jail::LimitHit::kFileSize},
    {"File size limit exceeded", jail::LimitHit::kFileSize},
    {"No space left on device", jail::LimitHit::kFileSize},
    {"due to signal 24", jail::LimitHit::kCpu},
    {"CPU time limit exceeded", jail::LimitHit::kCpu},
    {"virtual memory exhausted", jail::LimitHit::kMemory},
    {"out of memory", jail::LimitHit::kMemory},
    {"Memory allocation failure", jail::LimitHit::kMemory},
    {"std::bad_alloc", jail::LimitHit::kMemory},
    {"annot allocate memory", jail::LimitHit::kMemory},
    {"failed to map segment", jail::LimitHit::kMemory},
    {"annot fork", jail::LimitHit::kProcesses},
    {"Resource temporarily unavailable", jail::LimitHit::kProcesses},
    // Nobody but the kernel kills a compiler, and no other limit explains it: memory was short.
    {"Killed", jail::LimitHit::kMemory},
}};

/// What a shell, and after it nvcc, leaves with when a signal has ended a child.
constexpr int kEndedBySignal = 128;

/// Whether the compiler speaks in this line of a place in the source (`kernel.cu(3): error: …`,
/// `kernel.cu:3:5: error: …`), which may quote what stands there.
bool is_at_a_place(std::string_view line) {
  static constexpr std::array<std::string_view, 5> kKinds = {
      ": error", ": warning", ": fatal error", ": catastrophic error", ": note"};
  return std::any_of(kKinds.begin(), kKinds.end(), [&](std::string_view kind) {
    const std::size_t at = line.find(kind);
    if (at == std::string_view::npos || at == 0) return false;
    const char before = line[at - 1];
    return before == ')' || (before >= '0' && before <= '9');
  });
}

/// Whether a line of the compiler's output is its own, and not the student's words.
bool is_the_compilers(std::string_view line, std::string_view source) {
  if (line.ends_with("catastrophic error: out of memory")) return true;
  if (is_at_a_place(line)) return false;
  constexpr std::string_view kBar = " | ";  // after the number of a quoted line
  if (const std::size_t bar = line.find(kBar); bar != std::string_view::npos)
    line.remove_prefix(bar + kBar.size());
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return source.find(line) == std::string_view::npos;
}

/// Which limit ended a compiler that its supervisor has not ended: a program of the toolchain met
/// it, and the compiler's driver tells that by its exit code or in words.
jail::LimitHit limit_at_end(int exit_code, int signal, std::string_view output,
                            std::string_view source) {
  const int ended_by = signal != 0 ? signal : exit_code - kEndedBySignal;
  if (ended_by == SIGXFSZ) return jail::LimitHit::kFileSize;
  if (ended_by == SIGXCPU) return jail::LimitHit::kCpu;
  std::size_t end = 0;
  for (std::size_t begin = 0; begin < output.size(); begin = end + 1) {
    end = std::min(output.find('\n', begin), output.size());
    const std::string_view line = output.substr(begin, end - begin);
    for (const auto& [text, limit] : kWordsOfLimits)
      if (line.find(text) != std::string_view::npos && is_the_compilers(line, source)) return limit;
  }
  return ended_by == SIGKILL ? jail::LimitHit::kMemory : jail::LimitHit::kNone;
}

/// What a jailed compiler made.
struct JailedCompile {
  bool compiled = false;
  std::string code;    ///< the fatbin or PTX
  std::string output;  ///< printable
  jail::LimitHit limit = jail::LimitHit::kNone;
  bool stopped = false;
  double seconds = 0;
};

bool has_earlier_launches(const CompileRequest& request) {
  const auto text = base::read_file(request.source);
  return request.runtime.empty() && text && compilers::uses_earlier_launches(*text);
}

/// The compiler runs in a jail that holds the toolchain, the student headers and the one source
/// file under a fixed name, and nothing else. `request.graded` must be set. An error means that no
/// jail could be made.
base::Result<JailedCompile> compile_in_jail(const CompileRequest& request,
                                            std::string_view source) {
  MEMBOUND_CHECK(request.graded.has_value());
  const Tool tool = tool_of(request.compiler);
  const std::string lab = "labs/" + request.lab_folder.filename().string();
  const fs::path inside = kCourse;
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
                                         .red_zones = request.red_zones,
                                         .earlier_launches = has_earlier_launches(request)});
  run.bindings = tool.bindings;
  run.bindings.push_back(
      {course::own_copy(request.root, kStudentHeaders), inside / kStudentHeaders});
  add_headers(request.lab_folder, inside / lab, run.bindings);
  run.bindings.push_back({request.source, inside / kSource});
  if (!request.runtime.empty()) {
    run.bindings.push_back({request.runtime, kRuntime});
    run.bindings.push_back(
        {course::own_copy(request.root, kRuntimeHeaders), inside / kRuntimeHeaders});
  }
  run.folder = inside;
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
    made.limit = limit_at_end(outcome->exit_code, outcome->signal, outcome->output, source);
  return made;
}

constexpr std::size_t kCompilerOutputLimit = 256 * 1024;
/// Files kept in the cache; each is some ten kilobytes.
constexpr std::size_t kMostCached = 400;

fs::path student_folder(const CompileRequest& request) {
  return course::own_copy(request.root, kStudentHeaders);
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
  if (request.compiler.kind == compilers::DeviceCompiler::kClang) {
    const auto every_file = [](const fs::path&) { return true; };
    add(student_folder(request) / "clang", every_file);
    if (!request.runtime.empty()) {
      files.push_back(student_folder(request) / "clang.flags");
      const fs::path runtime = course::own_copy(request.root, kRuntimeHeaders);
      for (const fs::path& folder : {runtime, runtime / "include"}) add(folder, every_file);
    }
  }
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
                                .red_zones = request.red_zones,
                                .earlier_launches = has_earlier_launches(request)});
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
base::Status run_compiler(const CompileRequest& request, std::string_view source,
                          const fs::path& output, CompiledCode& code) {
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
  if (request.graded && !code.compiled && !code.timed_out && !code.stopped)
    code.limit = limit_at_end(run->exit_code, run->signal, run->output, source);
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

base::Status run_confined(const CompileRequest& request, std::string_view source,
                          const fs::path& output, CompiledCode& code) {
  const auto made = compile_in_jail(request, source);
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

/// Turns what the compiler said round to the student's lines.
void explain(const CompileRequest& request, const std::string& source, CompiledCode& code) {
  // Without the jail, to show what it is for: messages of other files than the submission too.
  if (base::switched_off("compile.jail")) return;
  const std::string name = confined(request) ? kSource : request.source.filename().string();
  compilers::CompilerMessages messages = compilers::explain_messages(code.output, name, source);
  // They quote the source, which may hold anything.
  const bool as_it_is = base::switched_off("compile.printable");
  code.output = as_it_is ? std::move(messages.text) : base::printable(messages.text);
  code.hint = as_it_is ? std::move(messages.hint) : base::printable(messages.hint);
}

}  // namespace

std::string why_not_text(std::string_view bytes) {
  if (is_utf16(bytes))
    return "kernel.cu is UTF-16, and compilers read UTF-8. Save it with the encoding UTF-8.";
  const auto bad = std::find_if(bytes.begin(), bytes.end(), is_no_text);
  if (bad == bytes.end()) return "";
  const auto line = 1 + std::count(bytes.begin(), bad, '\n');
  const auto place = 1 + (bad - bytes.begin());
  return "kernel.cu is no text: of its " + std::to_string(bytes.size()) + " bytes number " +
         std::to_string(place) + ", in line " + std::to_string(line) + ", is a byte " +
         std::to_string(static_cast<int>(*bad)) +
         ", which no text has. Hand in the source as your editor saves it, not what a program made "
         "of it.";
}

std::string notes_on_headers(const std::filesystem::path& source, std::string_view text) {
  std::string notes;
  std::istringstream lines{std::string(text)};
  int number = 1;
  for (std::string line; std::getline(lines, line); ++number) {
    const std::string name = included(line);
    std::error_code ignored;
    if (name.empty() || name == "kernel.cuh" ||
        !std::filesystem::exists(source.parent_path() / name, ignored))
      continue;
    notes +=
        source.filename().string() + ":" + std::to_string(number) + ": note: \"" + name +
        "\" lies in your folder alone, and only this file is handed in: put what it has here\n";
  }
  return notes;
}

course::GradeVerdict grade_verdict_of(const CompiledCode& code) {
  if (!code.rejected.empty()) return course::GradeVerdict::kPolicyReject;
  if (code.limit == jail::LimitHit::kOutput) return course::GradeVerdict::kOutputLimit;
  if (code.limit != jail::LimitHit::kNone || code.timed_out)
    return course::GradeVerdict::kCompileLimit;
  return course::GradeVerdict::kCompileError;
}

base::Result<CompiledCode> compile(const CompileRequest& request) {
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
        std::string(request.library ? "library" : ""),
        std::string(request.red_zones ? "red zones" : ""),
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
  const auto done = confined(request) ? run_confined(request, *source, part, code)
                                      : run_compiler(request, *source, part, code);
  if (!done) return done.error();
  if (!code.compiled) {
    fs::remove(part, error);
    if (code.rejected.empty() && !code.stopped) explain(request, *source, code);
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
