// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/gpu.hpp"

#include "grader/harness/cases/host_arrays.hpp"
#include "grader/harness/device/device_kernels.hpp"

namespace membound::harness {
namespace {

constexpr TimingRules kGpuRules = {
    .warm_up_pairs = 2,
    .same_every_time = false,
    .random_order = true,
    .event_samples = 11,
    .ceiling_warm_up = 2,
    .ceiling_samples = 9,
    .add_min_rounds = 4096,  // some milliseconds, so that the clock settles
    .reference_warm_up = 1,
    .reference_samples = 3,
    .bound_by_ceiling = true,
    .place_matters = true,
    .comparable_with_cpus = true,
};

class GpuKernels : public DeviceKernels {
 public:
  GpuKernels(Library library, const Device& device)
      : DeviceKernels(std::move(library), device),
        flush_(2 * static_cast<std::size_t>(device.info().l2_bytes)) {
    cuda_check(cudaMemset(flush_.data(), 0, flush_.size_bytes()), "clearing the flush buffer");
  }

  void fill(const TimedBuffer& buffer, void* d_data, std::uint64_t seed) const override {
    if (buffer.count == 0) return;
    const Draw draw = draw_of(buffer, seed);
    const unsigned long long count = buffer.count;
    launch("membound_fill_" + type_name(buffer.type), grid_for(buffer.count), kThreads, d_data,
           count, draw);
  }

  void flush_l2() const override {
    const unsigned long long count = flush_.size_bytes() / kVectorBytes;
    launch("membound_read", grid_for(count), kThreads, flush_.data(), count, d_result());
  }

  void settle() const override {
    cuda_check(cudaCtxResetPersistingL2Cache(), "resetting persisting L2 lines");
    flush_l2();
  }

  [[nodiscard]] std::uint64_t fingerprint(const void* d_data, std::size_t size_bytes,
                                          std::uint64_t key) const override {
    const DeviceScope on(device());
    const unsigned long long count = size_bytes / sizeof(std::uint32_t);
    const unsigned long long word_key = key;
    unsigned long long sum = 0;
    cuda_check(cudaMemcpy(d_result(), &sum, sizeof(sum), cudaMemcpyHostToDevice),
               "preparing a fingerprint");
    launch("membound_fingerprint", grid_for(count), kThreads, d_data, count, word_key, d_result());
    cuda_check(cudaMemcpy(&sum, d_result(), sizeof(sum), cudaMemcpyDeviceToHost),
               "reading a fingerprint");
    return sum;
  }

 private:
  void set_words(void* d_data, std::size_t word_count, unsigned word) const override {
    const unsigned long long count = word_count;
    launch("membound_set_words", grid_for(word_count), kThreads, d_data, count, word);
  }

  DeviceBuffer flush_;
};

class Gpu : public Device {
 public:
  using Device::Device;

  [[nodiscard]] std::string pci_bus_id() const override {
    char text[32] = {};
    return cudaDeviceGetPCIBusId(text, sizeof(text), number()) == cudaSuccess ? text : "";
  }
  [[nodiscard]] const TimingRules& timing_rules() const override { return kGpuRules; }
  [[nodiscard]] double launch_seconds(const course::Stage& stage) const override {
    return stage.timeout_seconds;
  }
  [[nodiscard]] bool computes_on_the_host() const override { return false; }
  [[nodiscard]] bool outlasts_a_wait() const override { return true; }
  [[nodiscard]] bool can_sample() const override { return false; }
  void sample_launches(std::optional<Sampling> /*how*/) const override {}
  [[nodiscard]] base::Result<std::unique_ptr<DeviceKernels>> load_kernels(
      const std::filesystem::path& fatbin) const override {
    return load<GpuKernels>(fatbin, *this);
  }
  [[nodiscard]] nlohmann::json take_report() const override { return {}; }
  void forget_report() const override {}
  void limit_steps(std::uint64_t /*warp_instructions*/) const override {}
};

}  // namespace

std::unique_ptr<Device> make_gpu(DeviceFacts facts) {
  return std::make_unique<Gpu>(std::move(facts));
}

}  // namespace membound::harness
