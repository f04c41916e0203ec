// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What tests of the virtual GPU share: PTX text in, memory filled, one launch, memory out.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "grader/device_code/ptx/parser.hpp"
#include "grader/vgpu/exec/launch/launch.hpp"

namespace membound::vgpu::exec {

/// A small machine with one program.
class Machine {
 public:
  explicit Machine(std::string_view ptx) {
    auto module = ptx::parse(ptx, "test.ptx");
    if (!module) throw std::runtime_error(to_string(module.error()));
    auto program = program::Program::link({&*module, 1});
    if (!program) throw std::runtime_error(to_string(program.error()));
    program_ = std::move(*program);
    for (std::size_t g = 0; g < program_.globals().size(); ++g) {
      const auto& global = program_.globals()[g];
      const auto address =
          space_.allocate(std::max<std::uint64_t>(1, global.size_bytes), global.alignment_bytes,
                          {memory::AllocationKind::kGlobalVariable, global.name, true});
      program_.place_global(g, *address);
    }
    for (std::size_t g = 0; g < program_.globals().size(); ++g) {
      const auto image = program_.initial_image(g);
      space_.copy_in(program_.globals()[g].device_address, image.data(), image.size());
    }
  }

  template <typename T>
  std::uint64_t upload(const std::vector<T>& data) {
    const auto address = space_.allocate(data.size() * sizeof(T), 256, {});
    space_.copy_in(*address, data.data(), data.size() * sizeof(T));
    return *address;
  }
  template <typename T>
  std::vector<T> download(std::uint64_t address, std::size_t count) {
    std::vector<T> data(count);
    space_.copy_out(data.data(), address, count * sizeof(T));
    return data;
  }

  template <typename T>
  Machine& argument(T value) {
    arguments_.resize((arguments_.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    arguments_.insert(arguments_.end(), first, first + sizeof(T));
    return *this;
  }

  /// Launches with the arguments given since the last launch.
  LaunchReport run(const std::string& kernel, Dim3 grid, Dim3 block) {
    request_.program = &program_;
    request_.kernel = program_.find_kernel(kernel);
    if (request_.kernel == nullptr) throw std::runtime_error("no kernel " + kernel);
    request_.grid = grid;
    request_.block = block;
    request_.parameters = arguments_;
    request_.memory = &space_;
    LaunchReport report = launch(request_);
    arguments_.clear();
    return report;
  }

  LaunchRequest& request() { return request_; }
  memory::AddressSpace& space() { return space_; }
  program::Program& program() { return program_; }

 private:
  memory::AddressSpace space_{std::uint64_t{1} << 30};
  program::Program program_;
  std::vector<std::byte> arguments_;
  LaunchRequest request_;
};

}  // namespace membound::vgpu::exec
