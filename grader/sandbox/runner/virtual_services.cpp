// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/runner/virtual_services.hpp"

#include <dlfcn.h>

#include "grader/base/drawn_input.hpp"

namespace membound::runner {
namespace {

template <typename Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

bool parameter(cudaKernel_t kernel, std::size_t index, Parameter& out) {
  std::size_t offset = 0, size = 0;
  const bool known = cudaFuncGetParamInfo(kernel, index, &offset, &size) == cudaSuccess;
  if (!known) static_cast<void>(cudaGetLastError());
  out = {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size)};
  return known;
}

}  // namespace

const std::string& virtual_gpu_name() {
  static const std::string name = [] {
    auto* ask = find<const char*()>("membound_vgpu_name");
    return ask == nullptr ? std::string() : std::string(ask());
  }();
  return name;
}

std::size_t virtual_report_room() {
  auto* take = find<std::size_t(char*, std::size_t)>("membound_vgpu_take_report");
  return take == nullptr ? 0 : take(nullptr, 0);
}

std::size_t take_virtual_report(std::span<std::byte> room) {
  auto* take = find<std::size_t(char*, std::size_t)>("membound_vgpu_take_report");
  if (take == nullptr) return 0;
  const std::size_t bytes = take(reinterpret_cast<char*>(room.data()), room.size());
  return bytes <= room.size() ? bytes - 1 : 0;  // a report that does not fit is left out
}

void last_virtual_work(double& start_ns, double& end_ns) {
  static auto* const ask = find<void(double*, double*)>("membound_vgpu_last_work");
  if (ask != nullptr) ask(&start_ns, &end_ns);
}

std::vector<std::array<double, 2>> last_virtual_graph() {
  static auto* const ask = find<std::size_t(double*, std::size_t)>("membound_vgpu_graph_work");
  if (ask == nullptr) return {};
  std::vector<std::array<double, 2>> spans(ask(nullptr, 0));
  if (!spans.empty()) static_cast<void>(ask(spans.front().data(), 2 * spans.size()));
  return spans;
}

bool keep_virtual_uses() {
  auto* const keep = find<void()>("membound_vgpu_keep_uses");
  if (keep != nullptr) keep();
  return keep != nullptr;
}

std::vector<std::vector<MemoryUse>> take_virtual_uses() {
  using See = void(void*, std::size_t, int, std::uint64_t, std::uint64_t);
  static auto* const take = find<std::size_t(See*, void*)>("membound_vgpu_take_uses");
  std::vector<std::vector<MemoryUse>> all;
  if (take == nullptr) return all;
  const auto see = [](void* state, std::size_t operation, int writes, std::uint64_t begin,
                      std::uint64_t end) {
    auto& operations = *static_cast<std::vector<std::vector<MemoryUse>>*>(state);
    if (operations.size() <= operation) operations.resize(operation + 1);
    operations[operation].push_back({begin, end, writes != 0});
  };
  all.resize(take(see, &all));
  // Whoever reads the record has to hold all of it.
  constexpr std::size_t kMostUses = 4096;
  for (std::vector<MemoryUse>& uses : all)
    if (uses.size() > kMostUses) uses = {{0, MemoryUse::kEnd, false}, {0, MemoryUse::kEnd, true}};
  return all;
}

bool sample_virtual_launches(const SampleLaunches& how) {
  if (how.on == SampleLaunches::kBlockRange) {
    using Run =
        void(unsigned long long, unsigned long long, unsigned long long, unsigned long long);
    static auto* const run = find<Run>("membound_vgpu_run_blocks");
    if (run != nullptr) run(how.first, how.count, how.most_instructions, how.slice_step);
    return run != nullptr;
  }
  static auto* const sample = find<void(int, unsigned long long)>("membound_vgpu_sample");
  if (sample != nullptr) sample(how.on, how.seed);
  return sample != nullptr;
}

bool draw_virtual_word(std::uint64_t address, std::uint32_t word) {
  static auto* const draw = find<int(void*, unsigned)>("membound_vgpu_draw_word");
  return draw != nullptr && draw(reinterpret_cast<void*>(address), word) != 0;
}

bool draw_virtual_input(const DrawInput& input) {
  static auto* const draw = find<int(void*, const base::DrawnInput*)>("membound_vgpu_draw_input");
  const base::DrawnInput how{input.how, static_cast<base::ElementType>(input.type)};
  return draw != nullptr && draw(reinterpret_cast<void*>(input.address), &how) != 0;
}

std::optional<bool> is_virtual_input_as_drawn(std::uint64_t address) {
  static auto* const ask = find<int(const void*)>("membound_vgpu_is_as_drawn");
  const int answer = ask == nullptr ? -1 : ask(reinterpret_cast<const void*>(address));
  return answer < 0 ? std::nullopt : std::optional(answer == 1);
}

bool each_virtual_touched(std::uint64_t address, const SeeTouched& see) {
  using See = void(void*, std::size_t, const void*, std::size_t);
  static auto* const each = find<int(const void*, See*, void*)>("membound_vgpu_each_drawn");
  if (each == nullptr) return false;
  const auto pass_on = [](void* state, std::size_t offset, const void* bytes, std::size_t count) {
    (*static_cast<const SeeTouched*>(state))(offset, {static_cast<const std::byte*>(bytes), count});
  };
  return each(reinterpret_cast<const void*>(address), pass_on, const_cast<SeeTouched*>(&see)) != 0;
}

std::vector<Parameter> parameters_of(cudaKernel_t kernel) {
  std::vector<Parameter> all;
  for (Parameter one; parameter(kernel, all.size(), one);) all.push_back(one);
  return all;
}

}  // namespace membound::runner
