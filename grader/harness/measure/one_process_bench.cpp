// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/one_process_bench.hpp"

namespace membound::harness {
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

}  // namespace

std::unique_ptr<Bench> make_one_process_bench(const BenchParts& parts) {
  return std::make_unique<OneProcessBench>(parts);
}

}  // namespace membound::harness
