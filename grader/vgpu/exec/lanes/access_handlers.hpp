// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which of an access's handlers serves an instruction: by element in memory, by word of a register
/// and by length of a vector.
/// Place in the chain: ops_global, ops_shared -> [access_handlers].
#pragma once

#include <type_traits>

#include "grader/vgpu/exec/state/access.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {

/// T: element in memory. Word: register word, at least as wide for loads.
template <typename Word, typename T>
[[gnu::always_inline]] inline Word widen(T value) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<Word>(static_cast<std::make_signed_t<Word>>(value));
  else
    return static_cast<Word>(value);
}

template <typename Handlers, typename T, typename Word>
Handler handler_by_vector(const program::Instruction& in) {
  switch (in.vector) {
    case 1:
      return Handlers::template of<T, Word, 1>(in);
    case 2:
      return Handlers::template of<T, Word, 2>(in);
    case 4:
      if constexpr (sizeof(T) <= 4) return Handlers::template of<T, Word, 4>(in);
      return nullptr;
    default:
      return nullptr;
  }
}

template <typename Handlers, typename Word, bool kLoads>
Handler handler_by_element(const program::Instruction& in) {
  using ptx::ScalarType;
  switch (in.type) {
    case ScalarType::kS8:
      return handler_by_vector<Handlers, std::conditional_t<kLoads, i8, u8>, Word>(in);
    case ScalarType::kU8:
    case ScalarType::kB8:
      return handler_by_vector<Handlers, u8, Word>(in);
    case ScalarType::kS16:
      return handler_by_vector<Handlers, std::conditional_t<kLoads, i16, u16>, Word>(in);
    case ScalarType::kU16:
    case ScalarType::kB16:
    case ScalarType::kF16:
    case ScalarType::kBf16:
      return handler_by_vector<Handlers, u16, Word>(in);
    case ScalarType::kS32:
      return handler_by_vector<Handlers, std::conditional_t<kLoads, i32, u32>, Word>(in);
    case ScalarType::kU32:
    case ScalarType::kB32:
    case ScalarType::kF32:
    case ScalarType::kF16x2:
    case ScalarType::kBf16x2:
      return handler_by_vector<Handlers, u32, Word>(in);
    case ScalarType::kS64:
    case ScalarType::kU64:
    case ScalarType::kB64:
    case ScalarType::kF64:
      if constexpr (sizeof(Word) == 8) return handler_by_vector<Handlers, u64, Word>(in);
      return nullptr;
    default:
      return nullptr;
  }
}

/// `Handlers<kKind>::of<T, Word, kVector>(in)` is the handler of one such access.
template <template <AccessKind> typename Handlers>
Handler handler_of_access(const program::Instruction& in) {
  using Load = Handlers<AccessKind::kLoad>;
  using Store = Handlers<AccessKind::kStore>;
  const bool load = in.opcode != program::Opcode::kSt;
  const auto slots = load ? in.d_slots : in.s_slots;
  if (slots == 1)
    return load ? handler_by_element<Load, u32, true>(in)
                : handler_by_element<Store, u32, false>(in);
  if (slots == 2)
    return load ? handler_by_element<Load, u64, true>(in)
                : handler_by_element<Store, u64, false>(in);
  return nullptr;
}

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
