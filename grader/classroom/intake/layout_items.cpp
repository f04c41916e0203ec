// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/layout_items.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "grader/classroom/intake/gradescope_export.hpp"
#include "grader/classroom/intake/student_names.hpp"

namespace membound::intake {
namespace {

using Parts = std::vector<std::string>;

/// "kernel-1.cu": Canvas numbers files of one name that a student hands in again.
const std::regex& numbered_name() {
  static const std::regex pattern("^.+-([0-9]{1,4})\\.[^.]+(\\.[^.]+)?$");
  return pattern;
}

Parts tail(const Parts& parts) { return {parts.begin() + 1, parts.end()}; }

/// Items under construction, one for each student and attempt.
class Collection {
 public:
  Item& at(const std::string& key, const std::string& raw_key, int order) {
    const auto [place, added] = index_.try_emplace({raw_key, order, key}, items_.size());
    if (added) {
      Item item;
      item.key = key;
      item.raw_key = raw_key;
      item.order = order;
      items_.push_back(std::move(item));
    }
    return items_[place->second];
  }
  void add(Item& item, const Entry& entry, Parts inner) {
    if (inner.empty()) inner = {entry.name()};
    // The newest source is when it was handed in, unless the layout knows better.
    if (entry.is_source() || entry.problem) item.time = std::max(item.time, entry.time);
    item.files.push_back({&entry, std::move(inner)});
  }
  std::vector<Item> take() { return std::move(items_); }

 private:
  std::vector<Item> items_;
  std::map<std::tuple<std::string, int, std::string>, std::size_t> index_;
};

int number_in(const std::string& digits) { return std::stoi(digits.substr(0, 6)); }

/// What all names start with, up to and with its last '-'.
std::string common_prefix(const std::set<std::string>& names) {
  if (names.size() < 2) return "";
  std::string prefix = *names.begin();
  for (const std::string& name : names) {
    const auto [end, other] = std::mismatch(prefix.begin(), prefix.end(), name.begin(), name.end());
    prefix.erase(end, prefix.end());
  }
  const auto dash = prefix.rfind('-');
  return dash == std::string::npos ? "" : prefix.substr(0, dash + 1);
}

}  // namespace

const std::regex& canvas_name() {
  static const std::regex pattern("^(.+?)_(LATE_)?([0-9]+)_([0-9]+)_(.+)$");
  return pattern;
}

const std::regex& moodle_name() {
  static const std::regex pattern("^(.+)_([0-9]+)_assignsubmission_(file|onlinetext)_?(.*)$");
  return pattern;
}

const std::regex& attempt_name() {
  static const std::regex pattern("^(attempt|submission|try|version)[-_ ]?([0-9]{1,4})$",
                                  std::regex::icase);
  return pattern;
}

std::vector<Item> canvas_items(const std::vector<Rest>& rests) {
  Collection all;
  for (const Rest& rest : rests) {
    std::smatch match;
    if (!std::regex_match(rest.path[0], match, canvas_name())) {
      Item& other = all.at(rest.path[0], rest.raw[0], 0);
      other.origin = rest.path[0];
      all.add(other, *rest.entry, tail(rest.path));
      continue;
    }
    std::smatch number;
    const std::string file = match[5];
    const int order = std::regex_match(file, number, numbered_name()) ? number_in(number[1]) : 0;
    Item& item = all.at(match[3], match[3], order);
    item.key_is_id = true;
    item.words = {match[1]};
    item.marked_late = item.marked_late || match[2].matched;
    item.origin = rest.path[0];
    Parts inner = rest.path;
    inner[0] = file;
    all.add(item, *rest.entry, std::move(inner));
  }
  return all.take();
}

std::vector<Item> moodle_items(const std::vector<Rest>& rests) {
  Collection all;
  for (const Rest& rest : rests) {
    std::smatch match;
    if (!std::regex_match(rest.path[0], match, moodle_name())) {
      Item& other = all.at(rest.path[0], rest.raw[0], 0);
      other.origin = rest.path[0];
      all.add(other, *rest.entry, tail(rest.path));
      continue;
    }
    if (match[3] == "onlinetext") continue;  // a text field beside the files
    Item& item = all.at(match[2], match[2], 0);
    item.key_is_id = true;
    item.words = {match[1]};
    item.name = match[1];
    item.origin = rest.path[0];
    Parts inner = tail(rest.path);
    if (match[4].length() > 0) inner.insert(inner.begin(), match[4]);
    all.add(item, *rest.entry, std::move(inner));
  }
  return all.take();
}

std::vector<Item> gradescope_items(const std::vector<Rest>& rests) {
  std::vector<GradescopeSubmission> known;
  for (const Rest& rest : rests)
    if (rest.path.size() == 1 && !rest.entry->text.empty()) known = read_metadata(rest.entry->text);
  std::map<std::string, Item> folders;
  for (const Rest& rest : rests) {
    if (rest.path.size() == 1 && rest.path[0] == kMetadata) continue;
    Item& item = folders[stem(rest.path[0])];
    item.raw_key = rest.raw[0];
    item.origin = rest.path[0];
    Parts inner = tail(rest.path);
    if (inner.empty()) inner = {rest.path[0]};
    item.files.push_back({rest.entry, std::move(inner)});
  }
  std::vector<Item> items;
  for (auto& [folder, item] : folders) {
    const auto found =
        std::find_if(known.begin(), known.end(),
                     [&folder = folder](const auto& one) { return one.folder == folder; });
    if (found == known.end() || found->students.empty()) {
      item.key = folder;
      items.push_back(item);
      continue;
    }
    // A group's submission counts for each of its members.
    for (const GradescopeStudent& student : found->students) {
      Item one = item;
      one.key = !student.id.empty() ? student.id : !student.email.empty() ? student.email : folder;
      one.raw_key = one.key;
      one.key_is_id = true;
      one.words = {student.email, student.name};
      one.name = student.name;
      one.email = student.email;
      one.time = found->time;
      one.time_is_record = found->time != 0;
      items.push_back(std::move(one));
    }
  }
  return items;
}

std::vector<Item> plain_items(const std::vector<Rest>& rests, bool github) {
  std::set<std::string> names;
  for (const Rest& rest : rests) names.insert(stem(rest.path[0]));
  const std::string prefix = github ? common_prefix(names) : "";
  Collection all;
  for (const Rest& rest : rests) {
    std::string key = stem(rest.path[0]);
    if (key.size() > prefix.size() && key.starts_with(prefix)) key.erase(0, prefix.size());
    Parts inner = tail(rest.path);
    int order = 0;
    std::smatch match;
    if (!inner.empty() && inner.size() > 1) {
      const std::string name = stem(inner[0]);
      if (std::regex_match(name, match, attempt_name())) order = number_in(match[2]);
    }
    if (order > 0) inner.erase(inner.begin());
    Item& item = all.at(key, stem(rest.raw[0]), order);
    item.origin = rest.path[0];
    all.add(item, *rest.entry, std::move(inner));
  }
  return all.take();
}

}  // namespace membound::intake
