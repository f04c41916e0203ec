// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a program asked its device for, done once more without the program: the same requests to a
/// new runner, but other inputs in the copies to the device. What comes back then is what the
/// device makes of those inputs; whatever the host worked out stays as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/measurement.hpp"
#include "grader/harness/program/program_run.hpp"

namespace membound::harness {

/// The words of all copies to the host, one copy after the other.
struct CopiedBack {
  std::vector<std::uint32_t> first;  ///< in the program's run
  std::vector<std::uint32_t> again;  ///< in the replay: as many
  std::vector<std::size_t> ends;     ///< of each copy: one past its last word
};

/// Words of 32 bits, each of which has one other word for it, wherever it stands: so a program may
/// copy its inputs in parts, in rows with gaps, interleaved or in another order.
class OtherInputs {
 public:
  /// Two arrays of one size: what the program reads, and what is put in its place.
  void add(std::vector<std::uint32_t> given, std::vector<std::uint32_t> other);
  /// What was copied back in the program's run and in the replay, from word `first` on to the end:
  /// it may be copied to the device again. `back` must outlive this, and may grow.
  void add_copied(const CopiedBack& back, std::size_t first);

  /// Replaces every word of an input in what a copy brings to the device; how many there were.
  std::size_t replace_in(std::span<std::byte> copied);

 private:
  struct Input {
    std::vector<std::uint32_t> given, other;
    const CopiedBack* back = nullptr;  ///< not null: its words, instead
    std::size_t first = 0, count = 0;
  };
  using Words = std::span<const std::uint32_t>;
  [[nodiscard]] static std::pair<Words, Words> words_of(const Input& input);
  /// Whether the copy is a part of that input from this word on; then it is replaced.
  bool replace_part(std::span<std::byte> copied, std::size_t input, std::size_t word);

  std::vector<Input> inputs_;
  /// Where the latest copy that was a part of an input ended: the next one often goes on there.
  std::size_t next_input_ = 0, next_word_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> other_of_;  // made when it is first needed,
  std::size_t mapped_ = 0;                                     // of so many inputs
};

/// A whole number from `low` to `high` instead of `value`, which is another one of them: the same
/// for the same value and key.
[[nodiscard]] std::int64_t other_integer(std::int64_t value, std::int64_t low, std::int64_t high,
                                         std::uint64_t key);

struct Replay {
  CopiedBack back;
  std::size_t replaced = 0;         ///< words of inputs in copies to the device
  std::vector<runner::Call> calls;  ///< as the second runner noted them, with what launches used
  /// Why it came to no end: a request that went otherwise, a limit; else empty.
  std::string stopped;
};

/// Where `orders` is not 0, a virtual GPU draws from it in which orders warps, blocks and the lanes
/// of atomic operations take their turns. An error is the machine's or ours.
[[nodiscard]] base::Result<Replay> replay(const Setting& setting, const RunEnd& run,
                                          OtherInputs inputs, std::uint64_t orders = 0);

class ProgramTest;
struct HostTest;

/// What came of a test that passed and was asked once more.
struct ReplayedTest {
  std::string name;
  course::Cause abort = course::Cause::kNone;  ///< the machine's fault or ours; then `message` says
  /// Why what the program handed in is not the device's work; "" where it is.
  std::string message;
  /// Drawn orders of turns, in which nothing else was done otherwise, gave other results.
  bool hangs_on_order = false;
  /// Of each call that has_worked(): whether anything it did came into the output, and what of
  /// memory it read and wrote.
  std::vector<bool> arrived;
  std::vector<std::vector<runner::MemoryUse>> uses;
};

/// Begins that. `key` decides about the other inputs; the program cannot work it out from its own.
/// `runs_again`: instead, the program itself runs once more, and other words come with its copies
/// to the host, which it has to hand in. A program that ends otherwise then has looked at them.
[[nodiscard]] std::future<ReplayedTest> begin_replay(const HostTest& test,
                                                     std::shared_ptr<const ProgramTest> first,
                                                     const Setting& setting, std::uint64_t key,
                                                     bool runs_again);

/// Runs the program once more on what it was given, and other words come with its copies to the
/// host. `key` decides about them.
[[nodiscard]] base::Result<RunEnd> run_with_changed_copies(const Given& given, Setting setting,
                                                           std::uint64_t key);

}  // namespace membound::harness
