// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/known_times_bench.hpp"

#include <algorithm>
#include <cstring>

#include "grader/harness/cases/host_arrays.hpp"
#include "grader/harness/device/device_scope.hpp"

namespace membound::harness {
namespace {

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

}  // namespace

std::unique_ptr<Bench> make_known_times_bench(const BenchParts& parts,
                                              const ReferenceTimes& known) {
  return std::make_unique<KnownTimesBench>(parts, known);
}

}  // namespace membound::harness
