// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/timed_case.hpp"

#include <cstring>
#include <limits>
#include <sstream>
#include <type_traits>
#include <vector>

#include "grader/base/demangle.hpp"
#include "grader/base/result.hpp"
#include "grader/harness/cases/data.hpp"

namespace membound::harness {

std::string type_name(const std::type_info& type) { return base::demangled(type.name()); }

std::vector<std::string> KernelArguments::types() const {
  std::vector<std::string> types;
  for (const Argument& argument : arguments_) types.push_back(argument.type);
  return types;
}

std::vector<void*> KernelArguments::addresses() {
  std::vector<void*> addresses;
  for (Argument& argument : arguments_) addresses.push_back(argument.bytes.data());
  return addresses;
}

std::vector<std::size_t> KernelArguments::sizes() const {
  std::vector<std::size_t> sizes;
  for (const Argument& argument : arguments_) sizes.push_back(argument.bytes.size());
  return sizes;
}

std::size_t KernelArguments::index_of_pointer(const void* pointer) const {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    const Argument& argument = arguments_[i];
    if (argument.type.back() == '*' &&
        std::memcmp(argument.bytes.data(), &pointer, sizeof(pointer)) == 0)
      return i;
  }
  return arguments_.size();
}

using base::with_type;

Draw draw_of(const TimedBuffer& buffer, std::uint64_t seed) {
  const IntegerRange range = buffer.integers.value_or(IntegerRange{});
  return {seed,
          range.low,
          range.high,
          buffer.infinity_share,
          static_cast<int>(buffer.fill),
          buffer.integers ? 1 : 0};
}

DrawnInputs::DrawnInputs(std::span<const TimedBuffer> buffers,
                         std::span<const std::uint64_t> seeds) {
  MEMBOUND_CHECK(buffers.size() == seeds.size());
  for (std::size_t i = 0; i < buffers.size(); ++i)
    inputs_.push_back({draw_of(buffers[i], seeds[i]), base::second_seed(seeds[i])});
}

HostArray drawn(const TimedBuffer& buffer, std::uint64_t seed) {
  return with_type(buffer.type, [&]<typename T>(T) {
    return bytes_of(draw<T>(buffer.count, draw_of(buffer, seed)));
  });
}

Difference difference_of(const TimedBuffer& buffer, const HostArray& got, const HostArray& expected,
                         Tolerance tolerance) {
  MEMBOUND_CHECK(got.size() == buffer.size_bytes() && expected.size() == got.size());
  Difference difference;
  with_type(buffer.type, [&]<typename T>(T) {
    const std::vector<T> a = values_of<T>(got), b = values_of<T>(expected);
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (element_equal(a[i], b[i], tolerance)) continue;
      if (difference.wrong++ == 0) difference.first = i;
    }
  });
  return difference;
}

std::string element_text(ElementType type, std::span<const std::byte> bytes) {
  return with_type(type, [&]<typename T>(T value) {
    std::memcpy(&value, bytes.data(), sizeof(T));
    std::ostringstream text;
    text.precision(std::numeric_limits<T>::max_digits10);
    text << value;
    return text.str();
  });
}

void each_written(const TimedBuffer& buffer, std::span<const std::byte> got,
                  const std::function<void(std::size_t first, std::size_t count)>& see) {
  with_type(buffer.type, [&]<typename T>(T) {
    const std::size_t count = got.size() / sizeof(T);
    const auto written = [&](std::size_t i) {
      T is{};
      std::memcpy(&is, got.data() + i * sizeof(T), sizeof(T));
      return !is_poison(is);
    };
    constexpr std::size_t kTogether = 32;
    for (std::size_t begin = 0, end = 0; begin < count; begin = end) {
      const bool is_run = written(begin);
      for (; end + kTogether <= count; end += kTogether) {
        std::size_t alike = 0;
        for (std::size_t i = 0; i < kTogether; ++i) alike += written(end + i) == is_run ? 1 : 0;
        if (alike != kTogether) break;
      }
      while (end < count && written(end) == is_run) ++end;
      if (is_run) see(begin, end - begin);
    }
  });
}

void each_written(const TimedBuffer& buffer, std::span<const std::byte> got,
                  const std::function<bool(std::size_t first, std::size_t count)>& is_poison_right,
                  const std::function<void(std::size_t first, std::size_t count)>& see) {
  // A float's poison is a NaN of its own, which is never drawn. Three integers of chance in a row
  // do not happen.
  constexpr std::size_t kLongestGap = 2;
  const bool is_integer =
      with_type(buffer.type, []<typename T>(T) { return std::is_integral_v<T>; });
  const auto is_written = [&](std::size_t from, std::size_t end) {
    return is_integer && from < end && end - from <= kLongestGap &&
           is_poison_right(from, end - from);
  };
  std::size_t begin = 0, end = 0;  // of the run so far
  each_written(buffer, got, [&](std::size_t first, std::size_t count) {
    if (!is_written(end, first)) {
      if (begin < end) see(begin, end - begin);
      begin = first;
    }
    end = first + count;
  });
  if (begin == end) return;
  const std::size_t all = got.size() / element_bytes(buffer.type);
  if (is_written(end, all)) end = all;
  see(begin, end - begin);
}

void compare_written(const TimedBuffer& buffer, std::size_t first, std::span<const std::byte> got,
                     const HostArray& expected, Tolerance tolerance, WrittenPart& part) {
  MEMBOUND_CHECK(got.size() == expected.size());
  with_type(buffer.type, [&]<typename T>(T) {
    if (have_same_bits<T>(got, expected)) {
      part.elements += got.size() / sizeof(T);
      return;
    }
    for (std::size_t at = 0; at < got.size(); at += sizeof(T)) {
      T is{}, right{};
      std::memcpy(&is, got.data() + at, sizeof(T));
      std::memcpy(&right, expected.data() + at, sizeof(T));
      const std::size_t index = first + at / sizeof(T);
      ++part.elements;
      if (element_equal(is, right, tolerance)) continue;
      if (part.difference.wrong++ == 0) part.difference.first = index;
    }
  });
}

}  // namespace membound::harness
