// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// LabOracle of timed_case.hpp: loads what a lab's oracle.cpp became, calls its function under
/// guard, and makes arrays, arguments and sizes of what it says about itself.
#include <dlfcn.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <iterator>
#include <mutex>
#include <utility>

#include "grader/base/strings.hpp"
#include "grader/course/contract.hpp"
#include "grader/harness/cases/timed_case.hpp"
#include "grader/harness/student/oracle.hpp"

namespace membound::harness {

struct LabOracle::Loaded {
  void* library = nullptr;
  const oracle::Table* table = nullptr;
  std::vector<oracle::Parameter> arrays;  ///< the pointers, in their order
  std::size_t output = 0;                 ///< which of them
  std::size_t sizes = 0;
  int seconds = 0;  ///< of one call

  [[nodiscard]] std::string place() const {
    return std::string(table->file) + ":" + std::to_string(table->line);
  }
  [[nodiscard]] const char* name_of(std::size_t array) const {
    return array < std::size(table->facts.names) ? table->facts.names[array] : nullptr;
  }
  [[nodiscard]] std::span<const oracle::Parameter> parameters() const {
    return {table->parameters, static_cast<std::size_t>(table->parameter_count)};
  }
};

namespace {

constexpr std::size_t kMostScalars = std::size(oracle::Facts{}.scalars);

ElementType element_type(oracle::Type type) {
  switch (type) {
    case oracle::Type::kInt:
    case oracle::Type::kUnsigned:
      return ElementType::kInt32;
    case oracle::Type::kFloat:
      return ElementType::kFloat;
    case oracle::Type::kDouble:
      return ElementType::kDouble;
    case oracle::Type::kLongLong:
    case oracle::Type::kUnsignedLongLong:
      break;
  }
  return ElementType::kInt64;
}

/// Calls `body` with a value of the type.
template <typename Body>
auto with_oracle_type(oracle::Type type, Body body) {
  switch (type) {
    case oracle::Type::kInt:
      return body(int{});
    case oracle::Type::kUnsigned:
      return body(unsigned{});
    case oracle::Type::kLongLong:
      return body(static_cast<long long>(0));
    case oracle::Type::kUnsignedLongLong:
      return body(static_cast<unsigned long long>(0));
    case oracle::Type::kFloat:
      return body(float{});
    case oracle::Type::kDouble:
      break;
  }
  return body(double{});
}

std::string list_of(std::span<const std::int64_t> sizes) {
  std::string text;
  for (const std::int64_t size : sizes) base::add_word(text, std::to_string(size), " x ");
  return text;
}

// What a handler of signals can reach. One call at a time is under guard.
struct Watched {
  std::string before, after;
};
const Watched* watched = nullptr;
std::mutex guard;

constexpr std::array kCrashes = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGVTALRM};

void say(std::string_view text) {
  [[maybe_unused]] const auto n = write(2, text.data(), text.size());
}

[[noreturn]] void end_with(const Watched& about, std::string_view what) {
  say(about.before);
  say(what);
  say(about.after);
  _exit(course::test_exit::kOurFault);
}

void on_crash(int number) {
  std::string_view name = "was aborted";
  if (number == SIGVTALRM) name = "does not come to an end";
  if (number == SIGSEGV) name = "touched memory that is not there";
  if (number == SIGBUS) name = "touched memory that is not there (bus error)";
  if (number == SIGFPE) name = "divided by zero";
  if (number == SIGILL) name = "came to an illegal instruction";
  end_with(*watched, name);
}

/// While it lives, a crash of the process is the oracle's and is told as that, and so is a call
/// that takes the processor for longer than `seconds`. Not by the clock on the wall: machines are
/// busy.
class CrashGuard {
 public:
  CrashGuard(const Watched& about, int seconds) : lock_(guard), stack_(SIGSTKSZ + kRoom) {
    watched = &about;
    // A stack of its own: an oracle that calls itself without end has used up the other.
    stack_t own{};
    own.ss_sp = stack_.data();
    own.ss_size = stack_.size();
    sigaltstack(&own, &old_stack_);
    struct sigaction action {};
    action.sa_handler = on_crash;
    action.sa_flags = SA_ONSTACK;
    for (std::size_t i = 0; i < kCrashes.size(); ++i) sigaction(kCrashes[i], &action, &old_[i]);
    set_timer(seconds);
  }
  ~CrashGuard() {
    set_timer(0);
    for (std::size_t i = 0; i < kCrashes.size(); ++i) sigaction(kCrashes[i], &old_[i], nullptr);
    sigaltstack(&old_stack_, nullptr);
    watched = nullptr;
  }
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;

 private:
  static void set_timer(int seconds) {
    itimerval time{};
    time.it_value.tv_sec = seconds;
    setitimer(ITIMER_VIRTUAL, &time, nullptr);
  }

  static constexpr std::size_t kRoom = 32 << 10;
  std::lock_guard<std::mutex> lock_;
  std::vector<char> stack_;
  stack_t old_stack_{};
  std::array<struct sigaction, kCrashes.size()> old_{};
};

constexpr std::size_t kFenceBytes = 256;
constexpr std::byte kFence{0xA5};

base::Error refused(const std::string& where, const std::string& found,
                    const std::string& expected) {
  return {base::ErrorKind::kInput, where, found, expected, "docs/writing_a_lab.md"};
}

}  // namespace

LabOracle::LabOracle(std::unique_ptr<Loaded> loaded) : loaded_(std::move(loaded)) {}

LabOracle::~LabOracle() { dlclose(loaded_->library); }

base::Result<std::shared_ptr<const LabOracle>> LabOracle::load(const std::filesystem::path& library,
                                                               int seconds) {
  auto loaded = std::make_unique<Loaded>();
  loaded->seconds = seconds;
  loaded->library = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded->library == nullptr)
    return refused(library.string(), "cannot be loaded: " + std::string(dlerror()),
                   "an oracle.cpp, compiled");
  loaded->table = static_cast<const oracle::Table*>(dlsym(loaded->library, "membound_oracle"));
  std::shared_ptr<const LabOracle> lab(new LabOracle(std::move(loaded)));  // closes it in any case
  Loaded& all = *lab->loaded_;
  if (all.table == nullptr)
    return refused(library.string(), "there is no MEMBOUND_ORACLE in it",
                   "MEMBOUND_ORACLE(function, ...) once in oracle.cpp");
  if (all.table->interface != oracle::kInterface)
    return refused(library.string(),
                   "an oracle of interface " + std::to_string(all.table->interface),
                   "interface " + std::to_string(oracle::kInterface) + ", compiled anew");
  std::size_t scalars = 0;
  for (const oracle::Parameter& one : all.parameters()) {
    if (one.role == oracle::Role::kSize) ++all.sizes;
    if (one.role == oracle::Role::kScalar) ++scalars;
    if (one.role != oracle::Role::kInput && one.role != oracle::Role::kOutput) continue;
    if (one.role == oracle::Role::kOutput) all.output = all.arrays.size();
    all.arrays.push_back(one);
  }
  if (all.sizes == 0)
    return refused(all.place(), "no parameter is a size", "a whole number: int n");
  if (scalars > kMostScalars)
    return refused(all.place(), std::to_string(scalars) + " floating parameters",
                   "at most " + std::to_string(kMostScalars));
  if (all.table->facts.element_by_element && all.table->facts.elements != nullptr)
    return refused(all.place(), "element_by_element and elements together",
                   "one of them: arrays of an element-by-element oracle have equal lengths");
  return lab;
}

std::size_t LabOracle::size_count() const { return loaded_->sizes; }

Signature LabOracle::signature() const {
  std::string text;
  for (const oracle::Parameter& one : loaded_->parameters()) {
    const std::string type =
        with_oracle_type(one.type, [](auto value) { return type_name(typeid(value)); });
    base::add_word(text, type);
    if (one.role == oracle::Role::kInput) text += " const*";
    if (one.role == oracle::Role::kOutput) text += "*";
  }
  return {.parameters = "(" + text + ")"};
}

Tolerance LabOracle::tolerance() const {
  return {loaded_->table->facts.absolute, loaded_->table->facts.relative};
}

bool LabOracle::is_element_by_element() const { return loaded_->table->facts.element_by_element; }

double LabOracle::operations(std::span<const std::int64_t> sizes) const {
  const auto count = loaded_->table->facts.operations;
  return count == nullptr ? 0 : count(sizes.data());
}

std::vector<std::int64_t> LabOracle::counts(std::span<const std::int64_t> sizes) const {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) product *= size;
  std::vector<std::int64_t> counts(loaded_->arrays.size(), product);
  if (const auto elements = loaded_->table->facts.elements; elements != nullptr) {
    const Watched about{loaded_->place() + ": the function `elements` of the oracle ",
                        " for " + list_of(sizes) + "\n"};
    const CrashGuard crashes(about, loaded_->seconds);
    elements(sizes.data(), counts.data());
  }
  return counts;
}

TimedBuffer LabOracle::buffer(std::size_t array, std::span<const std::int64_t> sizes) const {
  const oracle::Facts& facts = loaded_->table->facts;
  TimedBuffer one;
  one.type = element_type(loaded_->arrays[array].type);
  one.count = static_cast<std::size_t>(std::max<std::int64_t>(counts(sizes)[array], 0));
  if (facts.integers[0] != 0 || facts.integers[1] != 0)
    one.integers = IntegerRange{facts.integers[0], facts.integers[1]};
  return one;
}

std::vector<TimedBuffer> LabOracle::inputs(std::span<const std::int64_t> sizes) const {
  std::vector<TimedBuffer> inputs;
  for (std::size_t array = 0; array < loaded_->arrays.size(); ++array)
    if (array != loaded_->output) inputs.push_back(buffer(array, sizes));
  return inputs;
}

TimedBuffer LabOracle::output(std::span<const std::int64_t> sizes) const {
  TimedBuffer one = buffer(loaded_->output, sizes);
  one.integers.reset();
  if (loaded_->table->facts.output_starts_at_zero) one.initial = Initial::kZero;
  return one;
}

std::vector<std::string> LabOracle::input_names() const {
  std::vector<std::string> names;
  for (std::size_t array = 0; array < loaded_->arrays.size(); ++array) {
    if (array == loaded_->output) continue;
    const char* const said = loaded_->name_of(array);
    const std::string number = loaded_->arrays.size() == 2 ? "" : std::to_string(names.size() + 1);
    names.push_back(said == nullptr ? "in" + number : said);
  }
  return names;
}

std::string LabOracle::output_name() const {
  const char* const said = loaded_->name_of(loaded_->output);
  return said == nullptr ? "out" : said;
}

Shape LabOracle::shape(std::span<const std::int64_t> sizes) const {
  const auto count = static_cast<std::int64_t>(output(sizes).count);
  if (sizes.size() == 2 && sizes[0] * sizes[1] == count)
    return {{sizes[0], sizes[1]}, {"row", "column"}};
  return {{count}, {"element"}};
}

KernelArguments LabOracle::arguments(std::span<const std::int64_t> sizes,
                                     std::span<void* const> d_inputs, void* d_output) const {
  KernelArguments list;
  std::size_t input = 0, size = 0, scalar = 0;
  for (const oracle::Parameter& one : loaded_->parameters())
    with_oracle_type(one.type, [&](auto value) {
      using T = decltype(value);
      switch (one.role) {
        case oracle::Role::kOutput:
          return list.add(static_cast<T*>(d_output));
        case oracle::Role::kInput:
          return list.add(static_cast<const T*>(d_inputs[input++]));
        case oracle::Role::kSize:
          return list.add(static_cast<T>(sizes[size++]));
        case oracle::Role::kScalar:
          break;
      }
      return list.add(static_cast<T>(loaded_->table->facts.scalars[scalar++]));
    });
  return list;
}

HostArray LabOracle::expected(std::span<const std::int64_t> sizes,
                              std::span<const HostArray> inputs) const {
  const TimedBuffer out = output(sizes);
  const Watched about{loaded_->place() + ": the oracle `" + loaded_->table->function + "` ",
                      " for the sizes " + list_of(sizes) +
                          "\n  expected: the right output on the CPU, for every size from 0 on\n"
                          "  try: run the function by itself in a debugger\n"};
  // Between two fences, so that a loop that runs too far is told.
  HostArray fenced(kFenceBytes + out.size_bytes() + kFenceBytes, kFence);
  std::fill_n(fenced.begin() + kFenceBytes, out.size_bytes(), std::byte{0});
  std::vector<HostArray> copies(inputs.begin(), inputs.end());
  std::vector<void*> arrays;
  std::size_t input = 0;
  for (std::size_t array = 0; array < loaded_->arrays.size(); ++array)
    arrays.push_back(array == loaded_->output ? fenced.data() + kFenceBytes
                                              : copies[input++].data());
  {
    const CrashGuard crashes(about, loaded_->seconds);
    try {
      loaded_->table->call(arrays.data(), sizes.data(), loaded_->table->facts.scalars);
    } catch (const std::exception& error) {
      end_with(about, std::string("threw an exception (") + error.what() + ")");
    } catch (...) {
      end_with(about, "threw an exception");
    }
  }
  const auto whole = [](auto first, auto last) {
    return std::all_of(first, last, [](std::byte one) { return one == kFence; });
  };
  const auto end = fenced.end() - kFenceBytes;
  if (!whole(fenced.begin(), fenced.begin() + kFenceBytes) || !whole(end, fenced.end()))
    end_with(about, "wrote outside of its output");
  return {fenced.begin() + kFenceBytes, end};
}

namespace {

/// Elements [first, …) of an element-by-element oracle: it is called for these alone.
ExpectedByPlace at_place(const std::shared_ptr<const LabOracle>& oracle) {
  return
      [oracle](const DrawnInputs& inputs, std::size_t first, std::size_t count, HostArray& right) {
        std::vector<std::int64_t> sizes(oracle->size_count(), 1);
        sizes.back() = static_cast<std::int64_t>(count);
        std::vector<HostArray> drawn_inputs;
        for (const TimedBuffer& one : oracle->inputs(sizes))
          drawn_inputs.push_back(base::with_type(one.type, [&](auto value) {
            std::vector<decltype(value)> values(count);
            for (std::size_t i = 0; i < count; ++i)
              values[i] = inputs.at<decltype(value)>(drawn_inputs.size(), first + i);
            return bytes_of(values);
          }));
        right = oracle->expected(sizes, drawn_inputs);
      };
}

}  // namespace

TimedCase timed_case_of(const std::shared_ptr<const LabOracle>& oracle,
                        std::span<const std::int64_t> sizes, std::span<const std::string> names) {
  TimedCase timed;
  timed.sizes.assign(sizes.begin(), sizes.end());
  for (std::size_t i = 0; i < sizes.size(); ++i)
    timed.label += (i == 0 ? "" : ", ") + (i < names.size() ? names[i] : "size") + " = " +
                   std::to_string(sizes[i]);
  timed.inputs = oracle->inputs(sizes);
  timed.output = oracle->output(sizes);
  timed.tolerance = oracle->tolerance();
  timed.useful_bytes = static_cast<double>(timed.output.size_bytes());
  for (const TimedBuffer& input : timed.inputs)
    timed.useful_bytes += static_cast<double>(input.size_bytes());
  timed.useful_operations = oracle->operations(sizes);
  timed.arguments = [oracle, all = timed.sizes](std::span<void* const> d_inputs, void* d_output) {
    return oracle->arguments(all, d_inputs, d_output);
  };
  timed.expected = [oracle, all = timed.sizes](std::span<const HostArray> inputs) {
    return oracle->expected(all, inputs);
  };
  if (oracle->is_element_by_element()) timed.expected_by_place = at_place(oracle);
  return timed;
}

std::vector<std::vector<std::int64_t>> sizes_of_test(std::string_view test, std::size_t count,
                                                     std::int64_t full) {
  using Sizes = std::vector<std::vector<std::int64_t>>;
  // One, two, and of more sizes all alike but the last two.
  const auto choose = [count](Sizes one, Sizes two, std::int64_t others) {
    if (count == 1) return one;
    for (auto& sizes : two) sizes.insert(sizes.begin(), count - 2, others);
    return two;
  };
  if (test == "OneElement") return choose({{1}}, {{1, 1}}, 1);
  if (test == "OneBlock") return choose({{256}}, {{16, 16}}, 1);
  if (test == "EdgesOfBlocks")
    return choose({{31}, {32}, {33}, {255}, {257}, {1023}, {1025}},
                  {{1, 257}, {257, 1}, {15, 17}, {31, 33}, {33, 31}, {32, 32}}, 2);
  if (test == "Primes")
    return choose({{2}, {3}, {127}, {1021}, {10007}}, {{2, 3}, {61, 127}, {127, 61}}, 5);
  if (test == "EmptyArrays") return choose({{0}}, {{0, 0}, {0, 5}, {5, 0}}, 1);
  if (test == "MoreElementsThanThreads") return choose({{full + 77}}, {{full / 1021 + 1, 1021}}, 1);
  return choose({{5003}}, {{71, 73}}, 3);
}

}  // namespace membound::harness
