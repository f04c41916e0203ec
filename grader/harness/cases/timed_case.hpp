// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a lab declares about itself and about the runs that are timed: sizes, arguments, buffers;
/// and the arrays of such a case on the host, by the same rules as on a device
/// (device/harness_kernels.cu).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/harness/cases/compare.hpp"
#include "grader/harness/cases/data.hpp"

namespace membound::harness {

/// Blocks [first, first + count).
struct BlockRange {
  std::uint64_t first = 0, count = 0;
  std::uint64_t most_instructions = 0;  ///< of warps: with more it is not run; 0: no limit
  /// Not 0: `count` blocks that lie so far apart, in a ring, and of each only what decides where it
  /// stores and which way it goes.
  std::uint64_t slice_step = 0;
};

/// "float*", "long long", … for a mangled type name.
[[nodiscard]] std::string type_name(const std::type_info& type);

/// A small list that owns its values.
class KernelArguments {
 public:
  /// Appends one argument, exactly as the kernel declares it: `int` for an int, not a long.
  template <typename T>
  void add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>, "kernel parameters are copied byte by byte");
    Argument argument{std::vector<std::byte>(sizeof(T)), type_name(typeid(T))};
    std::memcpy(argument.bytes.data(), &value, sizeof(T));
    arguments_.push_back(std::move(argument));
  }

  [[nodiscard]] std::size_t size() const { return arguments_.size(); }
  /// Type names in order.
  [[nodiscard]] std::vector<std::string> types() const;
  /// What cudaLaunchKernel takes: one address per argument, valid as long as this object.
  [[nodiscard]] std::vector<void*> addresses();
  /// Bytes of each.
  [[nodiscard]] std::vector<std::size_t> sizes() const;
  /// Which argument (counted from 0) is the pointer `pointer`; size() if none is.
  [[nodiscard]] std::size_t index_of_pointer(const void* pointer) const;

 private:
  struct Argument {
    std::vector<std::byte> bytes;
    std::string type;
  };
  std::vector<Argument> arguments_;
};

/// A texture's handle (a cudaTextureObject_t) among addresses, and back.
[[nodiscard]] inline void* as_address(unsigned long long handle) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(handle));
}
[[nodiscard]] inline unsigned long long texture_handle(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

/// kernel_arguments(d_out, d_in, rows, cols)
template <typename... Arguments>
[[nodiscard]] KernelArguments kernel_arguments(const Arguments&... arguments) {
  KernelArguments list;
  (list.add(arguments), ...);
  return list;
}

using base::element_bytes;

/// The ElementType of T.
template <typename T>
[[nodiscard]] constexpr ElementType element_type_of() {
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  if (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? ElementType::kFloat : ElementType::kDouble;
  return sizeof(T) == 4 ? ElementType::kInt32 : ElementType::kInt64;
}

/// Whole numbers from low to high, both included.
struct IntegerRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/// Which elements of an output are written: of each row of `length` elements the first `used`. The
/// others must stay as they were. A length of 0: all.
struct WrittenRows {
  std::size_t length = 0, used = 0;

  [[nodiscard]] bool has(std::size_t index) const { return length == 0 || index % length < used; }
  /// Of an array of so many elements.
  [[nodiscard]] std::size_t count_of(std::size_t elements) const {
    if (length == 0) return elements;
    const std::size_t rest = elements % length;
    return elements / length * used + (rest < used ? rest : used);
  }
};

/// What an output holds before the launch.
enum class Initial { kPoison, kZero };

/// One array of a timed run. Inputs are drawn anew before every launch.
struct TimedBuffer {
  ElementType type = ElementType::kFloat;
  std::size_t count = 0;
  Fill fill = Fill::kUniform;              ///< inputs only
  std::optional<IntegerRange> integers{};  ///< inputs: whole numbers instead of `fill`
  double infinity_share = 0;               ///< inputs: this share (0 to 1) becomes +infinity
  Initial initial = Initial::kPoison;      ///< outputs only

  [[nodiscard]] std::size_t size_bytes() const { return count * element_bytes(type); }
};

/// An array on the host as its bytes, whatever its elements are.
using HostArray = std::vector<std::byte>;

/// The bytes of `values`.
template <typename T>
[[nodiscard]] HostArray bytes_of(const std::vector<T>& values) {
  HostArray bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// The values whose bytes these are.
template <typename T>
[[nodiscard]] std::vector<T> values_of(const HostArray& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

/// The inputs of one run, at any place, without an array: as they are drawn.
class DrawnInputs {
 public:
  DrawnInputs(std::span<const TimedBuffer> buffers, std::span<const std::uint64_t> seeds);
  /// Element `index` of input number `input`, whose elements are of type T.
  template <typename T>
  [[nodiscard]] T at(std::size_t input, std::size_t index) const {
    const auto& [draw, share_seed] = inputs_[input];
    return drawn_value<T>(draw, share_seed, index, std::numeric_limits<T>::infinity());
  }
  /// What `make` returns, made once for each key: for what many places of an output have in common.
  template <typename Make>
  [[nodiscard]] const HostArray& once(std::int64_t key, const Make& make) const {
    const auto [made, is_new] = made_.try_emplace(key);
    if (is_new) made->second = make();
    return made->second;
  }

 private:
  struct Input {
    Draw draw;
    unsigned long long share_seed;
  };
  std::vector<Input> inputs_;
  mutable std::map<std::int64_t, HostArray> made_;
};

/// The right elements [first, first + count of `right`) of an output, from inputs at any place.
using ExpectedByPlace = std::function<void(const DrawnInputs& inputs, std::size_t first,
                                           std::size_t count, HostArray& right)>;

/// Elements of an input that a launch has read.
struct ElementRange {
  std::size_t first = 0, count = 0;
};

/// The right output of blocks that have read these elements of the only input, each once.
using ExpectedOfRead =
    std::function<HostArray(const DrawnInputs& inputs, std::span<const ElementRange> read)>;

/// `right` becomes element(inputs, first), element(inputs, first + 1), …, of type T. All in one
/// function, at whatever level a test is compiled, because a check asks for millions.
template <typename T, typename Element>
[[gnu::flatten]] void write_places(const Element& element, const DrawnInputs& inputs,
                                   std::size_t first, std::size_t count, std::byte* right) {
  for (std::size_t i = 0; i < count; ++i) {
    const T value = element(inputs, first + i);
    std::memcpy(right + i * sizeof(T), &value, sizeof(T));
  }
}

/// `element` says what stands at one place: T(const DrawnInputs&, std::size_t index).
template <typename T, typename Element>
[[nodiscard]] ExpectedByPlace by_place(Element element) {
  return
      [element](const DrawnInputs& inputs, std::size_t first, std::size_t count, HostArray& right) {
        right.resize(count * sizeof(T));
        write_places<T>(element, inputs, first, count, right.data());
      };
}

/// An input of floats that kernels can read through a texture as well: so many to a row, in a
/// cudaArray that is filled before the launch (device/device_texture.hpp).
struct TexturedInput {
  std::size_t input = 0;  ///< its number
  std::size_t width = 0, height = 0;
};

/// An input that kernels find in constant memory as well: in this variable of kernel.cuh, which is
/// filled before the launch. A kernel.cu that does not read it may be without.
struct ConstantInput {
  std::size_t input = 0;  ///< its number
  std::string variable;
};

/// One workload that is timed; the student's kernel and the reference run on the same inputs and
/// the student's output of every run is compared with the reference's.
struct TimedCase {
  std::string label;                ///< "float 4096 x 4096"
  std::string instance;             ///< "" or the template arguments, "<float>"
  std::vector<std::int64_t> sizes;  ///< what LAUNCH_SHAPE receives
  double useful_bytes = 0;          ///< that any solution must move: each input and output once
  double useful_operations = 0;     ///< for stages bound by operations; 0 otherwise
  bool fused_operations = false;    ///< they are multiply-adds, two operations each
  std::vector<TimedBuffer> inputs;
  std::vector<TexturedInput> textures{};
  std::vector<ConstantInput> constants{};
  TimedBuffer output;
  WrittenRows written{};  ///< of the output: what a launch must write, and all that it may
  Tolerance tolerance{};
  /// Where it cannot be timed by some of its blocks, the other cases of its size are timed without
  /// it, not all of them at a smaller size.
  bool may_be_left_out = false;
  /// The kernel's arguments for these device addresses (inputs in the order given above; after
  /// them the handles of the textures, see texture_handle()).
  std::function<KernelArguments(std::span<void* const> d_inputs, void* d_output)> arguments;
  /// The right output for these inputs, computed here; none where only the reference answer can say
  /// in reasonable time. With one, a class is graded without running the reference for each.
  std::function<HostArray(std::span<const HostArray> inputs)> expected{};
  /// The same at any place; none where a place needs more than a few inputs. With one, a launch on
  /// the virtual GPU may be timed by some of its blocks.
  ExpectedByPlace expected_by_place{};
  /// In its place, where all blocks add to an output that depends on all of the only input: what
  /// those that ran must have made of what they read.
  ExpectedOfRead expected_of_read{};
  [[nodiscard]] bool can_be_sampled() const { return expected_by_place || expected_of_read; }
};

/// Which parameters every stage's kernel takes.
struct Signature {
  /// {""} for a plain kernel, else the template arguments that must exist: {"<float>", "<double>"}.
  std::vector<std::string> instances = {""};
  /// As c++filt prints them, with T for the template's type: "(T*, T const*, int, int)".
  std::string parameters;
  /// Those of a stage that takes others, by the stage's kernel.
  std::map<std::string, std::string> of_kernel{};

  /// Of the stage with this kernel.
  [[nodiscard]] const std::string& parameters_of(const std::string& kernel) const {
    const auto own = of_kernel.find(kernel);
    return own == of_kernel.end() ? parameters : own->second;
  }
};

/// A host computation of the same result whose time is shown beside the GPU's; never graded.
struct CpuBaseline {
  std::string label;  ///< "CPU, one core"
  /// Makes the data for `size` (not timed) and returns the work to time.
  std::function<std::function<void()>(std::span<const std::int64_t> size)> prepare;
};

/// What a test.cpp tells about its lab; exactly one LAB_PROGRAM per test program.
struct LabProgram {
  std::string lab_id;
  Signature signature;
  /// The workloads of a stage for one size of its timed_sizes (or of --size).
  std::function<std::vector<TimedCase>(const course::Stage&, std::span<const std::int64_t> size)>
      timed_cases;
  std::vector<CpuBaseline> cpu_baselines{};
};

/// A lab's oracle.cpp, compiled and loaded: what the kernels take, what their arrays hold, and the
/// right output, computed by the lab's own function on the CPU (student/oracle.hpp).
class LabOracle {
 public:
  /// An error names the library, or the lab's file and line where the oracle contradicts itself. A
  /// call that takes the processor for longer than `seconds` ends the program, as one that crashes.
  [[nodiscard]] static base::Result<std::shared_ptr<const LabOracle>> load(
      const std::filesystem::path& library, int seconds = 60);
  ~LabOracle();

  /// How many sizes the kernels take.
  [[nodiscard]] std::size_t size_count() const;
  [[nodiscard]] Signature signature() const;
  [[nodiscard]] Tolerance tolerance() const;
  [[nodiscard]] bool is_element_by_element() const;
  /// Of one launch; 0 where the lab does not say.
  [[nodiscard]] double operations(std::span<const std::int64_t> sizes) const;
  /// The arrays of a launch; inputs are drawn as the lab says.
  [[nodiscard]] std::vector<TimedBuffer> inputs(std::span<const std::int64_t> sizes) const;
  [[nodiscard]] TimedBuffer output(std::span<const std::int64_t> sizes) const;
  /// What programs call the arrays.
  [[nodiscard]] std::vector<std::string> input_names() const;
  [[nodiscard]] std::string output_name() const;
  /// How messages tell where an element of the output is.
  [[nodiscard]] Shape shape(std::span<const std::int64_t> sizes) const;
  [[nodiscard]] KernelArguments arguments(std::span<const std::int64_t> sizes,
                                          std::span<void* const> d_inputs, void* d_output) const;
  /// The lab's function. Where it crashes, throws, or writes outside of its output, the process
  /// ends with course::test_exit::kOurFault and a message that names the lab's file and line.
  [[nodiscard]] HostArray expected(std::span<const std::int64_t> sizes,
                                   std::span<const HostArray> inputs) const;

 private:
  struct Loaded;
  explicit LabOracle(std::unique_ptr<Loaded> loaded);
  [[nodiscard]] std::vector<std::int64_t> counts(std::span<const std::int64_t> sizes) const;
  [[nodiscard]] TimedBuffer buffer(std::size_t array, std::span<const std::int64_t> sizes) const;
  std::unique_ptr<Loaded> loaded_;
};

/// The oracle's launch of these sizes, as it is timed: each input is read once, the output written
/// once. `names` are those of the sizes.
[[nodiscard]] TimedCase timed_case_of(const std::shared_ptr<const LabOracle>& oracle,
                                      std::span<const std::int64_t> sizes,
                                      std::span<const std::string> names);

/// The sizes of a standard test (course::oracle_tests()) for kernels that take `count` of them.
/// `full`: about as many elements as a device has threads at a time.
[[nodiscard]] std::vector<std::vector<std::int64_t>> sizes_of_test(std::string_view test,
                                                                   std::size_t count,
                                                                   std::int64_t full);

/// How this input is drawn.
[[nodiscard]] Draw draw_of(const TimedBuffer& buffer, std::uint64_t seed);

/// What membound_fill_… writes for this input and seed.
[[nodiscard]] HostArray drawn(const TimedBuffer& buffer, std::uint64_t seed);

/// Compares two outputs of this form by the rule stated at Tolerance.
[[nodiscard]] Difference difference_of(const TimedBuffer& buffer, const HostArray& got,
                                       const HostArray& expected, Tolerance tolerance);

/// What a sample of a launch left in an output.
struct WrittenPart {
  Difference difference;          ///< of the elements that were written, from what is right
  std::size_t elements = 0;       ///< written
  std::string expected{}, got{};  ///< at the first wrong one, where somebody wants to know
};

/// The element whose bytes these are, as a text.
[[nodiscard]] std::string element_text(ElementType type, std::span<const std::byte> bytes);

/// Shows the runs of elements that no longer hold poison: see(first, count).
void each_written(const TimedBuffer& buffer, std::span<const std::byte> got,
                  const std::function<void(std::size_t first, std::size_t count)>& see);

/// The same; one or two integers that hold poison are written as well where `is_poison_right` says
/// of them that poison belongs there: of 2^28 drawn integers one launch in sixteen has one that is
/// this word by chance.
void each_written(const TimedBuffer& buffer, std::span<const std::byte> got,
                  const std::function<bool(std::size_t first, std::size_t count)>& is_poison_right,
                  const std::function<void(std::size_t first, std::size_t count)>& see);

/// Compares elements [first, …) of an output, all written, and adds to `part`.
void compare_written(const TimedBuffer& buffer, std::size_t first, std::span<const std::byte> got,
                     const HostArray& expected, Tolerance tolerance, WrittenPart& part);

}  // namespace membound::harness
