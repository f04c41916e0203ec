// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/timed_run.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "grader/base/failpoint.hpp"
#include "grader/harness/cases/statistics.hpp"
#include "grader/harness/device/cuda_wrappers.hpp"
#include "grader/harness/device/runtime_extensions.hpp"
#include "grader/harness/measure/bench.hpp"

namespace membound::harness {

SampleReport sample_of(const nlohmann::json& counters) {
  SampleReport report;
  double ran = 0, of = 0;
  for (const nlohmann::json& kernel : counters.value("kernels", nlohmann::json::array())) {
    if (kernel.contains("not_sampled")) {
      report.not_sampled = kernel["not_sampled"];
      report.takes_long = kernel.value("warp_instructions", 0) > 0;
    }
    report.writes_variables |= kernel.contains("writes_variables");
    if (!kernel.contains("sample")) continue;
    const nlohmann::json& sample = kernel["sample"];
    report.error = std::max(report.error, sample.value("error", 0.0));
    if (sample.value("prepares", 0) != 0) continue;  // it wrote what another one reads
    ran += sample.value("blocks", 0.0);
    of += sample.value("of", 0.0);
    report.warps = std::min(report.warps, sample.value("warps", 1.0));
    report.lacks_others |= sample.contains("arrivals");
    report.ran.clear();
    for (const nlohmann::json& run : sample.value("ran", nlohmann::json::array()))
      report.ran.push_back({run.at(0), run.at(1)});
    report.stored.ran += sample.value("stored_bytes", 0.0);
    report.loaded.ran += sample.value("loaded_bytes", 0.0);
    if (!kernel.contains("counters")) continue;
    report.instructions += kernel["counters"].value("warp_instructions", 0.0);
    report.stored.all += kernel["counters"].value("global_store_bytes", 0.0);
    report.loaded.all += kernel["counters"].value("global_load_bytes", 0.0);
  }
  report.share = of > 0 ? ran / of : 0;
  return report;
}

std::string text_of(const SampleReport& report) {
  char warps[60] = "", text[180];
  if (report.warps < 1)
    std::snprintf(warps, sizeof warps, " and %.2g %% of the warps of these", report.warps * 100);
  std::snprintf(
      text, sizeof text,
      "predicted from %.2g %% of the blocks%s, whose work says that of all within %.1f %%",
      report.share * 100, warps, report.error * 100);
  return text;
}

bool stands_for_all(const SampleReport::Bytes& moved, double error, const WrittenPart& part,
                    const TimedBuffer& array) {
  // Blocks at the edges of what is computed do less, and the sample may have too many of them.
  constexpr double kTolerance = 0.05;
  const auto all = static_cast<double>(array.count);
  const double seen = static_cast<double>(part.elements * element_bytes(array.type));
  // Of what is moved, so much is an element that was not moved before.
  const double fresh = moved.ran > 0 ? seen / moved.ran : 0;
  const double elements = moved.all * fresh / static_cast<double>(element_bytes(array.type));
  return elements >= all * (1 - kTolerance - 3 * error);
}

namespace {

/// Room in which an array's place is drawn: enough for four places that share no page,
constexpr std::size_t kRoomPerArray = 3;
/// but only so much of what is free; there are two processes.
constexpr std::size_t kFreeShare = 8;
/// Draws of a side's places are numbered from the top; those of inputs' values from 0.
constexpr int kPlaceDraws = 32;
/// Below a run's seed: its inputs have 0, 1, ….
constexpr std::uint64_t kSampleOfBlocks = 0xB10C;

}  // namespace

std::uint64_t seed_of(const Seeds& seeds, std::uint64_t case_seed, std::uint64_t run) {
  return run == 0 ? case_seed : seeds.derive(case_seed, run);
}

nlohmann::json take_counters(const Device& device) {
  nlohmann::json report = device.take_report();
  if (!report.is_object()) return {};
  nlohmann::json kept = nlohmann::json::array();
  for (nlohmann::json& kernel : report["kernels"])
    if (!kernel.value("name", "").starts_with("membound_")) kept.push_back(std::move(kernel));
  report["kernels"] = std::move(kept);
  return report;
}

TimedRun::TimedRun(const BenchParts& parts, const TimingRequest& request, ReadyLaunch student)
    : parts_(parts),
      request_(request),
      student_side_(make_side(parts.device, parts.kernels)),
      student_([&]() -> Answer {
        const DeviceScope on(parts.device.number());
        DeviceBuffer scratch;
        try {
          scratch = DeviceBuffer(student.scratch_bytes);
        } catch (const CudaError& error) {
          request.on_fault(error.code());  // it is the submission that says how much it wants
          throw;
        }
        return {parts.student, std::move(student), std::move(scratch), request.on_fault};
      }()) {}

TimedRun::Side TimedRun::make_side(const Device& device, const DeviceKernels& kernels) const {
  const DeviceScope on(device.number());
  Side side{device, kernels, {}, {}, {}, std::make_unique<EventTimer>()};
  const std::size_t room = room_bytes(device);
  side.output = PlacedBuffer(timed_case().output.size_bytes(), room);
  for (const TimedBuffer& input : timed_case().inputs)
    side.inputs.emplace_back(input.size_bytes(), room);
  for (const TexturedInput& each : timed_case().textures)
    side.textures.push_back({DeviceTexture(each.width, each.height), {}});
  return side;
}

std::size_t TimedRun::room_bytes(const Device& device) const {
  // In one process both answers use the same arrays.
  const bool two_processes = parts_.reference_device.number() != parts_.device.number();
  if (!two_processes || !device.timing_rules().place_matters) return 0;
  std::size_t largest = timed_case().output.size_bytes(), free_bytes = 0, total_bytes = 0;
  for (const TimedBuffer& input : timed_case().inputs)
    largest = std::max(largest, input.size_bytes());
  cuda_check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for free memory");
  const std::size_t arrays = timed_case().inputs.size() + 1;
  return std::min(kRoomPerArray * largest, free_bytes / (kFreeShare * arrays));
}

TimedRun::Answer TimedRun::make_reference() const {
  Preparation preparation = parts_.reference.prepare(
      {request_.kernel, timed_case().instance, timed_case().sizes}, request_.timeout_seconds);
  if (preparation.refusal)
    throw ReferenceError("the reference answer cannot be launched: " +
                         base::to_string(preparation.refusal->error));
  const DeviceScope on(parts_.reference_device.number());
  DeviceBuffer scratch(preparation.launch.scratch_bytes);
  return {parts_.reference, std::move(preparation.launch), std::move(scratch),
          [](cudaError_t code) {
            throw ReferenceError("the reference answer failed: " + cuda_error_text(code));
          }};
}

void TimedRun::write_inputs(const Side& side, std::uint64_t seed) {
  for (std::size_t i = 0; i < side.inputs.size(); ++i) {
    const TimedBuffer& buffer = timed_case().inputs[i];
    const std::uint64_t of_input = parts_.seeds.derive(seed, i);
    if (request_.sampled)
      side.kernels.fill_when_touched(buffer, side.inputs[i].data(), of_input);
    else
      side.kernels.fill(buffer, side.inputs[i].data(), of_input);
  }
}

void TimedRun::fill_textures(Side& side, std::uint64_t seed) const {
  for (std::size_t i = 0; i < side.textures.size(); ++i) {
    FilledTexture& filled = side.textures[i];
    const std::size_t input = timed_case().textures[i].input;
    const std::uint64_t of_input = parts_.seeds.derive(seed, input);
    if (filled.seed == of_input) continue;
    filled.seed = of_input;
    if (!request_.sampled) {
      filled.texture.fill(side.inputs[input].data());
      continue;
    }
    // The input is drawn where it is touched; this copy would touch all of it.
    const TimedBuffer& buffer = timed_case().inputs[input];
    const DeviceBuffer rows(buffer.size_bytes());
    side.kernels.fill(buffer, rows.data(), of_input);
    filled.texture.fill(rows.data());
  }
}

void TimedRun::fill_constants(const Answer& answer, std::uint64_t seed) const {
  for (const ConstantInput& each : timed_case().constants) {
    const HostArray values =
        drawn(timed_case().inputs[each.input], parts_.seeds.derive(seed, each.input));
    const cudaError_t code = answer.launcher.fill_variable(each.variable, values);
    if (code != cudaSuccess) answer.on_fault(code);
  }
}

KernelArguments TimedRun::arguments_on(const Side& side) const {
  std::vector<void*> d_inputs;
  for (const PlacedBuffer& input : side.inputs) d_inputs.push_back(input.data());
  for (const FilledTexture& each : side.textures)
    d_inputs.push_back(as_address(each.texture.object()));
  return timed_case().arguments(d_inputs, side.output.data());
}

void TimedRun::write_all_inputs(const Answer& answer, Side& side, std::uint64_t seed) {
  fill_constants(answer, seed);
  write_inputs(side, seed);
  fill_textures(side, seed);
}

void TimedRun::prepare(const Answer& answer, Side& side, std::uint64_t seed) {
  // A process has its own pages, and which memory channels a stride meets depends on them: places
  // drawn for each run, and for each side, make that noise, which the interval of the ratio shows.
  std::uint64_t draw = ~static_cast<std::uint64_t>(side.device.number()) << kPlaceDraws;
  side.output.place(parts_.seeds.derive(seed, draw++));
  for (PlacedBuffer& input : side.inputs) input.place(parts_.seeds.derive(seed, draw++));
  write_all_inputs(answer, side, seed);
  if (request_.sampled)
    side.kernels.prepare_when_touched(timed_case().output, side.output.data());
  else
    side.kernels.prepare_output(timed_case().output, side.output.data());
  side.kernels.settle();
}

cudaError_t TimedRun::launch_between_events(const Answer& answer, Side& side,
                                            std::optional<Sampling> sampling) const {
  KernelArguments arguments = arguments_on(side);
  side.timer->start();
  const cudaError_t code =
      answer.launcher.launch(answer.launch, std::move(arguments), answer.scratch.data(), sampling);
  side.timer->stop();
  return code;
}

double TimedRun::run(const Answer& answer, Side& side, std::uint64_t seed, bool some_warps) {
  const DeviceScope on(side.device.number());
  LaunchBatch batch;
  prepare(answer, side, seed);
  const auto watch =
      parts_.watchdog.watch(request_.timeout_seconds, "a timed run of " + timed_case().label);
  std::optional<Sampling> sampling;
  if (request_.sampled)
    sampling =
        Sampling{.seed = parts_.sample_seed.value_or(parts_.seeds.derive(seed, kSampleOfBlocks)),
                 .some_warps = some_warps};
  cudaError_t code = launch_between_events(answer, side, sampling);
  if (const cudaError_t sent = batch.send(); code == cudaSuccess) code = sent;
  if (code == cudaSuccess) {
    parts_.clocks.sample();
    code = side.timer->wait();
  }
  if (code != cudaSuccess) answer.on_fault(code);
  return side.timer->nanoseconds();
}

DrawnInputs TimedRun::drawn_inputs(std::uint64_t seed) const {
  std::vector<std::uint64_t> seeds;
  for (std::size_t i = 0; i < timed_case().inputs.size(); ++i)
    seeds.push_back(parts_.seeds.derive(seed, i));
  return {timed_case().inputs, seeds};
}

WrittenPart TimedRun::compare_sample(std::uint64_t seed, const SeeElements& see) const {
  WrittenPart part;
  if (base::switched_off("harness.timed-compare")) return part;
  const DrawnInputs inputs = drawn_inputs(seed);
  if (timed_case().expected_of_read) return compare_with_read(inputs, see);
  const TimedBuffer& form = timed_case().output;
  const std::size_t each = element_bytes(form.type);
  HostArray right;
  // Where many places are left out, looking at each would take long.
  constexpr std::size_t kMostLooks = 4096;
  std::size_t looks = 0;
  const auto is_poison_right = [&](std::size_t first, std::size_t count) {
    if (++looks > kMostLooks) return false;
    for (std::size_t i = 0; i < count; ++i)
      if (!timed_case().written.has(first + i)) return false;
    timed_case().expected_by_place(inputs, first, count, right);
    std::size_t other = 0;
    each_written(form, right, [&](std::size_t, std::size_t of_run) { other += of_run; });
    return other == 0;
  };
  student_side_.kernels.each_touched(
      student_side_.output.data(), form.size_bytes(),
      [&](std::size_t offset, std::span<const std::byte> bytes) {
        const std::size_t start = offset / each;
        const auto is_right_here = [&](std::size_t from, std::size_t count) {
          return is_poison_right(start + from, count);
        };
        each_written(form, bytes, is_right_here, [&](std::size_t from, std::size_t count) {
          const std::size_t first = start + from;
          if (see) see(first, count);
          timed_case().expected_by_place(inputs, first, count, right);
          const auto got = bytes.subspan(from * each, count * each);
          const bool was_right = part.difference.wrong == 0;
          compare_written(form, first, got, right, timed_case().tolerance, part);
          if (!was_right || part.difference.wrong == 0) return;
          const std::size_t at = (part.difference.first - first) * each;
          part.expected = element_text(form.type, std::span(right).subspan(at, each));
          part.got = element_text(form.type, got.subspan(at, each));
        });
      });
  return part;
}

WrittenPart TimedRun::compare_with_read(const DrawnInputs& inputs, const SeeElements& see) const {
  const auto& side = student_side_;
  const TimedBuffer& input = timed_case().inputs.front();
  const std::size_t each = element_bytes(input.type);
  WrittenPart part;
  std::vector<ElementRange> read;
  side.kernels.each_touched(side.inputs.front().data(), input.size_bytes(),
                            [&](std::size_t offset, std::span<const std::byte> bytes) {
                              read.push_back({offset / each, bytes.size() / each});
                              part.elements += read.back().count;
                              if (see) see(read.back().first, read.back().count);
                            });
  const HostArray right = timed_case().expected_of_read(inputs, read);
  HostArray got(right.size());
  const DeviceScope on(side.device.number());
  cuda_check(cudaMemcpy(got.data(), side.output.data(), got.size(), cudaMemcpyDeviceToHost),
             "reading what a sample wrote");
  part.difference = difference_of(timed_case().output, got, right, timed_case().tolerance);
  return part;
}

void TimedRun::compare_sampled_inputs(std::uint64_t seed) {
  for (std::size_t i = 0; i < student_side_.inputs.size(); ++i)
    if (!student_side_.kernels.is_as_drawn(timed_case().inputs[i], student_side_.inputs[i].data(),
                                           parts_.seeds.derive(seed, i)))
      suspect_changed_inputs();
}

Difference TimedRun::compare_kept() {
  if (base::switched_off("harness.timed-compare")) return {};
  return compare();
}

void TimedRun::suspect_changed_inputs() {
  if (!base::switched_off("harness.inputs")) suspect("the launch changed its inputs");
}

double TimedRun::event_overhead_ns() {
  const DeviceScope on(student_side_.device.number());
  std::vector<double> times;
  for (int i = 0; i < student_side_.device.timing_rules().event_samples; ++i) {
    LaunchBatch batch;
    student_side_.kernels.flush_l2();
    student_side_.timer->start();
    student_side_.timer->stop();
    cuda_check(batch.send(), "timing nothing");
    cuda_check(student_side_.timer->wait(), "timing nothing");
    times.push_back(student_side_.timer->nanoseconds());
  }
  return median(times);
}

std::optional<OutsideSamples> TimedRun::time_from_outside(std::uint64_t /*seed*/) { return {}; }

}  // namespace membound::harness
