// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Golden text tests: every grader/tests/ptx/*.ptxt is a launch and what must come of it.
///   # comment
///   launch  entry=NAME grid=X[,Y[,Z]] block=X[,Y[,Z]] [shared=BYTES] [checks=all|NAME]
///   [lockstep=1]
///           ARGUMENT…               in the order of the kernel's parameters:
///     name=ramp:f32:128             a buffer 0, 1, 2, …      name=zero:u32:32   a buffer of zeros
///     name=list:s32:5,-1,7          a buffer of values       name=u32:5         a scalar
///   --- ptx
///   PTX; the header (.version, .target, .address_size) is added if it is missing
///   --- expect
///   out[0..4] = 0 4 8 12            elements; counter = value; fault = kind; check = kind
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "grader/tests/vgpu/exec/machine_fixture.hpp"

namespace membound::vgpu::exec {
namespace {

struct Buffer {
  std::string type;
  std::uint64_t address = 0;
};

struct Golden {
  std::map<std::string, std::string> options;
  std::vector<std::pair<std::string, std::string>> arguments;
  std::string ptx;
  std::vector<std::pair<std::string, std::string>> expectations;
};

std::string trimmed(std::string text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool is_option(const std::string& name) {
  for (const char* option : {"entry", "grid", "block", "shared", "checks", "lockstep", "steps"}) {
    if (name == option) return true;
  }
  return false;
}

Golden read_golden(const std::filesystem::path& path) {
  std::ifstream file(path);
  Golden golden;
  std::string line, part = "launch";
  while (std::getline(file, line)) {
    if (line.starts_with("--- ")) {
      part = line.substr(4);
      continue;
    }
    if (part == "ptx") {
      golden.ptx += line + "\n";
      continue;
    }
    if (trimmed(line).empty() || line.starts_with("#")) continue;
    if (part == "expect") {
      const auto equals = line.find(" = ");
      golden.expectations.emplace_back(trimmed(line.substr(0, equals)),
                                       trimmed(line.substr(equals + 3)));
      continue;
    }
    std::istringstream words(line.starts_with("launch") ? line.substr(6) : line);
    for (std::string word; words >> word;) {
      const auto equals = word.find('=');
      const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
      if (is_option(name))
        golden.options[name] = value;
      else
        golden.arguments.emplace_back(name, value);
    }
  }
  if (golden.ptx.find(".version") == std::string::npos)
    golden.ptx = ".version 8.0\n.target sm_90\n.address_size 64\n" + golden.ptx;
  return golden;
}

Dim3 dimensions(const std::string& text) {
  Dim3 d;
  char comma;
  std::istringstream in(text);
  in >> d.x >> comma >> d.y >> comma >> d.z;
  if (d.y == 0) d.y = 1;
  if (d.z == 0) d.z = 1;
  return d;
}

/// Calls `visit` with a value of the C++ type named "f32", "s64", …
template <typename Visit>
void with_type(const std::string& type, Visit visit) {
  if (type == "f32")
    visit(float{});
  else if (type == "f64")
    visit(double{});
  else if (type == "s32")
    visit(std::int32_t{});
  else if (type == "u32")
    visit(std::uint32_t{});
  else if (type == "s64")
    visit(std::int64_t{});
  else if (type == "u64")
    visit(std::uint64_t{});
  else if (type == "u16")
    visit(std::uint16_t{});
  else if (type == "u8")
    visit(std::uint8_t{});
  else
    FAIL() << "unknown type " << type;
}

template <typename T>
T parse_value(const std::string& text) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(std::stod(text));
  else if constexpr (std::is_signed_v<T>)
    return static_cast<T>(std::stoll(text, nullptr, 0));
  else
    return static_cast<T>(std::stoull(text, nullptr, 0));
}

/// "ramp:f32:128" -> {"ramp", "f32", "128"}
std::vector<std::string> fields(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

void add_argument(Machine& machine, const std::string& name, const std::string& value,
                  std::map<std::string, Buffer>& buffers) {
  const auto parts = fields(value, ':');
  if (parts.size() == 2) {
    with_type(parts[0], [&](auto t) { machine.argument(parse_value<decltype(t)>(parts[1])); });
    return;
  }
  with_type(parts[1], [&](auto t) {
    using T = decltype(t);
    std::vector<T> data;
    if (parts[0] == "list") {
      for (const std::string& item : fields(parts[2], ',')) data.push_back(parse_value<T>(item));
    } else {
      data.resize(std::stoul(parts[2]));
      for (std::size_t i = 0; i < data.size() && parts[0] == "ramp"; ++i)
        data[i] = static_cast<T>(i);
    }
    if (parts[0] == "raw") {  // allocated, never written
      buffers[name] = {parts[1], *machine.space().allocate(data.size() * sizeof(T), 256, {})};
    } else {
      buffers[name] = {parts[1], machine.upload(data)};
    }
    machine.argument(buffers[name].address);
  });
}

void check_elements(Machine& machine, const std::string& place, const std::string& values,
                    const std::map<std::string, Buffer>& buffers) {
  const auto bracket = place.find('[');
  const Buffer& buffer = buffers.at(place.substr(0, bracket));
  const std::size_t first = std::stoul(place.substr(bracket + 1));
  with_type(buffer.type, [&](auto t) {
    using T = decltype(t);
    std::vector<T> expected;
    std::istringstream in(values);
    for (std::string word; in >> word;) expected.push_back(parse_value<T>(word));
    const auto all = machine.download<T>(buffer.address, first + expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(all[first + i], expected[i]) << place << ", element " << first + i;
  });
}

void check_expectation(Machine& machine, const LaunchReport& report, const std::string& what,
                       const std::string& value, const std::map<std::string, Buffer>& buffers) {
  if (what == "fault") {
    ASSERT_TRUE(report.fault) << "no fault";
    EXPECT_EQ(to_string(report.fault->kind), value) << report.fault->text;
  } else if (what == "check") {
    bool found = false;
    std::string all;
    for (const CheckReport& check : report.checks) {
      found = found || check.kind == value;
      all += check.kind + ": " + check.text + "\n";
    }
    EXPECT_TRUE(found) << "wanted " << value << ", found:\n" << all;
  } else if (what == "checks") {
    EXPECT_EQ(report.checks.size(), std::stoul(value))
        << (report.checks.empty() ? "" : report.checks.front().text);
  } else if (what.find('[') != std::string::npos) {
    check_elements(machine, what, value, buffers);
  } else {
    const counters::CounterInfo* counter = counters::find_counter(what);
    ASSERT_NE(counter, nullptr) << what;
    EXPECT_EQ(report.counters.totals.*counter->member, std::stoull(value)) << what;
  }
}

class GoldenTest : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(GoldenTest, GivesWhatItSays) {
  const Golden golden = read_golden(GetParam());
  Machine machine(golden.ptx);
  const auto option = [&](const char* name) {
    const auto found = golden.options.find(name);
    return found == golden.options.end() ? std::string() : found->second;
  };
  LaunchRequest& request = machine.request();
  if (!option("shared").empty())
    request.dynamic_shared_bytes = static_cast<std::uint32_t>(std::stoul(option("shared")));
  if (const std::string checks = option("checks"); !checks.empty()) {
    machine.space().track_initialised(true);
    ASSERT_TRUE(request.checks.switch_on(checks)) << "no checker is called " << checks;
  }
  if (!option("lockstep").empty()) request.scheduling = Scheduling::kLockstep;
  request.limits.warp_instructions =
      option("steps").empty() ? 50'000'000 : std::stoull(option("steps"));
  std::map<std::string, Buffer> buffers;
  for (const auto& [name, value] : golden.arguments) add_argument(machine, name, value, buffers);
  const LaunchReport report =
      machine.run(option("entry"), dimensions(option("grid")), dimensions(option("block")));
  bool expects_fault = false;
  for (const auto& [what, value] : golden.expectations) {
    expects_fault = expects_fault || what == "fault";
    check_expectation(machine, report, what, value, buffers);
  }
  if (!expects_fault) {
    EXPECT_FALSE(report.fault) << to_string(report.fault->kind) << ": " << report.fault->text;
  }
}

std::vector<std::filesystem::path> golden_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(MEMBOUND_PTXT_FOLDER)) {
    if (entry.path().extension() == ".ptxt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

INSTANTIATE_TEST_SUITE_P(Ptx, GoldenTest, ::testing::ValuesIn(golden_files()),
                         [](const auto& file) { return file.param.stem().string(); });

}  // namespace
}  // namespace membound::vgpu::exec
