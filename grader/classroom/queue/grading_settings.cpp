// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/grading_settings.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/classroom/intake/course_rules.hpp"
#include "grader/judge/check_device.hpp"
#include "grader/judge/compile.hpp"
#include "grader/judge/stage_runs.hpp"
#include "grader/sandbox/jail/jail.hpp"

namespace membound::queue {
namespace {

namespace fs = std::filesystem;

/// Adds a name and a file's content to a digest.
base::Status add_file(base::Sha256& digest, const fs::path& file) {
  const auto text = base::read_file(file);
  if (!text) {
    return base::Error{base::ErrorKind::kMachine, file.string(), "is not built, or cannot be read",
                       "what the build makes for grading",
                       "start with ./membound, which builds what is missing"};
  }
  digest.add(file.filename().string() + '\0' + std::to_string(text->size()) + '\0');
  digest.add(*text);
  return base::Done{};
}

/// What a submission's speed is held against: the reference answer that the build made with the
/// batch's compiler, or the source that the judge compiles where there is none.
fs::path reference_of(const Settings& settings, const course::Lab& lab) {
  const fs::path built = judge::built_reference(settings.place, lab, settings.compiler.kind);
  const fs::path source = judge::reference_source(settings.place, lab);
  std::error_code ignored;
  return fs::exists(built, ignored) || !fs::exists(source, ignored) ? built : source;
}

/// What the build made that has a part in a verdict on `lab`, each once.
std::vector<fs::path> harness_of(const Settings& settings, const course::Lab& lab) {
  std::vector<fs::path> files;
  const auto add = [&](const std::vector<fs::path>& more) {
    for (const fs::path& file : more)
      if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  };
  for (const course::StageKind* kind : lab.kinds()) {
    const judge::StageBackend& backend = judge::backend_of(*kind);
    add({judge::test_program(settings.place, lab, *kind)});
    if (lab.has_oracle()) add({lab.folder / course::kOracleSource});
    add(backend.needed(backend.parts(settings.place, reference_of(settings, lab))));
  }
  // In jails, every kind of stage is run by runners.
  if (!settings.trust_submissions)
    add(judge::program_backend().needed(judge::program_backend().parts(settings.place, {})));
  for (const course::StageKind* kind : lab.kinds())
    add(judge::device_of(*kind, settings.device, settings.place).kind->parts(settings.place.build));
  // Right results are looked at a second time on the virtual GPU, whatever they were timed on.
  const fs::path& build = settings.place.build;
  add(judge::virtual_gpu(judge::kDefaultModel, build).kind->parts(build));
  return files;
}

base::Result<std::string> digest_of(const std::vector<fs::path>& files, const std::string& more) {
  base::Sha256 digest;
  digest.add(more + '\0');
  for (const fs::path& file : files) {
    const auto added = add_file(digest, file);
    if (!added) return added.error();
  }
  return digest.finish();
}

/// Only where it is not the usual one, so that the usual limits have one text.
std::string device_time(const Settings& settings) {
  if (settings.device_seconds == Settings::kDeviceSeconds) return "";
  if (settings.device_seconds == 0) return ", device time: no limit in all";
  return ", device time: " + std::to_string(static_cast<int>(settings.device_seconds)) +
         " s in all";
}

std::vector<fs::path> headers_in(const fs::path& folder) {
  std::vector<fs::path> headers;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->is_regular_file(error)) headers.push_back(entry->path());
  std::sort(headers.begin(), headers.end());
  return headers;
}

}  // namespace

base::Result<std::string> limits_in_force(const Settings& settings) {
  if (!settings.trust_submissions) {
    const jail::Enforcement& here = jail::probe();
    if (here.untrusted_ok())
      return "compiler and runner in jails; " + here.describe() + device_time(settings);
    return base::Error{base::ErrorKind::kMachine, "grading",
                       "nothing here confines what strangers hand in: " + here.describe(),
                       "bubblewrap and user namespaces, see docs/security.md",
                       "--trust-submissions, if you know everybody who handed something in"};
  }
  return "trusted submissions: wall clock " +
         std::to_string(static_cast<int>(settings.seconds_per_stage)) + " s a stage and " +
         std::to_string(judge::kLongestCompileSeconds) +
         " s for the compiler (supervisor); memory, files and network: none";
}

base::Result<course::GradeDigests> digests_of(const Settings& settings, const course::Lab& lab,
                                              const std::string& limits) {
  const std::vector<fs::path> harness = harness_of(settings, lab);
  course::GradeDigests digests;
  // A machine of the instructor's own is no part of the build.
  const auto machine = settings.device.environment.find("MEMBOUND_MACHINE");
  auto part = digest_of(
      harness, settings.version +
                   (machine == settings.device.environment.end() ? "" : " " + machine->second));
  if (!part) return part.error();
  digests.harness = *part;
  part = digest_of(headers_in(settings.place.root / "grader" / "harness" / "student"),
                   settings.compiler.name() + " " + settings.architecture);
  if (!part) return part.error();
  digests.toolchain = *part;
  part = digest_of({lab.folder / "lab.json", lab.folder / "kernel.cuh"}, lab.id);
  if (!part) return part.error();
  digests.lab = *part;
  std::string arguments;
  for (const std::string& argument : settings.device.kind->test_arguments())
    arguments += " " + argument;
  digests.limits = base::sha256(limits + "\n" + arguments);
  return digests;
}

std::string now_text() {
  if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH"); epoch != nullptr)
    if (const auto text = intake::utc_text(std::atoll(epoch)); !text.empty()) return text;
  return judge::utc_now();
}

}  // namespace membound::queue
