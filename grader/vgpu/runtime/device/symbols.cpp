// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/symbols.hpp"

#include "grader/vgpu/runtime/device/console_messages.hpp"

namespace membound::vgpu::runtime {
namespace {

cudaError_t find_symbol(Context& context, const void* symbol, PlacedVariable& found) {
  const RegisteredVariable* variable = context.registry.find_variable(symbol);
  if (variable == nullptr) return cudaErrorInvalidSymbol;
  const base::Status loaded = variable->module->load(context.memory, context.code_target());
  if (!loaded) {
    if (variable->module->take_first_report())
      messages::print(messages::unusable_code("", loaded.error()));
    return variable->module->load_code();
  }
  const auto placed = variable->module->variable(variable->name);
  if (!placed) return cudaErrorInvalidSymbol;
  found = *placed;
  return cudaSuccess;
}

}  // namespace

cudaError_t symbol_range(Context& context, const void* symbol, std::size_t offset,
                         std::size_t bytes, std::uint64_t& address) {
  PlacedVariable found;
  if (const cudaError_t code = find_symbol(context, symbol, found); code != cudaSuccess)
    return code;
  if (offset > found.bytes || bytes > found.bytes - offset) return cudaErrorInvalidValue;
  address = found.address + offset;
  return cudaSuccess;
}

cudaError_t symbol_size(Context& context, const void* symbol, std::size_t& bytes) {
  PlacedVariable found;
  const cudaError_t code = find_symbol(context, symbol, found);
  bytes = found.bytes;
  return code;
}

}  // namespace membound::vgpu::runtime
