// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whether what a program handed in is what its kernels made of its inputs: the words of its output
/// are followed to the copies that brought them, from there back to the launches that wrote them
/// and to what these read; and the replay says what these copies would have brought for other
/// inputs. Inside one launch, reads are taken to come before writes. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "grader/harness/program/replayed_run.hpp"
#include "grader/sandbox/runner/call_record.hpp"

namespace membound::harness {

/// A call that put the device to work: only those are followed.
[[nodiscard]] inline bool has_worked(const runner::Call& call) {
  return call.succeeded() && runner::is_work(call.kind);
}

/// Who wrote what the copies brought back that are asked for, and what went into it.
struct DataFlow {
  /// Of each call that has_worked(), in order: whether anything it did came into those copies.
  std::vector<bool> arrived;
  /// What those copies took that no launch wrote, also by way of copies on the device.
  bool took_copied_in = false, took_filled = false, took_unwritten = false;
};

/// `wanted`: for each copy to the host that has worked, in order, whether it is asked for.
[[nodiscard]] DataFlow follow_data(const std::vector<runner::Call>& calls,
                                   const std::vector<bool>& wanted);

/// An output, word by word, as the program would have handed it in for the other inputs.
struct HandedInAgain {
  std::vector<std::uint32_t> words;  ///< where nothing was copied back: as it was
  std::vector<bool> copies;          ///< for each copy to the host: whether a word came with it
  std::size_t strangers = 0;         ///< words that no copy has brought
  std::size_t first_stranger = 0;    ///< the place of the first of them
};

/// Finds each word of `output` among those copied back and takes what the replay has there. Where a
/// word was copied back several times, the one is meant that becomes `expected`.
[[nodiscard]] HandedInAgain hand_in_again(std::vector<std::uint32_t> output,
                                          const std::vector<std::uint32_t>& expected,
                                          const CopiedBack& back);

/// Why the words that do not become what is expected cannot be the kernels' work on the inputs, a
/// sentence. `name`: the output's.
[[nodiscard]] std::string why_not_the_devices(const Replay& replay, const HandedInAgain& handed,
                                              const std::vector<std::uint32_t>& expected,
                                              const std::string& name);

/// The words of `output`, which a run handed in, that another run of the program has at the same
/// places, although every word was changed that copies brought to it: they did not come with these
/// copies. A sentence; "" where there is none, or where the sizes differ.
[[nodiscard]] std::string why_not_as_copied(const std::string& output, const std::string& changed,
                                            const std::string& name);

}  // namespace membound::harness
