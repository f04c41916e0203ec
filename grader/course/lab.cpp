// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/lab.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "grader/course/stage_json.hpp"

namespace membound::course {
namespace {

UnsafeRules read_unsafe(const JsonValue& object, const std::vector<Stage>& stages) {
  object.only_keys({"points_share", "allowed"});
  UnsafeRules rules;
  rules.points_share = read_number(object, "points_share", {0, 1}, rules.points_share);
  const auto list = object.optional_member("allowed");
  if (!list) return rules;
  for (const JsonValue& entry : list->elements(1)) {
    entry.only_keys({"finding", "stage", "why"});
    AllowedFinding allowed{entry.member("finding").text(), 0, entry.member("why").text()};
    if (const auto stage = entry.optional_member("stage"))
      allowed.stage = static_cast<int>(stage->integer(1, static_cast<std::int64_t>(stages.size())));
    rules.allowed.push_back(std::move(allowed));
  }
  return rules;
}

void read_stages(const JsonValue& object, const std::optional<ProgramLimits>& of_all, Lab& lab) {
  std::set<std::string> names;
  int number = 1;
  for (const JsonValue& entry : object.elements(1)) {
    Stage stage = read_stage(entry, number++, lab, of_all);
    if (!names.insert(stage.name).second)
      entry.member("name").report("a name that no other stage of the lab has");
    lab.stages.push_back(std::move(stage));
  }
}

/// "ladder" names every stage with a reference answer once, or none; without it each is faster than
/// the one before.
void read_ladder(const JsonValue& root, Lab& lab) {
  for (const Stage& stage : lab.stages)
    if (stage.kind->has_reference) lab.ladder.push_back(stage.number);
  const auto keys = root.keys();
  if (std::find(keys.begin(), keys.end(), "ladder") == keys.end()) return;
  std::vector<int> order;
  for (const JsonValue& number : root.member("ladder").elements(0))
    order.push_back(static_cast<int>(number.integer(1, 1000)));
  lab.has_order = !order.empty();
  if (!lab.has_order) return;
  if (!std::is_permutation(order.begin(), order.end(), lab.ladder.begin(), lab.ladder.end()))
    root.member("ladder").report("the number of every stage about a kernel, once; or nothing");
  lab.ladder = std::move(order);
}

void read_hints(const JsonValue& object, Lab& lab) {
  for (const std::string& tag : object.keys()) {
    const JsonValue list = object.member(tag);
    for (const JsonValue& tier : list.elements(1)) lab.hints[tag].push_back(tier.text());
  }
}

Bound read_bound(const JsonValue& value) {
  const std::string word = value.text();
  if (word != "bandwidth" && word != "operations") value.report("\"bandwidth\" or \"operations\"");
  return word == "operations" ? Bound::kOperations : Bound::kBandwidth;
}

}  // namespace

std::string_view to_string(Bound bound) {
  return bound == Bound::kBandwidth ? "bandwidth" : "operations";
}

const Stage* Lab::stage(int number) const {
  for (const Stage& candidate : stages)
    if (candidate.number == number) return &candidate;
  return nullptr;
}

double Lab::max_points() const {
  double sum = 0;
  for (const Stage& entry : stages) sum += entry.points;
  return sum;
}

std::vector<const StageKind*> Lab::kinds() const {
  std::vector<const StageKind*> kinds;
  for (const Stage& entry : stages)
    if (std::find(kinds.begin(), kinds.end(), entry.kind) == kinds.end())
      kinds.push_back(entry.kind);
  return kinds;
}

bool Lab::has_reference() const {
  return std::any_of(stages.begin(), stages.end(),
                     [](const Stage& entry) { return entry.kind->has_reference; });
}

Lab Lab::with_stages_of(const StageKind& kind) const {
  Lab some = *this;
  std::erase_if(some.stages, [&](const Stage& entry) { return entry.kind != &kind; });
  return some;
}

base::Result<Lab> lab_from_text(std::string text, const std::string& file_name,
                                const std::filesystem::path& folder) {
  auto document = JsonDocument::parse(std::move(text), file_name);
  if (!document) return document.error();
  const JsonValue root(&*document, &document->value(), "");
  root.only_keys({"$schema", "id", "title", "summary", "handout", "host_code", "bound", "sizes",
                  "allows", "unsafe", "stages", "ladder", "hints"});
  Lab lab;
  lab.folder = folder;
  lab.id = read_slug(root.member("id"));
  if (lab.id != folder.filename().string())
    root.member("id").report("\"" + folder.filename().string() + "\", the name of its folder");
  lab.title = root.member("title").text();
  lab.summary = root.member("summary").text();
  lab.handout = root.member("handout").text();
  const std::optional<ProgramLimits> of_all = read_host_code(root);
  if (!of_all) {
    lab.bound = read_bound(root.member("bound"));
    for (const JsonValue& name : root.member("sizes").elements(1))
      lab.size_names.push_back(name.text());
  }
  if (const auto allows = root.optional_member("allows"))
    for (const JsonValue& name : allows->elements(1)) lab.allows.push_back(name.text());
  read_stages(root.member("stages"), of_all, lab);
  if (const auto unsafe = root.optional_member("unsafe"))
    lab.unsafe = read_unsafe(*unsafe, lab.stages);
  read_ladder(root, lab);
  read_hints(root.member("hints"), lab);
  if (document->problem()) return *document->problem();
  return lab;
}

base::Result<Lab> read_lab(const std::filesystem::path& lab_json) {
  std::ifstream file(lab_json, std::ios::binary);
  if (!file) {
    return base::Error{base::ErrorKind::kInput, lab_json.string(), "the file cannot be read",
                       "the description of a lab, lab.json", "check that the folder is complete"};
  }
  std::string text{std::istreambuf_iterator<char>(file), {}};
  return lab_from_text(std::move(text), lab_json.string(), lab_json.parent_path());
}

}  // namespace membound::course
