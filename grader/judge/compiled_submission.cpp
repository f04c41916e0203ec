// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/compiled_submission.hpp"

#include <algorithm>

#include "grader/base/failpoint.hpp"
#include "grader/device_code/compilers/compiler.hpp"
#include "grader/judge/build_info.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

CompileRequest compile_request(const BuildRequest& request, const course::StageKind& kind,
                               const fs::path& source) {
  CompileRequest compile;
  compile.source = source;
  compile.root = request.place.root;
  compile.lab_folder = lab_files(request.place, *request.lab);
  compile.compiler = request.compiler;
  compile.architecture = request.architecture;
  compile.cache_folder = request.place.state / "cache";
  compile.stop = request.stop;
  if (&kind == &course::kProgramStage) compile.runtime = request.place.build / "forward";
  return compile;
}

/// How the submission is compiled for stages of this kind.
CompileRequest submission_request(const BuildRequest& request, const course::StageKind& kind) {
  CompileRequest submission = compile_request(request, kind, request.submission);
  submission.graded = request.graded;
  if (submission.graded) {
    auto& allowed = submission.graded->allowed;
    allowed.insert(allowed.end(), request.lab->allows.begin(), request.lab->allows.end());
  }
  return submission;
}

/// Whether the reference answer of the build is for the device. A virtual GPU takes any; a real
/// one, machine code of its compute capability by this nvcc, or PTX for one that is not newer than
/// it.
bool is_for_device(const BuildRequest& request) {
  if (request.target.capability == 0) return true;
  if (request.compiler.kind == compilers::DeviceCompiler::kClang)
    return request.target.capability >= compilers::kClangArchitecture;
  return request.architecture == kArchitecture && request.compiler.version == kNvccVersion;
}

/// What a course that came without answers has for a card instead; empty: nothing.
fs::path released_for_card(const BuildRequest& request) {
  const fs::path folder = request.place.tree(*request.lab) / "released" / request.lab->id;
  std::error_code ignored;
  if (request.compiler.kind == compilers::DeviceCompiler::kClang) {
    const fs::path file = folder / "reference.sm_60.ptx";
    return fs::exists(file, ignored) ? file : fs::path();
  }
  for (int card = request.target.capability; card >= compilers::kOldestCard; --card)
    if (fs::path file = folder / ("reference.sm_" + std::to_string(card) + ".fatbin");
        fs::exists(file, ignored))
      return file;
  return {};
}

/// Finds the reference answer for a part, compiled by the submission's compiler, or the ratio would
/// compare compilers. The build made one with each compiler that it found.
base::Result<fs::path> find_reference(const BuildRequest& request, const CompiledPart& part) {
  fs::path built = built_reference(request.place, *request.lab, request.compiler.kind);
  std::error_code ignored;
  const bool is_built = fs::exists(built, ignored);
  if ((is_built && is_for_device(request)) || !part.submission.compiled) return built;
  if (fs::path released = released_for_card(request); !released.empty()) return released;
  const fs::path source = reference_source(request.place, *request.lab);
  if (!fs::exists(source, ignored)) {
    const std::string name(to_string(request.compiler.kind));
    return base::Error{
        base::ErrorKind::kUsage, "--compiler " + name,
        "this course came without a reference answer compiled by " + name +
            (is_built ? " for this GPU" : ""),
        "",
        "--compiler " + std::string(request.compiler.kind == compilers::DeviceCompiler::kNvcc
                                        ? "clang"
                                        : "nvcc")};
  }
  const auto reference = compile(compile_request(request, *part.kind, source));
  if (!reference) return reference.error();
  if (!reference->compiled && !reference->stopped) {
    return base::Error{
        base::ErrorKind::kInternal, source.string(),
        "does not compile with " + request.compiler.name() + ":\n" + reference->output,
        "a reference answer that compiles", "--compiler nvcc"};
  }
  return reference->file;
}

/// The reference program; empty in a course that came without answers.
base::Result<fs::path> find_reference_program(const BuildRequest& request,
                                              const CompiledPart& part) {
  const fs::path source = reference_source(request.place, *request.lab);
  if (std::error_code ignored; !fs::exists(source, ignored)) return fs::path();
  const auto reference = compile(compile_request(request, *part.kind, source));
  if (!reference) return reference.error();
  return reference->compiled ? reference->file : fs::path();
}

/// Compiles what the stages of one kind need.
base::Status compile_part(const BuildRequest& request, CompiledPart& part) {
  CompileRequest submission = submission_request(request, *part.kind);
  auto code = compile(submission);
  if (!code) return code.error();
  part.submission = std::move(*code);
  if (request.times_programs && part.kind->needs_timeline && part.submission.compiled) {
    auto reference = find_reference_program(request, part);
    if (!reference) return reference.error();
    part.reference = *std::move(reference);
  }
  if (!part.kind->has_reference) return base::Done{};
  if (base::switched_off("compile.device-only") && part.submission.compiled) {
    // As it is where a submission is compiled whole and linked with its tests.
    submission.runtime = request.place.build / "forward";
    submission.library = true;
    const auto library = compile(submission);
    if (!library) return library.error();
    part.preload = library->file;
  }
  auto reference = find_reference(request, part);
  if (!reference) return reference.error();
  part.reference = *std::move(reference);
  return base::Done{};
}

/// The stages that were asked for, kind by kind.
std::vector<CompiledPart> parts_of(const BuildRequest& request) {
  std::vector<CompiledPart> parts;
  for (const course::StageKind* kind : request.lab->kinds()) {
    CompiledPart part{kind, {}};
    for (const int number : request.stages)
      if (request.lab->stage(number)->kind == kind) part.stages.push_back(number);
    if (!part.stages.empty()) parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace

std::string compile_reason(const CompiledCode& code) {
  if (!code.not_text.empty()) return code.not_text;
  if (!code.rejected.empty()) return code.rejected;
  if (code.limit != jail::LimitHit::kNone && !code.timed_out)
    return "The compiler reached a limit and was ended: " + std::string(to_string(code.limit)) +
           ".";
  if (code.timed_out)
    return "The compiler took too long and was ended. Very deep templates or loops unrolled many "
           "times do that, in any stage of the file, and so does a machine that is busy: try once "
           "more.";
  return code.hint.empty() ? compilers::compile_hint(code.output) : code.hint;
}

bool CompiledSubmission::any_compiled() const {
  return std::any_of(parts.begin(), parts.end(),
                     [](const CompiledPart& part) { return part.submission.compiled; });
}

const CompiledCode& CompiledSubmission::first_problem() const {
  const auto bad = std::find_if(parts.begin(), parts.end(),
                                [](const CompiledPart& part) { return !part.submission.compiled; });
  return (bad == parts.end() ? parts.front() : *bad).submission;
}

const fs::path& CompiledSubmission::file() const {
  return std::find_if(parts.begin(), parts.end(),
                      [](const CompiledPart& part) { return part.submission.compiled; })
      ->submission.file;
}

const CompiledPart* CompiledSubmission::with_reference() const {
  const auto found = std::find_if(parts.begin(), parts.end(), [](const CompiledPart& part) {
    return part.submission.compiled && part.kind->has_reference;
  });
  return found == parts.end() ? nullptr : &*found;
}

base::Result<CompiledSubmission> compile_submission(const BuildRequest& request) {
  CompiledSubmission whole{parts_of(request)};
  for (CompiledPart& part : whole.parts) {
    if (const auto done = compile_part(request, part); !done) return done.error();
  }
  return whole;
}

base::Result<fs::path> compile_with_red_zones(
    const BuildRequest& request, const course::StageKind& kind,
    const std::vector<course::StageMeasurement>& measurements) {
  const auto has_locals = [](const course::KernelFacts& kernel) { return kernel.local_bytes > 0; };
  const auto any_has = [&](const course::StageMeasurement& stage) {
    return std::any_of(stage.kernels.begin(), stage.kernels.end(), has_locals);
  };
  if (std::none_of(measurements.begin(), measurements.end(), any_has)) return fs::path();
  CompileRequest compiled = submission_request(request, kind);
  if (!compiled.runtime.empty()) return fs::path();  // red zones are for kernels alone
  if (compiled.compiler.kind != compilers::DeviceCompiler::kClang) {
    auto clang = compilers::find_compiler(compilers::DeviceCompiler::kClang,
                                          compilers::compiler_places(request.place.root));
    if (!clang) return fs::path();
    compiled.compiler = *std::move(clang);
  }
  compiled.red_zones = true;
  // What tells of a red zone is no function of the student's.
  if (compiled.graded) compiled.graded->allowed.emplace_back(".extern");
  const auto code = compile(compiled);
  if (!code) return code.error();
  return code->file;
}

}  // namespace membound::judge
