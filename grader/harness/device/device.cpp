// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A real GPU's times are measured and scatter, and its work is done by kernels. A virtual GPU's
/// are predicted, the same every time, and what the harness can compute itself is not left to an
/// interpreter.
#include "grader/harness/device/device.hpp"

#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "grader/base/result.hpp"
#include "grader/harness/cases/data.hpp"
#include "grader/harness/cases/timed_case.hpp"
#include "grader/harness/device/cuda_wrappers.hpp"
#include "grader/harness/device/device_kernels.hpp"
#include "grader/harness/device/runtime_extensions.hpp"

namespace membound::harness {
namespace {

constexpr TimingRules kGpuRules = {
    .warm_up_pairs = 2,
    .same_every_time = false,
    .random_order = true,
    .event_samples = 11,
    .ceiling_warm_up = 2,
    .ceiling_samples = 9,
    .add_min_iterations = 4096,  // some milliseconds, so that the clock settles
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

std::unique_ptr<Device> make_gpu(DeviceFacts facts) {
  return std::make_unique<Gpu>(std::move(facts));
}

constexpr TimingRules kVirtualGpuRules = {
    .warm_up_pairs = 0,
    .same_every_time = true,
    .random_order = false,
    .event_samples = 1,
    .ceiling_warm_up = 0,
    .ceiling_samples = 1,
    .add_min_iterations = 32,  // each costs host time
    .reference_warm_up = 0,
    .reference_samples = 1,
    // A predicted time breaks no physics: nobody is suspected, the model is.
    .bound_by_ceiling = false,
    .place_matters = false,
    .comparable_with_cpus = false,
};

/// Each thread is computed on the CPU: a launch that takes 1 ms on a GPU may take seconds.
constexpr double kTimeoutFactor = 2;

/// The same numbers as a GPU's kernels give, computed here and copied.
class VirtualGpuKernels : public DeviceKernels {
 public:
  using DeviceKernels::DeviceKernels;

  void fill(const TimedBuffer& buffer, void* d_data, std::uint64_t seed) const override {
    if (buffer.count == 0) return;
    const DeviceScope on(device());
    const HostArray values = drawn(buffer, seed);
    cuda_check(cudaMemcpy(d_data, values.data(), values.size(), cudaMemcpyHostToDevice),
               "writing an input");
  }

  void flush_l2() const override {}  // each launch starts with empty caches
  void settle() const override { keep_busy(); }

  void fill_when_touched(const TimedBuffer& buffer, void* d_data,
                         std::uint64_t seed) const override {
    auto* draw = runtime_function<int(void*, const base::DrawnInput*)>("membound_vgpu_draw_input");
    const base::DrawnInput input{draw_of(buffer, seed), buffer.type};
    const DeviceScope on(device());
    if (draw == nullptr || draw(d_data, &input) == 0) fill(buffer, d_data, seed);
  }

  void prepare_when_touched(const TimedBuffer& buffer, void* d_data) const override {
    auto* draw = runtime_function<int(void*, unsigned)>("membound_vgpu_draw_word");
    const DeviceScope on(device());
    if (draw == nullptr || draw(d_data, first_word(buffer)) == 0) prepare_output(buffer, d_data);
  }

  void each_touched(const void* d_data, std::size_t size_bytes, const See& see) const override {
    auto* each =
        runtime_function<int(const void*, void (*)(void*, std::size_t, const void*, std::size_t),
                             void*)>("membound_vgpu_each_drawn");
    const auto call = [](void* state, std::size_t offset, const void* bytes, std::size_t count) {
      (*static_cast<const See*>(state))(offset, {static_cast<const std::byte*>(bytes), count});
    };
    const DeviceScope on(device());
    if (each == nullptr || each(d_data, call, const_cast<See*>(&see)) == 0)
      DeviceKernels::each_touched(d_data, size_bytes, see);
  }

  [[nodiscard]] bool is_as_drawn(const TimedBuffer& buffer, const void* d_data,
                                 std::uint64_t seed) const override {
    auto* ask = runtime_function<int(const void*)>("membound_vgpu_is_as_drawn");
    const DeviceScope on(device());
    const int answer = ask == nullptr ? -1 : ask(d_data);
    return answer < 0 ? DeviceKernels::is_as_drawn(buffer, d_data, seed) : answer == 1;
  }

  [[nodiscard]] std::uint64_t fingerprint(const void* d_data, std::size_t size_bytes,
                                          std::uint64_t key) const override {
    const DeviceScope on(device());
    std::vector<std::uint32_t> words(size_bytes / sizeof(std::uint32_t));
    if (!words.empty())
      cuda_check(cudaMemcpy(words.data(), d_data, size_bytes, cudaMemcpyDeviceToHost),
                 "reading an array for its fingerprint");
    return fingerprint_of(words, key);
  }

 private:
  void set_words(void* d_data, std::size_t count, unsigned word) const override {
    const DeviceScope on(device());
    const std::vector<unsigned> all(count, word);
    cuda_check(cudaMemcpy(d_data, all.data(), count * sizeof(word), cudaMemcpyHostToDevice),
               "preparing an output");
  }
};

auto* sample_function() {
  return runtime_function<void(int, unsigned long long)>("membound_vgpu_sample");
}

class VirtualGpu : public Device {
 public:
  using Device::Device;

  [[nodiscard]] std::string pci_bus_id() const override { return ""; }
  [[nodiscard]] const TimingRules& timing_rules() const override { return kVirtualGpuRules; }
  [[nodiscard]] double launch_seconds(const course::Stage& stage) const override {
    return stage.timeout_seconds * kTimeoutFactor;
  }
  [[nodiscard]] bool computes_on_the_host() const override { return true; }
  [[nodiscard]] bool outlasts_a_wait() const override { return false; }
  [[nodiscard]] bool can_sample() const override { return sample_function() != nullptr; }
  void sample_launches(std::optional<Sampling> how) const override {
    const DeviceScope on(number());
    if (how && how->only) {
      using Run =
          void(unsigned long long, unsigned long long, unsigned long long, unsigned long long);
      auto* run = runtime_function<Run>("membound_vgpu_run_blocks");
      MEMBOUND_CHECK(run != nullptr);  // as can_sample() says
      const BlockRange& only = *how->only;
      run(only.first, only.count, only.most_instructions, only.slice_step);
      return;
    }
    const int mode = !how ? 0 : !how->counts ? 3 : how->all ? 2 : how->some_warps ? 4 : 1;
    sample_function()(mode, how ? how->seed : 0);
  }
  [[nodiscard]] base::Result<std::unique_ptr<DeviceKernels>> load_kernels(
      const std::filesystem::path& fatbin) const override {
    return load<VirtualGpuKernels>(fatbin, *this);
  }

  [[nodiscard]] nlohmann::json take_report() const override {
    const std::string text = take_report_text();
    return text.empty() ? nlohmann::json() : nlohmann::json::parse(text, nullptr, false);
  }
  void forget_report() const override { static_cast<void>(take_report_text()); }
  void limit_steps(std::uint64_t warp_instructions) const override {
    auto* limit = runtime_function<void(std::uint64_t)>("membound_vgpu_limit_steps");
    if (limit != nullptr) limit(warp_instructions);
  }

 private:
  [[nodiscard]] std::string take_report_text() const {
    auto* take = runtime_function<std::size_t(char*, std::size_t)>("membound_vgpu_take_report");
    if (take == nullptr) return {};
    const DeviceScope on(number());
    std::string text(take(nullptr, 0), '\0');
    text.resize(take(text.data(), text.size()));
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }
};

/// The name of the virtual GPU that the runtime stands for; empty for a real one.
std::string virtual_gpu_name() {
  auto* name = runtime_function<const char*()>("membound_vgpu_name");
  return name == nullptr ? "" : name();
}

std::unique_ptr<Device> make_virtual_gpu(DeviceFacts facts) {
  return std::make_unique<VirtualGpu>(std::move(facts));
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

base::Error no_device(cudaError_t code) {
  return {base::ErrorKind::kMachine, "CUDA device", cuda_error_text(code),
          "a GPU that the driver and the runtime library agree about",
          "run `membound doctor`, or use the virtual GPU with --device vgpu:h200"};
}

course::DeviceInfo info_of(const cudaDeviceProp& properties) {
  course::DeviceInfo info;
  info.name = properties.name;
  info.virtual_name = virtual_gpu_name();
  info.compute_capability =
      std::to_string(properties.major) + "." + std::to_string(properties.minor);
  info.sm_count = properties.multiProcessorCount;
  info.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  info.l2_bytes = properties.l2CacheSize;
  int version = 0;
  if (cudaDriverGetVersion(&version) == cudaSuccess) info.driver_version = version_text(version);
  if (cudaRuntimeGetVersion(&version) == cudaSuccess) info.runtime_version = version_text(version);
  return info;
}

}  // namespace

base::Result<std::unique_ptr<Device>> Device::open(int number) {
  int count = 0;
  if (const cudaError_t code = cudaGetDeviceCount(&count); code != cudaSuccess)
    return no_device(code);
  if (number >= count) return no_device(count == 0 ? cudaErrorNoDevice : cudaErrorInvalidDevice);
  const DeviceScope on(number);
  cudaDeviceProp properties{};
  if (const cudaError_t code = cudaGetDeviceProperties(&properties, number); code != cudaSuccess)
    return no_device(code);

  DeviceFacts facts{.number = number, .info = info_of(properties)};
  facts.limits.grid = {properties.maxGridSize[0], properties.maxGridSize[1],
                       properties.maxGridSize[2]};
  facts.limits.block = {properties.maxThreadsDim[0], properties.maxThreadsDim[1],
                        properties.maxThreadsDim[2]};
  facts.limits.threads_per_block = properties.maxThreadsPerBlock;
  facts.limits.shared_bytes_per_block =
      static_cast<std::int64_t>(properties.sharedMemPerBlockOptin);
  facts.limits.shared_bytes_without_opt_in =
      static_cast<std::int64_t>(properties.sharedMemPerBlock);
  facts.limits.registers_per_block = properties.regsPerBlock;
  facts.plan_gpu = {properties.multiProcessorCount,
                    properties.maxThreadsPerMultiProcessor,
                    static_cast<int>(properties.sharedMemPerBlockOptin),
                    static_cast<int>(properties.sharedMemPerMultiprocessor),
                    properties.regsPerMultiprocessor,
                    properties.l2CacheSize};
  return facts.info.virtual_name.empty() ? make_gpu(std::move(facts))
                                         : make_virtual_gpu(std::move(facts));
}

DeviceLimits Device::limits() const {
  DeviceLimits limits = facts_.limits;
  std::size_t free_bytes = 0, all_bytes = 0;
  const DeviceScope on(number());
  cuda_check(cudaMemGetInfo(&free_bytes, &all_bytes), "asking for the free device memory");
  limits.free_bytes = static_cast<std::int64_t>(free_bytes);
  return limits;
}

SampledLaunches::SampledLaunches(const Device& device, std::optional<Sampling> how)
    : device_(how ? &device : nullptr) {
  if (how) device.sample_launches(how);
}

SampledLaunches::~SampledLaunches() {
  if (device_ != nullptr) device_->sample_launches(std::nullopt);
}

}  // namespace membound::harness
