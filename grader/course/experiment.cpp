// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/experiment.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <sstream>

#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/course/json_io.hpp"

namespace membound::course {
namespace {

namespace fs = std::filesystem;

/// Kernels take n as an int.
constexpr std::int64_t kMostWords = (std::int64_t{1} << 31) - 1;
constexpr double kBytesOfAWord = 4;

ExperimentPoint read_point(const JsonValue& json) {
  json.only_keys({"x", "label", "spread", "printed"});
  ExperimentPoint point;
  point.x = static_cast<int>(json.member("x").integer(0, 1 << 20));
  const auto label = json.optional_member("label");
  point.label = label ? label->text() : std::to_string(point.x);
  if (const auto spread = json.optional_member("spread"))
    point.spread = static_cast<int>(spread->integer(1, 1024));
  if (const auto printed = json.optional_member("printed"))
    point.printed = printed->number({0, 1e12});
  return point;
}

void read_size_rule(const JsonValue& json, Experiment& row) {
  json.only_keys({"gpu", "vgpu", "multiple_of", "power_of_two"});
  if (const auto multiple = json.optional_member("multiple_of"))
    row.multiple_of = multiple->integer(1, kMostWords);
  if (const auto power = json.optional_member("power_of_two")) row.power_of_two = power->boolean();
  for (const auto& [key, size] : {std::pair("vgpu", &row.vgpu_size), {"gpu", &row.gpu_size}}) {
    *size = json.member(key).integer(1, kMostWords);
    if (!row.takes_size(*size)) json.member(key).report(row.size_rule());
  }
}

void read_document(const JsonValue& json, Experiment& row) {
  json.only_keys({"unit", "source"});
  row.document_unit = json.member("unit").text();
  row.document = json.member("source").text();
}

/// The words of a member; none where it is left out.
std::vector<std::string> read_words(const std::optional<JsonValue>& json) {
  std::istringstream stream(json ? json->text() : "");
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

ProgramArguments read_arguments(const JsonValue& json) {
  json.only_keys({"gpu", "vgpu", "vgpu_multiprocessors"});
  ProgramArguments arguments{read_words(json.optional_member("gpu")),
                             read_words(json.optional_member("vgpu"))};
  if (const auto number = json.optional_member("vgpu_multiprocessors"))
    arguments.vgpu_multiprocessors = static_cast<int>(number->integer(1, 1024));
  return arguments;
}

/// What a kernel's row and a program's have.
Experiment read_head(const JsonValue& json, const fs::path& folder) {
  Experiment row;
  row.lab = folder.filename().string();
  row.name = json.member("name").text();
  row.title = json.member("title").text();
  row.section = json.member("section").text();
  row.file = folder / json.member("file").text();
  return row;
}

Experiment read_row(const JsonValue& json, const fs::path& folder) {
  Experiment row = read_head(json, folder);
  if (const auto arguments = json.optional_member("arguments")) {
    json.only_keys({"name", "title", "section", "file", "arguments"});
    row.program = read_arguments(*arguments);
    return row;
  }
  json.only_keys({"name", "title", "section", "file", "kernel", "axis", "unit", "sizes",
                  "array_power", "amount", "document", "points"});
  row.kernel = json.member("kernel").text();
  row.axis = json.member("axis").text();
  row.unit = json.member("unit").text();
  if (row.unit != "GB/s" && row.unit != "Gops/s") json.member("unit").report("GB/s or Gops/s");
  read_size_rule(json.member("sizes"), row);
  if (const auto power = json.optional_member("array_power"))
    row.array_power = static_cast<int>(power->integer(1, 2));
  const JsonValue amount = json.member("amount");
  amount.only_keys({"each", "power"});
  row.amount_each = amount.member("each").number({0, 1e6});
  row.amount_power = static_cast<int>(amount.member("power").integer(1, 3));
  const auto document = json.optional_member("document");
  if (document) read_document(*document, row);
  for (const JsonValue& point : json.member("points").elements(2)) {
    row.points.push_back(read_point(point));
    if (row.points.back().printed && !document)
      point.member("printed").report("a \"document\" that printed it");
  }
  return row;
}

}  // namespace

double Experiment::array_bytes(std::int64_t n, const ExperimentPoint& point) const {
  return kBytesOfAWord * std::pow(static_cast<double>(n), array_power) * point.spread;
}

double Experiment::amount(std::int64_t n) const {
  return amount_each * std::pow(static_cast<double>(n), amount_power);
}

bool Experiment::takes_size(std::int64_t n) const {
  const auto bits = static_cast<std::uint64_t>(n);
  return n > 0 && n <= kMostWords && n % multiple_of == 0 &&
         (!power_of_two || std::has_single_bit(bits));
}

std::string Experiment::size_rule() const {
  return "a multiple of " + std::to_string(multiple_of) +
         (power_of_two ? " and a power of two" : "") + ", at most " + std::to_string(kMostWords);
}

base::Status read_experiments_of(const fs::path& handout_folder, std::vector<Experiment>& all) {
  const fs::path file = handout_folder / "experiments.json";
  if (!fs::exists(file)) return base::Done{};
  auto text = base::read_file(file);
  if (!text) return text.error();
  auto document = JsonDocument::parse(*std::move(text), file.string());
  if (!document) return document.error();
  const JsonValue rows(&*document, &document->value(), "");
  for (const JsonValue& row : rows.elements(1)) {
    all.push_back(read_row(row, handout_folder));
    for (std::size_t i = 0; i + 1 < all.size(); ++i)
      if (all[i].name == all.back().name)
        row.member("name").report("a name that no experiment of " + all[i].lab + " has");
  }
  if (document->problem()) return *document->problem();
  return base::Done{};
}

base::Result<std::vector<Experiment>> read_experiments(const fs::path& root) {
  std::vector<fs::path> folders;
  std::error_code none;  // a course without handouts has no experiments
  for (const auto& folder : fs::directory_iterator(root / "handouts", none))
    folders.push_back(folder.path());
  std::sort(folders.begin(), folders.end());
  std::vector<Experiment> all;
  for (const fs::path& folder : folders)
    if (auto status = read_experiments_of(folder, all); !status) return status.error();
  return all;
}

base::Result<Experiment> find_experiment(const std::vector<Experiment>& all,
                                         const std::string& name) {
  std::vector<std::string> names;
  for (const Experiment& each : all) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  const std::string known = base::joined(names);
  const auto meant = base::nearest(name, names);
  return base::Error{
      base::ErrorKind::kUsage, name, "there is no experiment of this name",
      known.empty() ? "an experiment; this course has none" : "one of " + known,
      meant ? "membound experiment " + *meant : "membound experiment, which lists them"};
}

}  // namespace membound::course
