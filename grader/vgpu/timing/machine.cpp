// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/machine.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <system_error>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/vgpu/timing/mechanisms.hpp"

namespace membound::vgpu::timing {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

base::Error broken_file(std::string_view where, std::string found, std::string expected) {
  return {base::ErrorKind::kInput, std::string(where), std::move(found), std::move(expected),
          "see the fields and their meaning in grader/vgpu/timing/machine_fields.def"};
}

bool has_known_source(const std::string& source) {
  return source.starts_with("[measured]") || source.starts_with("[published]") ||
         source.starts_with("[recalled]");
}

/// The largest number that a field of type T takes from a file.
template <typename T>
constexpr double largest_of() {
  if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::max();
  else  // every integer of a machine is far below; 2^53 keeps its digits as a double
    return std::min(static_cast<double>(std::numeric_limits<T>::max()), 0x1p53);
}

/// The value of `field`, or what is wrong with it.
base::Result<double> number(const Json& numbers, const char* field, std::string_view where,
                            double largest) {
  const auto entry = numbers.find(field);
  if (entry == numbers.end())
    return broken_file(where, std::string("no \"") + field + "\"", "a number and its source");
  if (!entry->is_array() || entry->size() != 2 || !(*entry)[0].is_number() ||
      !(*entry)[1].is_string())
    return broken_file(where, std::string("\"") + field + "\": " + entry->dump(),
                       "[number, \"source\"]");
  const double value = (*entry)[0].get<double>();
  if (!(value >= 0 && value <= largest))
    return broken_file(where, std::string("\"") + field + "\" is out of range",
                       "a number from 0 to the largest its field can hold");
  if (!has_known_source((*entry)[1].get<std::string>()))
    return broken_file(where, std::string("\"") + field + "\" has no kind of source",
                       "a source that starts with [measured], [published] or [recalled]");
  return value;
}

constexpr std::array<std::string_view, program::kCostClasses> kCostNames = {
#define MEMBOUND_COST(id, name, pipe, slots, latency, meaning) name,
#include "grader/vgpu/program/costs.def"
#undef MEMBOUND_COST
};

/// Reads `"class": [slots, latency, "source"]` for the classes that the file lists.
base::Status read_costs(const Json& classes, std::string_view where, program::CostTable& costs) {
  for (const auto& [name, entry] : classes.items()) {
    const auto found = std::find(kCostNames.begin(), kCostNames.end(), name);
    if (found == kCostNames.end())
      return broken_file(where, "no instructions are of the class \"" + name + "\"",
                         "a class of grader/vgpu/program/costs.def");
    const bool right = entry.is_array() && entry.size() == 3 && entry[0].is_number() &&
                       entry[1].is_number() && entry[0].get<double>() >= 0 &&
                       entry[1].get<double>() >= 0 && entry[2].is_string() &&
                       has_known_source(entry[2].get<std::string>());
    if (!right)
      return broken_file(where, "\"" + name + "\": " + entry.dump(),
                         "[slots, latency in clocks, \"source\"]");
    program::ClassCost& cost = costs.of[static_cast<std::size_t>(found - kCostNames.begin())];
    cost.slots = entry[0].get<double>();
    cost.latency_clocks = entry[1].get<double>();
  }
  return base::Done{};
}

/// The "numbers" of a file, with those that it takes from the machine that "like" names. `depth`:
/// files that led here.
base::Result<Json> all_numbers(const Json& root, std::string_view where, std::size_t depth = 0) {
  if (!root.contains("numbers") || !root["numbers"].is_object())
    return broken_file(where, "no object \"numbers\"", "one entry per machine field");
  Json numbers = root["numbers"];
  if (!root.contains("like")) return numbers;
  const auto machines = built_in_machines();
  const Json& like = root["like"];
  const auto other = std::find_if(machines.begin(), machines.end(), [&](const BuiltInMachine& m) {
    return like.is_string() && m.id == like.get<std::string>();
  });
  if (other == machines.end())
    return broken_file(where, "\"like\": " + like.dump(), "the id of a machine that is built in");
  if (depth > machines.size())
    return broken_file(where, "\"like\" leads back to itself", "a machine with all numbers");
  const auto others = all_numbers(Json::parse(other->json), other->id, depth + 1);
  if (!others) return others.error();
  for (const auto& [field, entry] : others->items())
    if (!numbers.contains(field))
      numbers[field] = {entry.at(0), "[recalled] as " + std::string(other->id)};
  return numbers;
}

/// Switches off what the file lists under "without".
base::Status leave_out(const Json& names, std::string_view where, Machine& machine) {
  for (const Json& name : names) {
    const Mechanism* const found =
        name.is_string() ? find_mechanism(name.get<std::string>()) : nullptr;
    if (found == nullptr)
      return broken_file(where, "\"without\": " + name.dump(),
                         "mechanisms of grader/vgpu/timing/mechanisms.def");
    machine = without(std::move(machine), *found);
  }
  return base::Done{};
}

/// A file that cannot be read has no text, which machine_of() refuses.
std::vector<MachineFile> own_files(const fs::path& folder) {
  std::vector<MachineFile> files;
  std::error_code error;
  if (folder.empty()) return files;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path.extension() != ".json") continue;
    const auto text = base::read_file(path);
    files.push_back({path.stem().string(), path.string(), text ? *text : "", false});
  }
  std::sort(files.begin(), files.end(),
            [](const MachineFile& a, const MachineFile& b) { return a.id < b.id; });
  return files;
}

}  // namespace

base::Result<Machine> read_machine(std::string_view json, std::string_view where) {
  const Json root = Json::parse(json, nullptr, false);
  if (root.is_discarded() || !root.is_object())
    return broken_file(where, "this is not a JSON object", "a machine file");
  for (const char* key : {"id", "name"})
    if (!root.contains(key) || !root[key].is_string())
      return broken_file(where, std::string("no text \"") + key + "\"",
                         "the machine's " + std::string(key));
  const auto all = all_numbers(root, where);
  if (!all) return all.error();
  const Json& numbers = *all;
  Machine machine;
  machine.id = root["id"].get<std::string>();
  machine.name = root["name"].get<std::string>();
#define MACHINE_FIELD(type, field, meaning)                                   \
  if (auto value = number(numbers, #field, where, largest_of<type>()); value) \
    machine.field = static_cast<type>(*value);                                \
  else                                                                        \
    return value.error();
#include "grader/vgpu/timing/machine_fields.def"
#undef MACHINE_FIELD
  if (root.contains("instructions")) {
    if (!root["instructions"].is_object())
      return broken_file(where, "\"instructions\" is no object", "one entry per cost class");
    if (auto read = read_costs(root["instructions"], where, machine.costs); !read)
      return read.error();
  }
  machine.costs.load_round_clocks = machine.load_round_ns * machine.clock_ghz;
  machine.costs.jump_back_clocks = machine.jump_back_clocks;
  if (root.contains("without"))
    if (auto left_out = leave_out(root["without"], where, machine); !left_out)
      return left_out.error();
  return machine;
}

base::Result<std::string> written_out(std::string_view json, std::string_view where) {
  Json root = Json::parse(json, nullptr, false);
  if (!root.is_object()) return broken_file(where, "this is not a JSON object", "a machine file");
  if (!root.contains("like")) return std::string(json);
  auto numbers = all_numbers(root, where);
  if (!numbers) return numbers.error();
  root["numbers"] = *std::move(numbers);
  root.erase("like");
  return root.dump(2);
}

std::vector<NumberSource> read_sources(std::string_view json) {
  std::vector<NumberSource> sources;
  const Json root = Json::parse(json, nullptr, false);
  if (!root.is_object()) return sources;
  const auto numbers = all_numbers(root, "");
  if (!numbers) return sources;
  for (const auto& [field, entry] : numbers->items()) {
    if (entry.is_array() && entry.size() == 2 && entry[0].is_number() && entry[1].is_string())
      sources.push_back({field, entry[0].get<double>(), entry[1].get<std::string>()});
  }
  return sources;
}

std::vector<CostSource> read_cost_sources(std::string_view json) {
  std::vector<CostSource> sources;
  const Json root = Json::parse(json, nullptr, false);
  if (!root.is_object() || !root.contains("instructions")) return sources;
  for (const auto& [name, entry] : root["instructions"].items())
    sources.push_back(
        {name, entry[0].get<double>(), entry[1].get<double>(), entry[2].get<std::string>()});
  return sources;
}

std::string_view meaning_of(std::string_view field) {
#define MACHINE_FIELD(type, name, meaning) \
  if (field == #name) return meaning;
#include "grader/vgpu/timing/machine_fields.def"
#undef MACHINE_FIELD
  return "";
}

Machine slice_of(Machine machine, std::uint32_t sm_count) {
  if (sm_count == 0 || sm_count >= machine.sm_count) return machine;
  const double share = static_cast<double>(sm_count) / machine.sm_count;
  machine.name += ", " + std::to_string(sm_count) + " of " + std::to_string(machine.sm_count) +
                  " multiprocessors";
  machine.sm_count = sm_count;
  machine.l2_bytes = static_cast<std::uint64_t>(static_cast<double>(machine.l2_bytes) * share);
  for (double* rate :
       {&machine.l2_gbs, &machine.load_glines, &machine.store_glines, &machine.filled_store_glines,
        &machine.dirty_l2_bytes, &machine.stored_l2_bytes, &machine.partial_store_gsectors,
        &machine.dram_peak_gbs, &machine.dram_reached_gbs, &machine.dram_read_gruns,
        &machine.dram_written_gruns, &machine.atomic_gsectors})
    *rate *= share;
  // One address is served by one part of L2, however many ask: the slice has its share of the
  // turns.
  for (double* each :
       {&machine.atomic_same_address_ns, &machine.integer_atomic_ns, &machine.atomic_piece_ns})
    *each /= share;
  machine.dispatch_ns /= share;
  machine.early_sms = 0;  // which of the SMs these are
  return machine;
}

fs::path own_machines_folder() {
  const char* const config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config == '/') return fs::path(config) / "membound" / "machines";
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return {};
  return fs::path(home) / ".config" / "membound" / "machines";
}

std::vector<MachineFile> machine_files(const fs::path& own_folder) {
  std::vector<MachineFile> files;
  for (const BuiltInMachine& machine : built_in_machines()) {
    const std::string id(machine.id);
    files.push_back({id, id + ".json", std::string(machine.json), true});
  }
  for (MachineFile& own : own_files(own_folder)) files.push_back(std::move(own));
  return files;
}

base::Result<MachineFile> find_machine_file(std::string_view id, const fs::path& own_folder) {
  std::string known;
  std::vector<std::string> names;
  for (MachineFile& file : machine_files(own_folder)) {
    if (file.id == id) return std::move(file);
    known += (known.empty() ? "vgpu:" : ", vgpu:") + file.id;
    names.push_back("vgpu:" + file.id);
  }
  const std::string wanted = "vgpu:" + std::string(id);
  const auto nearest = base::nearest(wanted, names);
  return base::Error{base::ErrorKind::kUsage, "", "there is no device \"" + wanted + "\"", known,
                     nearest ? "did you mean \"" + *nearest + "\"?" : "membound machine list"};
}

base::Result<Machine> machine_of(const MachineFile& file) {
  auto machine = read_machine(file.json, file.where);
  if (machine && machine->id != file.id)
    return base::Error{base::ErrorKind::kInput, file.where, "its id is \"" + machine->id + "\"",
                       "\"" + file.id + "\", as the file is called", "rename one of the two"};
  return machine;
}

base::Result<Machine> find_machine(std::string_view id) {
  const auto file = find_machine_file(id, own_machines_folder());
  if (!file) return file.error();
  return machine_of(*file);
}

}  // namespace membound::vgpu::timing
