// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// All that C++ here knows of the processor it is compiled for: x86-64 or AArch64 (the ARM of 64
/// bits), on Linux. What its build needs stands in grader/cmake/Processor.cmake. Sources: System V
/// ABI, AMD64 supplement; Arm Architecture Reference Manual for A-profile; ELF for the Arm 64-bit
/// Architecture.
#pragma once

#include <elf.h>
#include <signal.h>
#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>

/// What a function is compiled for that multiplies eight numbers of 64 bits at once, where
/// base::runs_wider_code() says that this processor does.
#define MEMBOUND_WIDER_CODE [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]]
/// The namespace of the virtual GPU's lane loops for newer processors: runs_newer_lanes().
#define MEMBOUND_NEWER_LANES avx2
/// Assembler: goes on at a symbol of another library, through the table of its addresses.
#define MEMBOUND_JUMP_TO(symbol) "jmp *" symbol "@GOTPCREL(%rip)\n"
#elif defined(__aarch64__)
#define MEMBOUND_WIDER_CODE
#define MEMBOUND_NEWER_LANES generic
#define MEMBOUND_JUMP_TO(symbol) \
  "adrp x16, :got:" symbol "\nldr x16, [x16, :got_lo12:" symbol "]\nbr x16\n"
#else
#error "no x86-64 or AArch64: write its part of processor.hpp and Processor.cmake"
#endif

/// The namespace of those for every processor; a build for this machine alone may have none
/// (Processor.cmake).
#ifdef MEMBOUND_NEWER_LANES_ONLY
#define MEMBOUND_OLDER_LANES MEMBOUND_NEWER_LANES
#else
#define MEMBOUND_OLDER_LANES generic
#endif

namespace membound::base {

/// Machine code of one short function; not used bytes trap.
using MachineStub = std::array<unsigned char, 16>;

#if defined(__x86_64__)

/// The folder of a CUDA toolkit, in targets/, with what runs on this kind of processor.
inline constexpr const char* kCudaTarget = "x86_64-linux";
inline constexpr std::uint16_t kElfMachine = EM_X86_64;
inline constexpr std::uint32_t kAddressRelocation = R_X86_64_GLOB_DAT;
/// Of the largest pages that a kernel may have: what a segment of an ELF file is aligned to.
inline constexpr std::uint64_t kLargestPageBytes = 4096;

/// Whether a result that is no number, of operands that are, is a positive NaN.
inline constexpr bool kMadeNanIsPositive = false;

inline bool runs_wider_code() {
  static const bool does = __builtin_cpu_supports("avx512f") &&
                           __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return does;
}

inline bool runs_newer_lanes() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2");
}

/// Copies past the cache. Both ends and the size are multiples of 16 bytes.
inline void copy_past_cache(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_load_si128(reinterpret_cast<const __m128i*>(from + i)));
  _mm_sfence();
}

/// Whether the access wrote that a signal handler of SIGSEGV was called for.
inline bool is_write(const ucontext_t& interrupted) {
  constexpr greg_t kWrites = 2;  // of a page fault's error code
  return (interrupted.uc_mcontext.gregs[REG_ERR] & kWrites) != 0;
}

/// The address of the instruction that a signal handler was called before.
inline std::uintptr_t next_instruction(const ucontext_t& interrupted) {
  return static_cast<std::uintptr_t>(interrupted.uc_mcontext.gregs[REG_RIP]);
}

/// `distance` from the end of the instruction, whose last four bytes tell it.
inline void put_distance(MachineStub& code, std::size_t end, std::int64_t distance) {
  const auto told = static_cast<std::int32_t>(distance - static_cast<std::int64_t>(end));
  std::memcpy(&code[end - sizeof told], &told, sizeof told);
}

/// A function that returns 0.
inline MachineStub stub_returns() { return {0x31, 0xc0, 0xc3}; }  // xor eax, eax; ret

/// A function that stores an address where its argument points to, and returns 0.
inline MachineStub stub_stores(std::int64_t to_address) {
  // lea rax, [rip + address]; mov [rdi], rax; xor eax, eax; ret
  MachineStub code{0x48, 0x8d, 0x05, 0, 0, 0, 0, 0x48, 0x89, 0x07, 0x31, 0xc0, 0xc3};
  put_distance(code, 7, to_address);
  return code;
}

/// A function that goes on at the function whose address is in `slot`, with an address as its
/// argument. All distances are from the stub, in bytes.
inline MachineStub stub_calls(std::int64_t to_argument, std::int64_t to_slot) {
  // lea rdi, [rip + argument]; jmp [rip + slot]; int3 …
  MachineStub code{0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0, 0xcc, 0xcc, 0xcc};
  put_distance(code, 7, to_argument);
  put_distance(code, 13, to_slot);
  return code;
}

#else  // AArch64

inline constexpr const char* kCudaTarget = "sbsa-linux";
inline constexpr std::uint16_t kElfMachine = EM_AARCH64;
inline constexpr std::uint32_t kAddressRelocation = R_AARCH64_GLOB_DAT;
inline constexpr std::uint64_t kLargestPageBytes = 65536;
inline constexpr bool kMadeNanIsPositive = true;

constexpr bool runs_wider_code() { return false; }
constexpr bool runs_newer_lanes() { return false; }

inline void copy_past_cache(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

inline bool is_write(const ucontext_t& interrupted) {
  constexpr std::uint64_t kWrites = 1 << 6;  // WnR of a data abort's syndrome
  const auto& records = interrupted.uc_mcontext.__reserved;
  std::size_t at = 0;
  esr_context syndrome{};
  for (_aarch64_ctx head{}; at + sizeof syndrome <= sizeof records; at += head.size) {
    std::memcpy(&head, &records[at], sizeof head);
    if (head.magic == ESR_MAGIC) {
      std::memcpy(&syndrome, &records[at], sizeof syndrome);
      return (syndrome.esr & kWrites) != 0;
    }
    if (head.magic == 0 || head.size == 0) break;
  }
  return false;  // qemu before 10.1 says nothing
}

inline std::uintptr_t next_instruction(const ucontext_t& interrupted) {
  return interrupted.uc_mcontext.pc;
}

/// Four instructions.
inline MachineStub stub_of(std::array<std::uint32_t, 4> instructions) {
  MachineStub code{};
  std::memcpy(code.data(), instructions.data(), sizeof code);
  return code;
}

/// adr Xd: an address at most 1 MiB away.
constexpr std::uint32_t address_in(std::uint32_t d, std::int64_t distance) {
  const auto bits = static_cast<std::uint32_t>(distance);
  return 0x10000000u | (bits & 3) << 29 | (bits >> 2 & 0x7ffff) << 5 | d;
}

inline constexpr std::uint32_t kReturn = 0xd65f03c0, kTrap = 0xd4200000;
inline constexpr std::uint32_t kZeroInW0 = 0x2a1f03e0;  // mov w0, wzr

inline MachineStub stub_returns() { return stub_of({kZeroInW0, kReturn, kTrap, kTrap}); }

inline MachineStub stub_stores(std::int64_t to_address) {
  return stub_of({address_in(8, to_address), 0xf9000008 /* str x8, [x0] */, kZeroInW0, kReturn});
}

inline MachineStub stub_calls(std::int64_t to_argument, std::int64_t to_slot) {
  const auto words = static_cast<std::uint32_t>(to_slot - 4) >> 2;
  return stub_of({address_in(0, to_argument), 0x58000010u | (words & 0x7ffff) << 5 /* ldr x16 */,
                  0xd61f0200 /* br x16 */, kTrap});
}

#endif

}  // namespace membound::base
