// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/lab/session.hpp"

#include <algorithm>
#include <cstdlib>

#include "grader/harness/device/device_scope.hpp"

namespace membound::harness {
namespace {

/// The virtual GPU computes each thread on the CPU; a launch that takes 1 ms on a GPU may take
/// seconds there.
constexpr double kVirtualTimeoutFactor = 2;

std::size_t bytes_of(const std::vector<TimedCase>& cases) {
  std::size_t most = 0;  // cases run one after the other
  for (const TimedCase& timed_case : cases) {
    std::size_t bytes = timed_case.output.size_bytes();
    for (const TimedBuffer& input : timed_case.inputs) bytes += input.size_bytes();
    most = std::max(most, bytes);
  }
  return most;
}

base::Status check_stages(const Options& options, const course::Lab& lab) {
  for (const int number : options.stages)
    if (lab.stage(number) == nullptr)
      return base::Error{base::ErrorKind::kUsage,
                         "--stages",
                         "stage " + std::to_string(number),
                         lab.id + " has stages 1 to " + std::to_string(lab.stages.size()),
                         {}};
  return base::Done{};
}

/// The times of the file, if they may stand for runs of this lab's reference on this device.
base::Result<ReferenceTimes> fitting_times(const Options& options, const LabProgram& program,
                                           const course::Lab& lab, const Device& device) {
  auto times = read_reference_times(options.reference_times);
  if (!times) return times.error();
  const auto unfit = [&](const std::string& found, const std::string& expected) {
    return base::Error{base::ErrorKind::kUsage, options.reference_times.string(), found, expected,
                       "leave --reference-times out"};
  };
  if (!device.is_virtual()) return unfit("a real GPU", "a virtual one, whose times are predicted");
  if (options.student_device != 0) return unfit("two devices", "--student-device 0");
  if (times->lab != lab.id || times->device != device.info().virtual_name)
    return unfit("times of " + times->lab + " on " + times->device,
                 lab.id + " on " + device.info().virtual_name);
  if (!times->unusable.empty()) return unfit(times->unusable, "times that may be shared");
  if (options.size.empty()) return unfit("no --size", "one size for all stages");
  for (const course::Stage& stage : lab.stages)
    for (const TimedCase& timed : program.timed_cases(stage, options.size))
      if (!timed.expected || times->find(stage.number, timed.label) == nullptr)
        return unfit("nothing for " + timed.label + " of stage " + std::to_string(stage.number),
                     "the times of every case");
  return times;
}

}  // namespace

Session::Session(const Options& options, const LabProgram& program, Watchdog& watchdog,
                 course::Lab lab, Device device, Device reference_device, Submission student,
                 Submission reference, DeviceKernels kernels,
                 std::optional<DeviceKernels> reference_kernels,
                 std::optional<ReferenceTimes> known)
    : options_(options),
      program_(program),
      watchdog_(watchdog),
      lab_(std::move(lab)),
      device_(std::move(device)),
      reference_device_(std::move(reference_device)),
      student_(std::move(student)),
      reference_(std::move(reference)),
      kernels_(std::move(kernels)),
      reference_kernels_(std::move(reference_kernels)),
      known_(std::move(known)),
      seeds_(options.seed_key),
      student_launcher_(student_, device_, watchdog_, program_.signature, lab_.size_names),
      reference_launcher_(reference_, reference_device_, watchdog_, program_.signature,
                          lab_.size_names),
      clocks_(device_.pci_bus_id()),
      ceilings_(reference_device_, this->reference_kernels()) {}

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
  if (auto status = check_stages(options, *lab); !status) return status.error();
  // Read by the virtual GPU with the first CUDA call; a real one knows nothing of it. No other
  // thread runs before that.
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  if (lab->vgpu_sms > 0) setenv("MEMBOUND_SMS", std::to_string(lab->vgpu_sms).c_str(), 0);
  constexpr int kReferenceDevice = 0;
  auto reference_device = Device::open(kReferenceDevice);
  if (!reference_device) return reference_device.error();
  auto device = Device::open(options.student_device);
  if (!device) return device.error();
  std::optional<ReferenceTimes> known;
  if (!options.reference_times.empty()) {
    auto times = fitting_times(options, program, *lab, *device);
    if (!times) return times.error();
    known = *std::move(times);
  }
  auto reference =
      known ? base::Result<Submission>(Submission()) : Submission::load(options.reference);
  if (!reference) return reference.error();
  auto kernels = DeviceKernels::load(options.kernels, *device);
  if (!kernels) return kernels.error();
  std::optional<DeviceKernels> reference_kernels;
  if (options.student_device != kReferenceDevice) {
    auto loaded = DeviceKernels::load(options.kernels, *reference_device);
    if (!loaded) return loaded.error();
    reference_kernels = *std::move(loaded);
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
  return std::unique_ptr<Session>(
      new Session(options, program, watchdog, *std::move(lab), *std::move(device),
                  *std::move(reference_device), *std::move(student), *std::move(reference),
                  *std::move(kernels), std::move(reference_kernels), std::move(known)));
}

std::vector<course::Stage> Session::stages() const {
  std::vector<course::Stage> stages;
  for (const course::Stage& stage : lab_.stages)
    if (options_.stages.empty() || std::find(options_.stages.begin(), options_.stages.end(),
                                             stage.number) != options_.stages.end())
      stages.push_back(stage);
  return stages;
}

std::vector<std::int64_t> Session::timed_size(const course::Stage& stage) const {
  if (!options_.size.empty()) return options_.size;
  const auto& sizes = device_.is_virtual() ? stage.vgpu_sizes : stage.gpu_sizes;
  MEMBOUND_CHECK(!sizes.empty());
  const auto quarter = static_cast<std::size_t>(device_.info().memory_bytes) / 4;
  for (const auto& size : sizes)
    if (bytes_of(program_.timed_cases(stage, size)) <= quarter) return size;
  return sizes.back();
}

std::vector<TimedCase> Session::timed_cases(const course::Stage& stage) const {
  return program_.timed_cases(stage, timed_size(stage));
}

double Session::timeout_seconds(const course::Stage& stage) const {
  if (options_.launch_seconds > 0) return options_.launch_seconds;
  return stage.timeout_seconds * (device_.is_virtual() ? kVirtualTimeoutFactor : 1);
}

}  // namespace membound::harness
