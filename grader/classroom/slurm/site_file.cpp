// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/slurm/slurm.hpp"

#include <yaml-cpp/yaml.h>

#include <functional>
#include <map>
#include <sstream>

namespace membound::slurm {
namespace {

constexpr int kMostMinutes = 10000, kMostTasks = 10000, kMostChunk = 1000, kMostSeconds = 3600;

/// Walks the file and remembers the first thing that is wrong with it.
class SiteReader {
 public:
  explicit SiteReader(const std::string& file) : file_(file) {}

  base::Result<Site> read(const YAML::Node& root) {
    Site site;
    const auto option = [&](const char* name) {
      return [&, name](const YAML::Node& node) {
        site.options.push_back("--" + std::string(name) + "=" + word(node));
      };
    };
    const std::map<std::string, std::function<void(const YAML::Node&)>> readers = {
        {"account", option("account")},
        {"at_once", [&](const YAML::Node& n) { site.at_once = number(n, kMostTasks); }},
        {"chunk", [&](const YAML::Node& n) { site.chunk = number(n, kMostChunk); }},
        {"constraint", option("constraint")},
        {"container", [&](const YAML::Node& n) { site.container = words(n); }},
        {"cpus", option("cpus-per-task")},
        {"gres", option("gres")},
        {"memory", option("mem")},
        {"minutes", [&](const YAML::Node& n) { site.minutes = number(n, kMostMinutes); }},
        {"modules", [&](const YAML::Node& n) { site.modules = list(n); }},
        {"options", [&](const YAML::Node& n) { options(n, site); }},
        {"partition", option("partition")},
        {"prolog", [&](const YAML::Node& n) { site.prolog = list(n); }},
        {"qos", option("qos")},
        {"start_seconds",
         [&](const YAML::Node& n) { site.start_seconds = number(n, kMostSeconds); }},
    };
    std::string known;
    for (const auto& [key, reader] : readers) known += (known.empty() ? "" : ", ") + key;
    if (!root.IsMap()) wrong(root, "is no list of \"key: value\"", known);
    for (const auto& entry : root) {
      if (problem_) break;
      const auto reader = readers.find(entry.first.IsScalar() ? entry.first.Scalar() : "");
      if (reader == readers.end())
        wrong(entry.first, "an unknown key", known);
      else
        reader->second(entry.second);
    }
    if (problem_) return *problem_;
    return site;
  }

 private:
  void wrong(const YAML::Node& node, const std::string& found, const std::string& expected) {
    if (problem_) return;
    const std::string text = node.IsScalar() ? " \"" + node.Scalar().substr(0, 60) + "\"" : "";
    problem_ =
        base::Error{base::ErrorKind::kInput, file_ + ":" + std::to_string(node.Mark().line + 1),
                    found + text, expected, "docs/your_cluster.md shows such files"};
  }

  /// One that becomes a word of sbatch's command line.
  std::string word(const YAML::Node& node) {
    const bool is_one = node.IsScalar() && !node.Scalar().empty() &&
                        node.Scalar().find_first_of(" \t\n") == std::string::npos;
    if (!is_one) wrong(node, "no single word", "a word, such as gpu or 8G");
    return is_one ? node.Scalar() : "";
  }

  int number(const YAML::Node& node, int most) {
    int value = 0;
    if (node.IsScalar() && YAML::convert<int>::decode(node, value) && value >= 1 && value <= most)
      return value;
    wrong(node, "no such number", "a whole number from 1 to " + std::to_string(most));
    return 1;
  }

  /// A list of lines, or one line.
  std::vector<std::string> list(const YAML::Node& node) {
    std::vector<std::string> lines;
    if (node.IsScalar()) lines.push_back(node.Scalar());
    if (!node.IsScalar() && !node.IsSequence()) wrong(node, "no list", "- a line");
    for (const auto& entry : node.IsSequence() ? node : YAML::Node()) {
      if (!entry.IsScalar()) wrong(entry, "no line of text", "- a line");
      lines.push_back(entry.IsScalar() ? entry.Scalar() : "");
    }
    return lines;
  }

  /// A list of words, or a line that spaces part.
  std::vector<std::string> words(const YAML::Node& node) {
    if (!node.IsScalar()) return list(node);
    std::istringstream text(node.Scalar());
    std::vector<std::string> parts;
    for (std::string part; text >> part;) parts.push_back(part);
    return parts;
  }

  void options(const YAML::Node& node, Site& site) {
    for (const std::string& option : list(node)) {
      if (!option.starts_with("-")) wrong(node, "no option of sbatch", "- --constraint=h200");
      site.options.push_back(option);
    }
  }

  const std::string& file_;
  std::optional<base::Error> problem_;
};

}  // namespace

base::Result<Site> read_site(const std::string& text, const std::string& file) {
  try {
    return SiteReader(file).read(YAML::Load(text));
  } catch (const YAML::Exception& problem) {
    return base::Error{base::ErrorKind::kInput, file + ":" + std::to_string(problem.mark.line + 1),
                       problem.msg, "a file in YAML", "docs/your_cluster.md shows such files"};
  }
}

}  // namespace membound::slurm
