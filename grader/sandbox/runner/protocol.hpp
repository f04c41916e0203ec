// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Frames and their content: a request or an answer to bytes and back, by the fields of its struct.
/// The reader trusts nothing: every length is held against what is left of the bytes and against a
/// bound of its own before anything is allocated. Numbers are little-endian and packed; a text or a
/// list is a 32-bit count and its elements.
///
/// A frame is a header of 16 bytes and `length` bytes of payload. Requests and answers alternate:
/// an answer carries the sequence number of its request, so that none can be given twice or early.
///   | magic + version | length | sequence | kind |      four 32-bit numbers
/// `kind` is the request's number; an answer sets its highest bit and starts with the CUDA code.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/sandbox/runner/messages.hpp"

namespace membound::runner {

template <typename T>
concept Aggregate = std::is_aggregate_v<T>;

/// Stands for a value of any field: asked for, never made.
struct AnyValue {
  template <typename T>
  operator T() const;  // NOLINT(google-explicit-constructor): the conversion is what is asked for
};

/// How many fields T has: as many values as its braces take.
template <Aggregate T, typename... Values>
consteval std::size_t field_count() {
  if constexpr (requires { T{Values{}..., AnyValue{}}; })
    return field_count<T, Values..., AnyValue>();
  else
    return sizeof...(Values);
}

/// Calls `visit(field, field, …)` with all fields of `value`, at most 8.
template <typename T, typename V>
void visit_fields(T& value, V&& visit) {
  constexpr std::size_t kCount = field_count<std::remove_const_t<T>>();
  static_assert(kCount <= 8, "add a line");
  if constexpr (kCount == 0) {
    visit();
  } else if constexpr (kCount == 1) {
    auto& [a] = value;
    visit(a);
  } else if constexpr (kCount == 2) {
    auto& [a, b] = value;
    visit(a, b);
  } else if constexpr (kCount == 3) {
    auto& [a, b, c] = value;
    visit(a, b, c);
  } else if constexpr (kCount == 4) {
    auto& [a, b, c, d] = value;
    visit(a, b, c, d);
  } else if constexpr (kCount == 5) {
    auto& [a, b, c, d, e] = value;
    visit(a, b, c, d, e);
  } else if constexpr (kCount == 6) {
    auto& [a, b, c, d, e, f] = value;
    visit(a, b, c, d, e, f);
  } else if constexpr (kCount == 7) {
    auto& [a, b, c, d, e, f, g] = value;
    visit(a, b, c, d, e, f, g);
  } else {
    auto& [a, b, c, d, e, f, g, h] = value;
    visit(a, b, c, d, e, f, g, h);
  }
}

/// "Launch" of membound::runner::Launch.
template <typename T>
consteval std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;  // "… [with T = membound::runner::Launch; …]"
  text.remove_prefix(text.find("T = ") + 4);
  text = text.substr(0, text.find_first_of(";]"));
  return text.substr(text.rfind(':') + 1);
}

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are");

/// Most elements of one list or bytes of one text; a frame bounds their sum.
inline constexpr std::uint32_t kMaxElements = 1U << 16;

template <typename T>
concept Number = std::is_arithmetic_v<T>;

/// Appends values to bytes; of a struct its fields.
class Writer {
 public:
  template <Number T>
  void operator()(const T& value) {
    append(&value, sizeof(T));
  }
  template <Number T, std::size_t n>
  void operator()(const std::array<T, n>& values) {
    for (const T& value : values) (*this)(value);
  }
  void operator()(const std::string& text) {
    (*this)(static_cast<std::uint32_t>(text.size()));
    append(text.data(), text.size());
  }
  void operator()(const std::vector<std::byte>& data) {
    (*this)(static_cast<std::uint32_t>(data.size()));
    append(data.data(), data.size());
  }
  template <typename T>
  void operator()(const std::vector<T>& list) {
    (*this)(static_cast<std::uint32_t>(list.size()));
    for (const T& element : list) (*this)(element);
  }
  template <Aggregate T>
  void operator()(const T& value) {
    visit_fields(value, [this](const auto&... fields) { ((*this)(fields), ...); });
  }

  /// Bytes without a count before them.
  void raw(std::span<const std::byte> data) { append(data.data(), data.size()); }

  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void append(const void* data, std::size_t size) {
    const std::size_t before = bytes_.size();
    bytes_.resize(before + size);
    if (size > 0) std::memcpy(bytes_.data() + before, data, size);
  }

  std::vector<std::byte> bytes_;
};

/// Takes values from bytes. After the first value that does not fit, ok() is false for good and
/// every value read is 0 or empty.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}

  template <Number T>
  void operator()(T& value) {
    value = {};
    if (!has(sizeof(T))) return;
    std::memcpy(&value, left_.data(), sizeof(T));
    left_ = left_.subspan(sizeof(T));
  }
  template <Number T, std::size_t n>
  void operator()(std::array<T, n>& values) {
    for (T& value : values) (*this)(value);
  }
  void operator()(std::string& text) {
    const std::span<const std::byte> part = counted(1);
    text.assign(reinterpret_cast<const char*>(part.data()), part.size());
  }
  void operator()(std::vector<std::byte>& data) {
    const std::span<const std::byte> part = counted(1);
    data.assign(part.begin(), part.end());
  }
  template <typename T>
  void operator()(std::vector<T>& list) {
    list.clear();
    std::uint32_t count = 0;
    (*this)(count);
    // An element takes at least a byte: a count beyond the bytes left is a lie.
    if (count > kMaxElements || count > left_.size()) return fail();
    for (std::uint32_t i = 0; i < count && ok_; ++i) (*this)(list.emplace_back());
    if (!ok_) list.clear();
  }
  template <Aggregate T>
  void operator()(T& value) {
    visit_fields(value, [this](auto&... fields) { ((*this)(fields), ...); });
  }

  [[nodiscard]] bool ok() const { return ok_; }
  /// Whether all was well and nothing is left over.
  [[nodiscard]] bool finished() const { return ok_ && left_.empty(); }

 private:
  bool has(std::size_t bytes) {
    if (ok_ && left_.size() >= bytes) return true;
    fail();
    return false;
  }
  std::span<const std::byte> counted(std::size_t element_bytes) {
    std::uint32_t count = 0;
    (*this)(count);
    if (!has(count * element_bytes) || count > kMaxElements) {
      fail();
      return {};
    }
    const std::span<const std::byte> part = left_.first(count * element_bytes);
    left_ = left_.subspan(part.size());
    return part;
  }
  void fail() {
    ok_ = false;
    left_ = {};
  }

  std::span<const std::byte> left_;
  bool ok_ = true;
};

/// "MBR" and the version: both sides come from the same build, so another version is an error.
inline constexpr std::uint32_t kMagic = 0x0152424DU;
inline constexpr std::uint32_t kAnswerBit = 0x80000000U;
/// Largest payload of a frame; bulk data is in the shared buffer.
inline constexpr std::uint32_t kMaxPayloadBytes = 1U << 20;
/// Size of the shared buffer; larger copies go in slices.
inline constexpr std::uint64_t kSharedBytes = std::uint64_t{16} << 20;
/// Uploads up to this size travel in the request.
inline constexpr std::size_t kInlineBytes = 4096;
inline constexpr std::size_t kMaxBatch = 256;
/// Most ranges of one TouchedAnswer.
inline constexpr std::size_t kMaxRanges = 1 << 15;
/// CUDA's own limit on the parameters of a kernel from compute capability 7.0 on.
inline constexpr std::uint32_t kMaxParameterBytes = 32764;

/// The first 16 bytes of a frame.
struct FrameHeader {
  std::uint32_t magic = kMagic, length = 0, sequence = 0, kind = 0;
};
inline constexpr std::size_t kHeaderBytes = 16;

/// The header in `bytes`, or what is wrong with it.
[[nodiscard]] base::Result<FrameHeader> decode_header(std::span<const std::byte> bytes);

/// A whole frame.
[[nodiscard]] std::vector<std::byte> encode_frame(std::uint32_t sequence, std::uint32_t kind,
                                                  std::span<const std::byte> payload);

/// The request's number on the wire.
template <typename T>
[[nodiscard]] constexpr std::uint32_t kind_of() {
  std::uint32_t kind = 0;
  [&]<typename... All>(const std::variant<All...>*) {
    static_cast<void>(((std::is_same_v<T, All> ? true : (++kind, false)) || ...));
  }(static_cast<const Request*>(nullptr));
  return kind;
}

/// Number and fields, as a Batch holds them.
[[nodiscard]] std::vector<std::byte> encode_for_batch(const Request& request);
/// One element of a Batch; also says whether it may stand there.
[[nodiscard]] base::Result<Request> decode_from_batch(std::span<const std::byte> bytes);

/// The payload of a request's frame.
[[nodiscard]] std::vector<std::byte> encode(const Request& request);
/// The request of that number with these fields and nothing more.
[[nodiscard]] base::Result<Request> decode_request(std::uint32_t kind,
                                                   std::span<const std::byte> payload);

/// "request Launch" for messages; the number for one that does not exist.
[[nodiscard]] std::string name_of(std::uint32_t kind);

/// The payload of an answer's frame.
template <typename Answer>
[[nodiscard]] std::vector<std::byte> encode_answer(std::int32_t code, const Answer& answer) {
  Writer writer;
  writer(code);
  writer(answer);
  return writer.take();
}

/// An answer: the CUDA code, and fields that only mean something when it is 0.
template <typename Answer>
struct Decoded {
  std::int32_t code = 0;
  Answer answer;
};

/// Nothing when the bytes are not exactly such an answer or break a rule of check_answer().
template <typename Answer>
[[nodiscard]] std::optional<Decoded<Answer>> decode_answer(std::span<const std::byte> payload);

/// Rules beyond the form: parameters in order and within CUDA's limit, and so on.
[[nodiscard]] bool check_answer(const ModuleAnswer& answer);
[[nodiscard]] bool check_answer(const ReportAnswer& answer);
[[nodiscard]] bool check_answer(const TouchedAnswer& answer);
template <typename Answer>
[[nodiscard]] bool check_answer(const Answer&) {
  return true;
}

template <typename Answer>
std::optional<Decoded<Answer>> decode_answer(std::span<const std::byte> payload) {
  Decoded<Answer> decoded;
  Reader reader(payload);
  reader(decoded.code);
  reader(decoded.answer);
  if (!reader.finished() || !check_answer(decoded.answer)) return std::nullopt;
  return decoded;
}

/// Bytes that a kernel's parameters take in a launch.
[[nodiscard]] std::uint32_t parameter_bytes(const KernelInfo& kernel);

}  // namespace membound::runner
