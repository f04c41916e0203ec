// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/lab/session.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include <CLI/CLI.hpp>

#include "grader/harness/device/cuda_wrappers.hpp"
#include "grader/harness/device/runtime_extensions.hpp"

namespace membound::harness {
namespace {

template <typename Integer>
base::Result<std::vector<Integer>> parse_list(const std::string& text, char separator,
                                              Integer least, const std::string& option,
                                              const std::string& example) {
  std::vector<Integer> numbers;
  std::istringstream stream(text + separator);
  for (std::string part; std::getline(stream, part, separator);) {
    Integer number{};
    const char* end = part.data() + part.size();
    const auto [stopped, failure] = std::from_chars(part.data(), end, number);
    if (failure != std::errc() || stopped != end || number < least)
      return base::Error{base::ErrorKind::kUsage,
                         option,
                         "`" + text + "`",
                         "whole numbers from " + std::to_string(least) + ", like " + example,
                         {}};
    numbers.push_back(number);
  }
  return numbers;
}

ParsedOptions refused(const base::Error& error) {
  return {std::nullopt, base::to_string(error) + "\n", base::exit_code_of(error.kind)};
}

/// Options whose text is read after the command line.
struct OptionTexts {
  std::string stages, size, seed_key;
};

void add_options(CLI::App& app, Options& options, OptionTexts& texts) {
  app.add_option("--lab", options.lab_json, "the lab's lab.json")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--submission", options.submission, "compiled kernel.cu of the student")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--reference", options.reference, "compiled reference answer")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--harness-kernels", options.kernels, "harness.fatbin")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--oracle", options.oracle, "the lab's oracle.cpp, compiled as a library")
      ->check(CLI::ExistingFile);
  app.add_option("--result", options.result, "append one JSON line per stage to this file");
  app.add_option("--pictures", options.pictures,
                 "a folder: pictures that a stage's kernel made are written there as N.png");
  app.add_option("--stages", texts.stages, "numbers of the stages, like 1,3; all if left out");
  app.add_option("--seed", options.seed, "all data follows from it");
  app.add_flag("--quick", options.quick, "correctness only, no timing");
  app.add_flag("--look", options.look,
               "launch what would be timed once, for the virtual GPU's checkers to look at");
  app.add_flag("--whole", options.whole,
               "only run what would be timed whole, on a virtual GPU, and compare all results");
  app.add_flag("--some-blocks", options.some_blocks,
               "with --look: only some blocks of a launch, where the others do not depend on them");
  app.add_flag("--easier-half", options.easier_half,
               "of the lab's own tests only the first half, and what is timed");
  app.add_option("--launch-seconds", options.launch_seconds,
                 "how long one launch may take, instead of what the lab says")
      ->check(CLI::PositiveNumber);
  app.add_option("--size", texts.size, "time this size, like 2048x1024");
  app.add_flag("--counters", options.counters, "keep what the virtual GPU counted in timed runs");
  app.add_option("--student-device", options.student_device,
                 "the device of the student's kernels; the reference's is device 0")
      ->check(CLI::Range(0, 63));
  app.add_option("--reference-times", options.reference_times,
                 "times of the reference answer on a virtual GPU; it is not run then")
      ->check(CLI::ExistingFile);
  app.add_option("--time-reference", options.time_reference,
                 "only time the reference answer on a virtual GPU; write the times here");
  app.add_option("--sample-seed", options.sample_seed,
                 "chooses the blocks by which a virtual GPU times launches; else the seed does");
  app.add_option("--seed-key", texts.seed_key,
                 "a secret of 32 hexadecimal digits instead of --seed");
}

}  // namespace

base::Result<std::vector<std::int64_t>> parse_size(const std::string& text) {
  return parse_list<std::int64_t>(text, 'x', 0, "--size", "2048x1024");
}

base::Result<std::vector<int>> parse_stages(const std::string& text) {
  return parse_list<int>(text, ',', 1, "--stages", "1,3");
}

ParsedOptions parse_options(int argc, const char* const* argv) {
  Options options;
  OptionTexts texts;
  CLI::App app{"Tests and times one lab's submission; normally started by membound."};
  add_options(app, options, texts);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    const int code = app.exit(error, out, out);
    return {std::nullopt, out.str(), code == 0 ? 0 : 2};
  }
  if (!texts.stages.empty()) {
    auto numbers = parse_stages(texts.stages);
    if (!numbers) return refused(numbers.error());
    options.stages = *numbers;
  }
  if (!texts.size.empty()) {
    auto numbers = parse_size(texts.size);
    if (!numbers) return refused(numbers.error());
    options.size = *numbers;
  }
  if (!texts.seed_key.empty()) {
    const auto key = parse_seed_key(texts.seed_key);
    if (!key) return refused(key.error());
    options.seed_key = *key;
  }
  return {std::move(options), {}, 0};
}

namespace {

constexpr int kReferenceDevice = 0;

base::Status check_stages(const Options& options, const course::Lab& lab) {
  for (const int number : options.stages)
    if (lab.stage(number) == nullptr)
      return base::Error{base::ErrorKind::kUsage,
                         "--stages",
                         "stage " + std::to_string(number),
                         "a stage of " + lab.id + " about a kernel",
                         {}};
  return base::Done{};
}

base::Error unfit_times(const Options& options, const std::string& found,
                        const std::string& expected) {
  return {base::ErrorKind::kUsage, options.reference_times.string(), found, expected,
          "leave --reference-times out"};
}

/// The times of the file, if they may stand for runs of this lab's reference on this device.
base::Result<ReferenceTimes> fitting_times(const Options& options, const course::Lab& lab,
                                           const Device& device) {
  auto times = read_reference_times(options.reference_times);
  if (!times) return times.error();
  const auto unfit = [&](const std::string& found, const std::string& expected) {
    return unfit_times(options, found, expected);
  };
  if (!device.timing_rules().same_every_time)
    return unfit("a real GPU", "a virtual one, whose times are predicted");
  if (options.student_device != 0) return unfit("two devices", "--student-device 0");
  if (times->lab != lab.id || times->device != device.info().virtual_name)
    return unfit("times of " + times->lab + " on " + times->device,
                 lab.id + " on " + device.info().virtual_name);
  if (!times->unusable.empty()) return unfit(times->unusable, "times that may be shared");
  return times;
}

}  // namespace

Session::Session(const Options& options, const LabProgram& program, Watchdog& watchdog,
                 course::Lab lab, Devices devices, Submission student,
                 std::optional<ReferenceTimes> known)
    : options_(options),
      program_(program),
      watchdog_(watchdog),
      lab_(std::move(lab)),
      devices_(std::move(devices)),
      student_file_(::open(options.submission.c_str(), O_RDONLY | O_CLOEXEC)),
      student_(std::move(student)),
      known_(std::move(known)),
      seeds_(options.seed_key),
      student_launcher_(student_, device(), watchdog_, program_.signature, lab_.size_names),
      reference_launcher_(devices_.answer, *devices_.reference().device, watchdog_,
                          program_.signature, lab_.size_names),
      clocks_(device().pci_bus_id()),
      ceilings_(*devices_.reference().device, *devices_.reference().kernels),
      bench_(make_bench({device(), *devices_.student.kernels, *devices_.reference().device,
                         *devices_.reference().kernels, seeds_, student_launcher_,
                         reference_launcher_, watchdog_, clocks_, ceilings_, options.sample_seed},
                        known_ ? &*known_ : nullptr)) {}

base::Result<Session::ReadyDevice> Session::ReadyDevice::open(int number,
                                                              const std::filesystem::path& fatbin) {
  auto device = Device::open(number);
  if (!device) return device.error();
  auto kernels = (*device)->load_kernels(fatbin);
  if (!kernels) return kernels.error();
  return ReadyDevice{*std::move(device), *std::move(kernels)};
}

base::Result<Session::Devices> Session::Devices::open(const Options& options) {
  // The reference's first: meanwhile the submission's runner makes its context, and what it scrubs
  // when it is asked is what the reference has left.
  auto first = ReadyDevice::open(kReferenceDevice, options.kernels);
  if (!first) return first.error();
  const bool runs_it = options.reference_times.empty() && !options.whole;
  auto answer =
      runs_it ? Submission::load(options.reference) : base::Result<Submission>(Submission());
  if (!answer) return answer.error();
  if (options.student_device == kReferenceDevice)
    return Devices{*std::move(first), {}, *std::move(answer)};
  auto student = ReadyDevice::open(options.student_device, options.kernels);
  if (!student) return student.error();
  return Devices{*std::move(student), *std::move(first), *std::move(answer)};
}

base::Result<std::unique_ptr<Session>> Session::open(const Options& options,
                                                     const LabProgram& program,
                                                     Watchdog& watchdog) {
  auto lab = course::read_lab(options.lab_json);
  if (!lab) {
    base::Error error = lab.error();
    error.kind = base::ErrorKind::kMachine;  // whoever started us has read the same file
    return error;
  }
  if (lab->id != program.lab_id)
    return base::Error{base::ErrorKind::kUsage,
                       options.lab_json.string(),
                       "lab " + lab->id,
                       "lab " + program.lab_id + ", which this test program tests",
                       {}};
  *lab = lab->with_stages_of(course::kKernelStage);
  if (auto status = check_stages(options, *lab); !status) return status.error();
  auto devices = Devices::open(options);
  if (!devices) return devices.error();
  std::optional<ReferenceTimes> known;
  if (!options.reference_times.empty() && !options.whole) {
    auto times = fitting_times(options, *lab, *devices->student.device);
    if (!times) return times.error();
    known = *std::move(times);
  }
  // Last: where all else could be loaded, what cannot is the submission's own doing.
  const auto load_student = [&] {
    const DeviceScope on(options.student_device);
    return Submission::load(options.submission);
  };
  auto student = load_student();
  if (!student) {
    base::Error error = student.error();
    error.kind = base::ErrorKind::kInput;
    return error;
  }
  std::unique_ptr<Session> session(new Session(options, program, watchdog, *std::move(lab),
                                               *std::move(devices), *std::move(student),
                                               std::move(known)));
  if (const base::Status whole = session->check_known_times(); !whole) return whole.error();
  return session;
}

base::Status Session::check_known_times() const {
  if (!known_) return base::Done{};
  for (const course::Stage& stage : lab_.stages)
    for (const SizedCases& way : ways_to_time(stage))
      for (const TimedCase& timed : way.cases)
        if (known_->find(stage.number, timed.label, way.sampled) == nullptr)
          return unfit_times(
              options_, "nothing for " + timed.label + " of stage " + std::to_string(stage.number),
              "the times of every case");
  return base::Done{};
}

void Session::renew_student() {
  const DeviceScope on(options_.student_device);
  student_ = Submission();  // before: the runtime may use again what does not change
  // By its descriptor: a cache may have dropped the name since.
  auto again = Submission::load("/proc/self/fd/" + std::to_string(student_file_.get()));
  if (!again) throw CudaError(cudaErrorInvalidKernelImage, base::to_string(again.error()));
  student_ = *std::move(again);
}

std::vector<course::Stage> Session::stages() const {
  std::vector<course::Stage> stages;
  for (const course::Stage& stage : lab_.stages)
    if (options_.stages.empty() || std::find(options_.stages.begin(), options_.stages.end(),
                                             stage.number) != options_.stages.end())
      stages.push_back(stage);
  return stages;
}

double Session::timeout_seconds(const course::Stage& stage) const {
  if (options_.launch_seconds > 0) return options_.launch_seconds;
  return device().launch_seconds(stage);
}

}  // namespace membound::harness
