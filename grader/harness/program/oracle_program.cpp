// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The standard tests of programs: each gives the program the inputs that the lab's oracle takes,
/// and holds what it writes against what the oracle writes.
#include <string_view>
#include <type_traits>

#include "grader/base/result.hpp"
#include "grader/harness/program/program_test.hpp"

namespace membound::harness {

namespace {

/// Far from 0, so that few words of a program's own equal one.
constexpr IntegerRange kUsual{1000, 999999};

HostArray give(ProgramTest& test, const std::string& name, const TimedBuffer& buffer,
               std::uint64_t seed) {
  const IntegerRange range = buffer.integers.value_or(kUsual);
  return base::with_type(buffer.type, [&](auto value) {
    using T = decltype(value);
    if constexpr (sizeof(T) == sizeof(std::uint32_t)) {
      return bytes_of(test.give_integers<T>(name, buffer.count, range.low, range.high, seed));
    } else {  // copies are followed word by word: larger elements stay as they are in a replay
      const auto values = generate_integers<T>(buffer.count, range.low, range.high, seed);
      test.give(name, values);
      return bytes_of(values);
    }
  });
}

/// `elements`: of an oracle of one size; of more sizes, the last one's, and the others are 1.
testing::AssertionResult check(ProgramTest& test, std::int64_t elements) {
  MEMBOUND_CHECK(program_oracle() != nullptr);  // started without --oracle
  const LabOracle& oracle = *program_oracle();
  std::vector<std::int64_t> sizes(oracle.size_count(), 1);
  sizes.back() = elements;
  std::vector<HostArray> inputs;
  const auto names = oracle.input_names();
  for (const TimedBuffer& buffer : oracle.inputs(sizes))
    inputs.push_back(give(test, names[inputs.size()], buffer, test.seed(inputs.size() + 1)));
  const HostArray right = oracle.expected(sizes, inputs);
  return base::with_type(oracle.output(sizes).type, [&](auto value) {
    return test.expect(oracle.output_name(), values_of<decltype(value)>(right), oracle.shape(sizes),
                       oracle.tolerance());
  });
}

}  // namespace

// Names and tags as in course::kOracleTests. The calls of the last one are those that demands are
// held against.
const std::vector<HostTest> kTests = {
    {"OneElement", "one-element", [](ProgramTest& test) { return check(test, 1); }},
    {"EdgesOfBlocks", "edge-guard", [](ProgramTest& test) { return check(test, 257); }},
    {"EmptyArrays", "empty", [](ProgramTest& test) { return check(test, 0); }},
    {"Primes", "edge-guard", [](ProgramTest& test) { return check(test, 10007); }},
    {"MoreElementsThanThreads", "cover", [](ProgramTest& test) { return check(test, 300007); }}};

const HostTest kTimedTest = {"", "", nullptr};

}  // namespace membound::harness
