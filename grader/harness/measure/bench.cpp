// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/bench.hpp"

#include <sys/random.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>

#include "grader/base/files.hpp"
#include "grader/harness/cases/statistics.hpp"
#include "grader/harness/cases/timed_case.hpp"
#include "grader/harness/device/cuda_wrappers.hpp"
#include "grader/harness/device/runtime_extensions.hpp"
#include "grader/harness/measure/timed_run.hpp"

namespace membound::harness {

void ReferenceTimes::add(int stage, const std::string& label, bool sampled, ReferenceTime time) {
  times_[{stage, label, sampled}] = std::move(time);
}

const ReferenceTime* ReferenceTimes::find(int stage, const std::string& label, bool sampled) const {
  const auto found = times_.find({stage, label, sampled});
  return found == times_.end() ? nullptr : &found->second;
}

std::string ReferenceTimes::to_text() const {
  nlohmann::json cases = nlohmann::json::array();
  for (const auto& [key, time] : times_)
    cases.push_back({{"stage", std::get<0>(key)},
                     {"label", std::get<1>(key)},
                     {"sampled", std::get<2>(key)},
                     {"time_ns", time.time_ns},
                     {"ceiling", time.ceiling},
                     {"counters", time.counters}});
  const nlohmann::json whole = {{"schema", kSchema},
                                {"lab", lab},
                                {"device", device},
                                {"unusable", unusable},
                                {"cases", std::move(cases)}};
  return whole.dump() + "\n";
}

base::Result<ReferenceTimes> ReferenceTimes::from_text(const std::string& text,
                                                       const std::string& file_name) {
  try {
    const nlohmann::json whole = nlohmann::json::parse(text);
    if (whole.at("schema") == kSchema) {
      ReferenceTimes times;
      times.lab = whole.at("lab");
      times.device = whole.at("device");
      times.unusable = whole.at("unusable");
      bool are_times = true;
      for (const nlohmann::json& one : whole.at("cases")) {
        const double time_ns = one.at("time_ns");
        const bool sampled = one.at("sampled");
        are_times =
            are_times && std::isfinite(time_ns) && (time_ns > 0 || (sampled && time_ns == 0));
        times.add(one.at("stage"), one.at("label"), sampled,
                  {time_ns, one.at("ceiling"), one.value("counters", nlohmann::json())});
      }
      if (are_times) return times;
    }
  } catch (const nlohmann::json::exception&) {  // told below
  }
  return base::Error{base::ErrorKind::kMachine, file_name, "holds no reference times",
                     std::string("what a test program wrote, ") + kSchema,
                     "remove the file; it is made anew"};
}

base::Result<ReferenceTimes> read_reference_times(const std::filesystem::path& file) {
  const auto text = base::read_file(file);
  if (!text) return text.error();
  return ReferenceTimes::from_text(*text, file.string());
}

namespace {

class OneProcessRun : public TimedRun {
 public:
  OneProcessRun(const BenchParts& parts, const TimingRequest& request, ReadyLaunch student)
      : TimedRun(parts, request, std::move(student)),
        reference_(make_reference()),
        kept_(request.sampled ? 0 : request.timed_case.output.size_bytes()) {}

  [[nodiscard]] double run_reference(std::uint64_t seed) override {
    return run(reference_, student_side(), seed);
  }
  [[nodiscard]] nlohmann::json take_reference_counters() override {
    return take_counters(parts().device);
  }
  void keep_output() override {
    if (kept_.size_bytes() == 0) return;
    cuda_check(cudaMemcpyAsync(kept_.data(), student_side().output.data(), kept_.size_bytes(),
                               cudaMemcpyDeviceToDevice, nullptr),
               "keeping an output");
  }

 private:
  [[nodiscard]] Difference compare() override {
    if (kept_.size_bytes() == 0) return {};
    return parts().kernels.compare(timed_case().output, kept_.data(), student_side().output.data(),
                                   timed_case().tolerance);
  }

  Answer reference_;
  DeviceBuffer kept_;
};

class OneProcessBench : public Bench {
 public:
  using Bench::Bench;
  [[nodiscard]] std::unique_ptr<TimedRun> start(const TimingRequest& request,
                                                ReadyLaunch student) const override {
    return std::make_unique<OneProcessRun>(parts(), request, std::move(student));
  }
};

std::unique_ptr<Bench> make_one_process_bench(const BenchParts& parts) {
  return std::make_unique<OneProcessBench>(parts);
}

/// Of each output whose fingerprint is right so many ranges are fetched and compared bit by bit:
/// the check of the check. Where they lie follows from the key, which nobody knows before.
constexpr std::uint64_t kAuditRanges = 4;
constexpr std::size_t kAuditBytes = 4096;
constexpr int kOutsideRuns = 5;
/// What a launch does beside its result is looked for in the first runs and then in one of four,
/// which is drawn when the launch has ended: nobody gains by doing it now and then.
constexpr int kWholeLooks = 2;
constexpr std::uint64_t kWholeLookShare = 4;

std::uint64_t fresh_key() {
  std::uint64_t key = 0;
  if (getrandom(&key, sizeof(key), 0) != ssize_t{sizeof(key)})
    throw std::runtime_error("the kernel of this machine gives no random numbers");
  return key;
}

double now_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class SandboxRun : public TimedRun {
 public:
  SandboxRun(const BenchParts& parts, const TimingRequest& request, ReadyLaunch student)
      : TimedRun(parts, request, std::move(student)),
        reference_(make_reference()),
        reference_side_(make_side(parts.reference_device, parts.reference_kernels)) {}

  [[nodiscard]] double run_reference(std::uint64_t seed) override {
    return run(reference_, reference_side_, seed);
  }
  [[nodiscard]] nlohmann::json take_reference_counters() override {
    return take_counters(parts().reference_device);
  }

  void keep_output() override {
    const DeviceScope on(student_side().device.number());
    // The launch has ended: from here on nothing may change, and only now is there a key.
    const std::uint64_t key = fresh_key();
    looks_whole_ = kept_runs_++ < kWholeLooks || key % kWholeLookShare == 0;
    student_prints_ = fingerprints(student_side(), key);
    student_ranges_ = ranges_of(student_side());
  }
  [[nodiscard]] bool keeps_reference_output() const override { return true; }
  void look_at_sampled_inputs(std::uint64_t seed) override { compare_sampled_inputs(seed); }

 protected:
  /// Of an array written before the key was drawn.
  struct Fingerprints {
    std::uint64_t key = 0, output = 0, inputs = 0;
  };
  [[nodiscard]] const Fingerprints& student_prints() const { return student_prints_; }
  /// Whether inputs, and what changes after the end, are looked at in this run.
  [[nodiscard]] bool looks_whole() const { return looks_whole_; }

 private:
  [[nodiscard]] Fingerprints fingerprints(const Side& side, std::uint64_t key) const {
    Fingerprints prints{key, 0, 0};
    prints.output = side.kernels.fingerprint(side.output.data(), side.output.size_bytes(), key);
    for (std::size_t i = 0; looks_whole_ && i < side.inputs.size(); ++i)
      prints.inputs += side.kernels.fingerprint(side.inputs[i].data(), side.inputs[i].size_bytes(),
                                                random_bits(key, i));
    return prints;
  }

  [[nodiscard]] Difference compare() override {
    if (timed_case().output.size_bytes() == 0) return {};
    const Fingerprints expected = fingerprints(reference_side_, student_prints_.key);
    if (expected.inputs != student_prints_.inputs) suspect_changed_inputs();
    // No kernel of ours in the submission's process has a part in the ranges.
    if (expected.output == student_prints_.output && ranges_of(reference_side_) == student_ranges_)
      return {};
    return compare_on_reference_device();
  }

  /// What stands in an output at places that follow from the run's key. All of one side at once: to
  /// go from one process to the other and back costs a GPU a tenth of a millisecond.
  [[nodiscard]] std::vector<std::byte> ranges_of(const Side& side) const {
    const std::size_t size = side.output.size_bytes(), range = std::min(kAuditBytes, size);
    const std::uint64_t count = range == size ? 1 : kAuditRanges;
    std::vector<std::byte> all(count * range);
    const DeviceScope on(side.device.number());
    for (std::uint64_t i = 0; i < count && range > 0; ++i) {
      const std::size_t at = random_bits(~student_prints_.key, i) % (size - range + 1);
      cuda_check(cudaMemcpy(&all[i * range], static_cast<const std::byte*>(side.output.data()) + at,
                            range, cudaMemcpyDeviceToHost),
                 "reading a range of an output");
    }
    return all;
  }

  [[nodiscard]] Difference compare_on_reference_device() {
    std::vector<std::byte> output(timed_case().output.size_bytes());
    {
      const DeviceScope on(student_side().device.number());
      cuda_check(cudaMemcpy(output.data(), student_side().output.data(), output.size(),
                            cudaMemcpyDeviceToHost),
                 "reading an output");
    }
    const DeviceScope on(reference_side_.device.number());
    const DeviceBuffer kept(output.size());
    cuda_check(cudaMemcpy(kept.data(), output.data(), output.size(), cudaMemcpyHostToDevice),
               "keeping an output");
    return reference_side_.kernels.compare(timed_case().output, kept.data(),
                                           reference_side_.output.data(), timed_case().tolerance);
  }

  Answer reference_;
  Side reference_side_;
  Fingerprints student_prints_;
  std::vector<std::byte> student_ranges_;
  int kept_runs_ = 0;
  bool looks_whole_ = true;
};

/// Where kernels can go on after their launch was waited for, and write to the memory that the
/// device's events are in: both are looked for.
class DoubtfulSandboxRun : public SandboxRun {
 public:
  using SandboxRun::SandboxRun;

  void keep_output() override {
    SandboxRun::keep_output();
    if (!looks_whole()) return;
    const Side& side = student_side();
    const DeviceScope on(side.device.number());
    cuda_check(cudaDeviceSynchronize(), "waiting for what may still be running");
    const std::uint64_t afterwards = side.kernels.fingerprint(
        side.output.data(), side.output.size_bytes(), student_prints().key);
    if (afterwards != student_prints().output)
      suspect("the output still changed after the launch had ended");
  }

  [[nodiscard]] std::optional<OutsideSamples> time_from_outside(std::uint64_t seed) override {
    const DeviceScope on(student_side().device.number());
    OutsideSamples samples;
    for (std::uint64_t i = 0; i < kOutsideRuns; ++i)
      time_once(parts().seeds.derive(seed, i), samples);
    return samples;
  }

 private:
  void time_once(std::uint64_t seed, OutsideSamples& samples) {
    Side& side = student_side();
    prepare(student(), side, seed);
    const auto watch =
        parts().watchdog.watch(request().timeout_seconds, "a run of " + timed_case().label);
    samples.work_wall_ns.push_back(wall_ns([&] { return launch_between_events(student(), side); }));
    samples.nothing_wall_ns.push_back(wall_ns([&] {
      side.timer->start();
      for (std::size_t step = 0; step < student().launch.steps.size(); ++step)
        side.kernels.launch_nothing();
      side.timer->stop();
      return cudaSuccess;
    }));
    samples.nothing_event_ns.push_back(side.timer->nanoseconds());
  }

  template <typename Work>
  double wall_ns(const Work& work) {
    cuda_check(cudaDeviceSynchronize(), "preparing a run");
    const double start_ns = now_ns();
    LaunchBatch batch;
    cudaError_t code = work();
    if (const cudaError_t sent = batch.send(); code == cudaSuccess) code = sent;
    if (code == cudaSuccess) code = student_side().timer->wait();
    const double taken_ns = now_ns() - start_ns;
    if (code != cudaSuccess) student().on_fault(code);
    return taken_ns;
  }
};

template <typename Run>
class SandboxBench : public Bench {
 public:
  using Bench::Bench;
  [[nodiscard]] std::unique_ptr<TimedRun> start(const TimingRequest& request,
                                                ReadyLaunch student) const override {
    return std::make_unique<Run>(parts(), request, std::move(student));
  }
};

std::unique_ptr<Bench> make_sandbox_bench(const BenchParts& parts) {
  if (parts.device.outlasts_a_wait())
    return std::make_unique<SandboxBench<DoubtfulSandboxRun>>(parts);
  return std::make_unique<SandboxBench<SandboxRun>>(parts);
}

/// Nothing to do for an array without elements.
void write(void* d_target, const HostArray& from) {
  if (from.empty()) return;
  cuda_check(cudaMemcpy(d_target, from.data(), from.size(), cudaMemcpyHostToDevice),
             "writing an array");
}

HostArray read(const PlacedBuffer& source) {
  HostArray bytes(source.size_bytes());
  if (!bytes.empty())
    cuda_check(cudaMemcpy(bytes.data(), source.data(), bytes.size(), cudaMemcpyDeviceToHost),
               "reading an array");
  return bytes;
}

/// As ==, which looks at one byte after the other.
bool same_bytes(const HostArray& a, const HostArray& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

class KnownTimesRun : public TimedRun {
 public:
  KnownTimesRun(const BenchParts& parts, const TimingRequest& request, ReadyLaunch student,
                const ReferenceTime& known)
      : TimedRun(parts, request, std::move(student)), known_(known) {}

  [[nodiscard]] double run_reference(std::uint64_t /*seed*/) override { return known_.time_ns; }
  [[nodiscard]] nlohmann::json take_reference_counters() override { return known_.counters; }

  /// The launch has ended, and only a virtual GPU's times are known: nothing runs afterwards.
  void keep_output() override {
    const DeviceScope on(student_side().device.number());
    output_after_ = read(student_side().output);
    inputs_after_.clear();
    for (const PlacedBuffer& input : student_side().inputs) inputs_after_.push_back(read(input));
  }
  void look_at_sampled_inputs(std::uint64_t seed) override { compare_sampled_inputs(seed); }

 private:
  void write_inputs(const Side& side, std::uint64_t seed) override {
    if (request().sampled) return TimedRun::write_inputs(side, seed);
    drawn_.clear();
    for (std::size_t i = 0; i < side.inputs.size(); ++i) {
      drawn_.push_back(drawn(timed_case().inputs[i], parts().seeds.derive(seed, i)));
      write(side.inputs[i].data(), drawn_.back());
    }
  }

  [[nodiscard]] Difference compare() override {
    if (!std::equal(drawn_.begin(), drawn_.end(), inputs_after_.begin(), inputs_after_.end(),
                    same_bytes))
      suspect_changed_inputs();
    // Only now: while the submission ran, the answer was nowhere.
    const HostArray expected = timed_case().expected(drawn_);
    if (same_bytes(expected, output_after_)) return {};
    return difference_of(timed_case().output, output_after_, expected, timed_case().tolerance);
  }

  const ReferenceTime& known_;
  std::vector<HostArray> drawn_;  // the inputs,
  HostArray output_after_;        // and what the launch left behind
  std::vector<HostArray> inputs_after_;
};

class KnownTimesBench : public Bench {
 public:
  KnownTimesBench(const BenchParts& parts, const ReferenceTimes& known)
      : Bench(parts), known_(known) {}

  [[nodiscard]] std::unique_ptr<TimedRun> start(const TimingRequest& request,
                                                ReadyLaunch student) const override {
    return std::make_unique<KnownTimesRun>(parts(), request, std::move(student), known(request));
  }
  [[nodiscard]] double time_reference(const TimingRequest& request) const override {
    return known(request).time_ns;
  }
  [[nodiscard]] double ceiling(const TimingRequest& request) const override {
    return known(request).ceiling;
  }

 private:
  [[nodiscard]] const ReferenceTime& known(const TimingRequest& request) const {
    const std::string& label = request.timed_case.label;
    if (const auto* const time = known_.find(request.stage, label, request.sampled)) return *time;
    throw ReferenceError("the reference times do not hold " + label + " of stage " +
                         std::to_string(request.stage));
  }

  const ReferenceTimes& known_;
};

std::unique_ptr<Bench> make_known_times_bench(const BenchParts& parts,
                                              const ReferenceTimes& known) {
  return std::make_unique<KnownTimesBench>(parts, known);
}

}  // namespace

double Bench::time_reference(const TimingRequest& request) const {
  const TimingRules& rules = parts_.device.timing_rules();
  const auto run = start(request, {});
  std::vector<double> times;
  for (int i = 0; i < rules.reference_warm_up + rules.reference_samples; ++i) {
    const double time_ns =
        run->run_reference(seed_of(parts_.seeds, request.seed, static_cast<std::uint64_t>(i)));
    if (request.sampled && !sample_of(run->take_reference_counters()).not_sampled.empty()) return 0;
    if (i >= rules.reference_warm_up) times.push_back(time_ns);
  }
  return median(times);
}

double Bench::ceiling(const TimingRequest& request) const {
  return parts_.ceilings.measure(ceiling_kind_of(request.timed_case),
                                 request.timed_case.useful_bytes);
}

std::unique_ptr<Bench> make_bench(const BenchParts& parts, const ReferenceTimes* known) {
  if (known != nullptr) return make_known_times_bench(parts, *known);
  if (parts.reference_device.number() != parts.device.number()) return make_sandbox_bench(parts);
  return make_one_process_bench(parts);
}

}  // namespace membound::harness
