// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/lab/stage_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <stdexcept>

#include "grader/base/digest.hpp"
#include "grader/base/strings.hpp"
#include "grader/harness/cases/failure_text.hpp"
#include "grader/harness/device/cuda_wrappers.hpp"
#include "grader/harness/device/guarded_memory.hpp"
#include "grader/harness/device/runtime_extensions.hpp"
#include "grader/harness/device/submission.hpp"

namespace membound::harness {
namespace {

/// Does a kernel of the virtual GPU's report say what one of its warps asked of memory?
bool is_traced(const nlohmann::json& report) {
  if (!report.is_object() || !report.contains("kernels")) return false;
  return std::ranges::any_of(report["kernels"], [](const nlohmann::json& kernel) {
    return kernel.contains("accesses") && !kernel["accesses"].empty();
  });
}

/// The hint of a test that looks at far blocks, where the lab has one.
constexpr const char* kWideIndexHint = "wide-index";

std::string join_types(const std::vector<std::string>& types) {
  return "(" + base::joined(types) + ")";
}

std::string blocked_by(const char* what, course::BuiltInTest test) {
  return "the stage's " + std::string(what) + ", see " + std::string(to_string(test));
}

/// Warp instructions after which a launch of a test is one that may never end, for a launch over
/// `data_bytes` of arrays. No reference answer takes 10 million in any test of a lab (all pass with
/// MEMBOUND_STEP_LIMIT=10000000); the virtual GPU executes the least of it in about 2 s.
std::uint64_t most_steps_of_a_test(std::size_t data_bytes) {
  constexpr std::uint64_t kPerWord = 1000, kLeast = 20'000'000, kMost = 100'000'000;
  return std::clamp(kPerWord * (data_bytes / sizeof(std::uint32_t)), kLeast, kMost);
}

/// Codes that stay with the device until its process ends: what a kernel did to it. All others are
/// about the call that returns them.
bool stays(cudaError_t code) {
  switch (code) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorAssert:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
      return true;
    default:
      return false;
  }
}

/// What the lab's own test passes must be what the lab's own signature says.
void check_arguments(const KernelArguments& arguments, const std::string& signature,
                     const std::string& instance) {
  const std::string parameters = instantiate_parameters(signature, instance);
  if (arguments_fit(arguments.types(), parameters)) return;
  throw std::logic_error("test.cpp passes " + join_types(arguments.types()) +
                         " to launch(), but the lab's signature is " + parameters);
}

}  // namespace

StageRun::StageRun(Session& session, course::Stage stage)
    : session_(session), stage_(std::move(stage)), start_(std::chrono::steady_clock::now()) {
  measurement_.lab = session.lab().id;
  measurement_.kernel = stage_.kernel;
  measurement_.stage = stage_.number;
  measurement_.device = session.device().info();
  measurement_.seed = session.options().seed;
  if (runner_has_pageable_access(session.options().student_device))
    measurement_.notes.emplace_back(
        "kernels on this machine can reach all memory of the runner (pageable memory access)");
  if (session.clocks().missing())
    measurement_.notes.emplace_back("libnvidia-ml.so.1 was not found: no clocks were read");
}

testing::AssertionResult StageRun::refuse(const Refusal& refusal) {
  // Evaluating the launch runs the student's code: it may have broken the device.
  if (const cudaError_t code = cudaDeviceSynchronize(); code != cudaSuccess) abort_fault(code);
  cause_ = refusal.cause;
  return testing::AssertionFailure() << base::to_string(refusal.error);
}

testing::AssertionResult StageRun::launch(const std::string& instance,
                                          const std::vector<std::int64_t>& sizes,
                                          const KernelArguments& arguments) {
  check_arguments(arguments, session_.program().signature.parameters_of(stage_.kernel), instance);
  const double seconds = session_.timeout_seconds(stage_);
  // What the harness's own kernels did before is not the submission's.
  if (device_checks()) session_.device().forget_report();
  limit_steps(GuardedMemory::all_bytes());
  std::optional<Sampling> only_results;
  if (session_.device().can_sample())
    only_results = Sampling{.seed = next_warp_order(), .all = true, .counts = false};
  const SampledLaunches uncounted(session_.device(), only_results);
  const Preparation preparation =
      session_.student().prepare({stage_.kernel, instance, sizes}, seconds);
  if (preparation.refusal) return refuse(*preparation.refusal);
  const ReadyLaunch& ready = preparation.launch;
  std::optional<GuardedMemory> scratch;
  try {
    if (ready.scratch_bytes > 0) scratch.emplace(ready.scratch_bytes, 1, nullptr, Role::kOutput);
  } catch (const CudaError& error) {
    abort_fault(error.code());  // it is the submission that says how much it wants
  }
  void* d_scratch = scratch ? scratch->data() : nullptr;
  cudaError_t launch_code = cudaSuccess, wait_code = cudaSuccess;
  {
    const KernelOutput output(printed_);
    const auto watch = session_.watchdog().watch(seconds, "a launch of " + stage_.kernel);
    launch_code = session_.student().launch(ready, arguments, d_scratch);
    wait_code = cudaDeviceSynchronize();
  }
  if (wait_code != cudaSuccess) abort_fault(wait_code);
  if (device_checks()) keep_checks(session_.device().take_report());
  if (launch_code != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    cause_ = course::Cause::kIllegalLaunch;
    return testing::AssertionFailure()
           << "the launch was refused by CUDA: " << cuda_error_text(launch_code);
  }
  return check_untouched(arguments, d_scratch);
}

/// Of tests, whose results a right kernel gives in whatever order a GPU runs its warps. Each launch
/// of a test has an order of its own, the same one whichever tests and stages run beside it.
std::uint64_t StageRun::next_warp_order() {
  constexpr std::uint64_t kWarpOrder = 0x77617270;  // "warp"
  const std::string launch = stage_.kernel + "." + test_ + "." + std::to_string(++launches_);
  return session_.seeds().derive(session_.options().seed, kWarpOrder ^ base::stable_hash(launch)) |
         1;
}

testing::AssertionResult StageRun::check_untouched(const KernelArguments& arguments,
                                                   const void* d_scratch) {
  const auto damage = GuardedMemory::find_damage();
  if (!damage) return testing::AssertionSuccess();
  const bool changed = damage->kind == GuardedMemory::DamageKind::kInputChanged;
  cause_ = changed ? course::Cause::kInputChanged : course::Cause::kGuardZone;
  const std::size_t index = arguments.index_of_pointer(damage->data);
  std::string which = "an array of this test";
  if (damage->data == d_scratch)
    which = "the scratch buffer";
  else if (index < arguments.size())
    which = "parameter " + std::to_string(index + 1) + " of the kernel (" +
            arguments.types()[index] + ")";
  return testing::AssertionFailure() << (changed ? "the kernel wrote to an input: "
                                                 : "the kernel wrote outside of its arrays: ")
                                     << which << ": " << damage->text;
}

testing::AssertionResult StageRun::check_signatures() {
  const std::vector<TimedCase> cases = session_.timed_cases(stage_);
  for (const std::string& instance : session_.program().signature.instances) {
    const TimedCase* fitting = &cases.front();
    for (const TimedCase& timed_case : cases)
      if (timed_case.instance == instance) fitting = &timed_case;
    const Launcher::Request request{stage_.kernel, instance, fitting->sizes};
    const Preparation preparation =
        session_.student().prepare(request, session_.timeout_seconds(stage_));
    std::optional<Refusal> refusal = preparation.refusal;
    // Limits are the next test's; but without an answer the kernel was not looked for yet.
    if (refusal && refusal->cause == course::Cause::kIllegalLaunch)
      refusal = preparation.is_plan ? std::nullopt : session_.student().check_kernel(request);
    if (!refusal) continue;
    blocked_ = blocked_by("kernel cannot be used", course::BuiltInTest::kSignature);
    return refuse(*refusal);
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult StageRun::check_launches() {
  for (const TimedCase& timed_case : session_.timed_cases(stage_)) {
    const Preparation preparation = session_.student().prepare(
        {stage_.kernel, timed_case.instance, timed_case.sizes}, session_.timeout_seconds(stage_));
    if (!preparation.refusal) continue;
    blocked_ = blocked_by("launch is refused", course::BuiltInTest::kLaunch);
    return refuse(*preparation.refusal) << "\nfor the timed case " << timed_case.label;
  }
  return testing::AssertionSuccess();
}

void StageRun::limit_steps(std::size_t data_bytes) {
  // With checkers on, the judge says how far a launch may go. What is timed has a deadline alone.
  if (device_checks()) return;
  const bool is_timed = test_ == to_string(course::BuiltInTest::kSpeed);
  session_.device().limit_steps(is_timed ? 0 : most_steps_of_a_test(data_bytes));
}

void StageRun::begin_stage() { start_ = std::chrono::steady_clock::now(); }

void StageRun::begin_test(const std::string& name) {
  const std::lock_guard lock(mutex_);
  test_ = name;
  launches_ = 0;
  printed_.clear();
  cause_ = course::Cause::kNone;
  limit_steps(0);
}

void StageRun::end_test(course::TestOutcome outcome) {
  const std::lock_guard lock(mutex_);
  if (!outcome.passed && !outcome.skipped) outcome.message += shown_output(printed_);
  measurement_.tests.push_back(std::move(outcome));
}

bool StageRun::all_passed() const {
  for (const course::TestOutcome& test : measurement_.tests)
    if (!test.passed || test.skipped) return false;
  return true;
}

void StageRun::end_stage() {
  const std::lock_guard lock(mutex_);
  write_line();
}

void StageRun::keep_checks(const nlohmann::json& report) {
  if (!device_checks()) return;
  const std::lock_guard lock(mutex_);
  add_checks(report, test_, measurement_.checks);
}

void StageRun::write_line() {
  measurement_.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (session_.options().result.empty()) return;
  const base::Status written = course::append_line(session_.options().result, measurement_);
  if (written) return;
  std::fprintf(stderr, "%s\n", base::to_string(written.error()).c_str());
  std::fflush(stderr);
  _exit(base::exit_code_of(base::ErrorKind::kMachine));
}

void StageRun::abort(course::Cause cause, const std::string& why) {
  const std::lock_guard lock(mutex_);
  const std::string text = why + about_test_ + shown_output(printed_);
  measurement_.abort = cause;
  measurement_.abort_text = text;
  if (!about_test_.empty())  // the lab's own test knows more than that something went wrong
    measurement_.tests.push_back({test_, false, false, text, kWideIndexHint, 0});
  for (const course::BuiltInTestRow& row : course::built_in_tests()) {
    if (row.cause != cause) continue;  // no test stands for kCrash, which is not the submission's
    course::TestOutcome outcome;
    outcome.name = row.name;
    outcome.message = text;
    outcome.hint_tag = to_string(cause);
    measurement_.tests.push_back(std::move(outcome));
  }
  std::fprintf(stderr, "%s: %s\n", stage_.kernel.c_str(), text.c_str());
  std::fflush(nullptr);
  write_line();
  // Not exit(): destructors would wait for a device that does not answer.
  _exit(cause == course::Cause::kTimeout ? course::test_exit::kTimeout : course::test_exit::kFault);
}

void StageRun::abort_timeout(const std::string& what, double seconds) {
  char limit[32];
  std::snprintf(limit, sizeof(limit), "%.3g", seconds);
  abort(course::Cause::kTimeout,
        what + " did not end within " + limit + " s, in the test " + test_ +
            "; does a loop ever end, does every thread of the block reach each barrier?");
}

void StageRun::abort_nonsense(const std::string& why) {
  abort(course::Cause::kFault,
        "the submission's runner told nonsense in the test " + test_ + ": " + why);
}

void StageRun::abort_without_runner(const std::string& problem) {
  const std::string text = "the runner was lost in the test " + test_ + ": " + problem;
  // A kernel that was launched is what ended it; without one it is not the submission.
  abort(runner_lost_after_launch(session_.options().student_device) ? course::Cause::kFault
                                                                    : course::Cause::kCrash,
        text);
}

bool StageRun::is_its_doing(cudaError_t code) const {
  // A runner that has died makes any call fail, not only launches.
  return stays(code) || !runner_problem(session_.options().student_device).empty();
}

void StageRun::abort_fault(cudaError_t code) {
  if (const std::string problem = runner_problem(session_.options().student_device);
      !problem.empty())
    abort_without_runner(problem);
  const nlohmann::json report = session_.device().take_report();
  keep_checks(report);
  const std::string details = fault_text(report);
  // Where somebody traces a warp, what it did up to here is what they want to see.
  if (session_.options().counters && is_traced(report)) {
    const std::lock_guard lock(mutex_);
    measurement_.counters = report;
  }
  if (code == cudaErrorMemoryAllocation)
    abort(course::Cause::kMemory,
          "the device has no room for the scratch that the launch asks "
          "for, in the test " +
              test_);
  if (code == cudaErrorLaunchTimeout)
    abort(course::Cause::kTimeout,
          "the device stopped a launch in the test " + test_ +
              (details.empty() ? ": " + cuda_error_text(code) : "\n" + details));
  abort(course::Cause::kFault,
        cuda_error_text(code) + ", in the test " + test_ + (details.empty() ? "" : "\n" + details));
}

}  // namespace membound::harness
