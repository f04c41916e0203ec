// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/house.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "grader/authoring/lab_check.hpp"
#include "grader/authoring/written_parts.hpp"
#include "grader/authoring/wrong_answer.hpp"
#include "grader/base/files.hpp"
#include "grader/base/result.hpp"
#include "grader/base/strings.hpp"

namespace membound::authoring {

namespace fs = std::filesystem;
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// Whether `path` is `room`, or lies inside it.
bool lies_in(const std::string& path, const std::string& room) {
  return path == room || path.starts_with(room + "/");
}

bool allows(const Room& room, const std::string& other) {
  return std::any_of(room.uses.begin(), room.uses.end(), [&](const std::string& use) {
    return use == other || (use.ends_with('/') && other.starts_with(use));
  });
}

/// The rooms, found by the folder of a file below grader/.
class House {
 public:
  House(const std::vector<Room>& rooms, const fs::path& root) : rooms_(rooms), root_(root) {}

  std::vector<Drift> check() {
    check_list();
    read_folders();
    check_build();
    for (const fs::path& file : files_) {
      if (file.filename() == "CMakeLists.txt")
        check_links(file);
      else
        check_source(file);
    }
    return std::move(drifts_);
  }

 private:
  void add(const std::string& file, int line, std::string found, std::string expected,
           std::string advice) {
    drifts_.push_back({file, line, std::move(found), std::move(expected), std::move(advice)});
  }

  /// A room uses only rooms that stand below it in the list.
  void check_list() {
    for (std::size_t i = 0; i < rooms_.size(); ++i) {
      for (const std::string& use : rooms_[i].uses) {
        const bool below = std::any_of(rooms_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                       rooms_.end(), [&](const Room& other) {
                                         return other.path == use ||
                                                (use.ends_with('/') && other.path.starts_with(use));
                                       });
        if (!below)
          add("grader/rooms.txt", rooms_[i].line, rooms_[i].path + " uses " + use,
              "a room further down the list", "an arrow never points up");
      }
    }
  }

  /// The sources of every room, the targets that each folder makes, and names that stand twice.
  void read_folders() {
    std::map<std::string, std::string> stems;
    const fs::path grader = root_ / "grader";
    std::error_code error;
    for (fs::recursive_directory_iterator entry(grader, error), end; !error && entry != end;
         entry.increment(error)) {
      const fs::path file = entry->path().lexically_relative(root_);
      const std::string name = file.generic_string();
      if (name == "grader/tests" || name == "grader/gpu_truth" || name == "grader/cmake")
        entry.disable_recursion_pending();
      const std::string ending = file.extension().string();
      const bool source = ending == ".cpp" || ending == ".hpp" || ending == ".h" ||
                          ending == ".cu" || ending == ".cuh" || ending == ".def";
      if (source || file.filename() == "CMakeLists.txt") files_.push_back(file);
      if (source && ending != ".def" && !lies_in(name, "grader/harness/student") &&
          !lies_in(name, "grader/device_code/cuda_api/include")) {
        const auto [other, is_new] =
            stems.emplace(file.stem().string(), file.parent_path().generic_string());
        if (!is_new && other->second != file.parent_path().generic_string())
          add(name, 0, "the name stands in " + other->second + ", too",
              "one file of a name, header and source apart", "rename the file after what it does");
      }
      if (file.filename() == "CMakeLists.txt") read_targets(file);
    }
    std::sort(files_.begin(), files_.end());
  }

  void read_targets(const fs::path& file) {
    const auto text = base::read_file(root_ / file);
    if (!text) return;
    static const std::regex made(R"(add_(module|library|executable)\(\s*([A-Za-z0-9_:]+))");
    for (std::sregex_iterator match(text->begin(), text->end(), made), end; match != end; ++match) {
      std::string target = (*match)[2];
      for (const char* prefix : {"membound::", "membound_"})
        if (target.starts_with(prefix)) target = target.substr(std::string_view(prefix).size());
      targets_.emplace(target, file.parent_path().lexically_relative("grader").generic_string());
    }
  }

  /// Every folder that can be built is reached from the root's CMakeLists.txt.
  void check_build() {
    std::set<fs::path> added;
    std::vector<fs::path> makers = {root_ / "CMakeLists.txt"};
    std::error_code error;
    for (fs::recursive_directory_iterator entry(root_ / "grader", error), end;
         !error && entry != end; entry.increment(error))
      if (entry->path().filename() == "CMakeLists.txt") makers.push_back(entry->path());
    static const std::regex adds(R"(add_subdirectory\(\s*([^\s)]+))");
    for (const fs::path& maker : makers) {
      const auto text = base::read_file(maker);
      if (!text) continue;
      for (std::sregex_iterator match(text->begin(), text->end(), adds), end; match != end; ++match)
        added.insert((maker.parent_path() / (*match)[1].str()).lexically_normal());
    }
    for (const fs::path& maker : makers)
      if (maker.parent_path() != root_ && !added.contains(maker.parent_path().lexically_normal()))
        add(maker.lexically_relative(root_).generic_string(), 0, "nothing adds this folder",
            "an add_subdirectory in a CMakeLists.txt above it", "what it makes is never built");
  }

  const Room* room_of(const std::string& folder) const {
    const Room* best = nullptr;
    for (const Room& room : rooms_)
      if (lies_in(folder, room.path) && (!best || room.path.size() > best->path.size()))
        best = &room;
    return best;
  }

  void check_source(const fs::path& file) {
    const std::string name = file.generic_string();
    const std::string folder = file.parent_path().lexically_relative("grader").generic_string();
    if (lies_in(folder, "harness/student")) return;  // what kernels include, not the grader's code
    const Room* room = room_of(folder);
    if (room == nullptr) {
      add(name, 0, "no room holds this file", "a folder that grader/rooms.txt names", "");
      return;
    }
    const auto text = base::read_file(root_ / file);
    if (!text) return;
    static const std::regex include(R"re(^\s*#include "grader/([^"]+)/[^"/]+")re");
    static const std::regex space(R"(^namespace membound((::[A-Za-z_0-9]+)*) \{)");
    std::istringstream lines(*text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      std::smatch match;
      if (line.starts_with("#include") && std::regex_search(line, match, include))
        check_include(name, number, *room, match[1]);
      if (line.starts_with("namespace") && std::regex_search(line, match, space))
        check_namespace(name, number, *room, match[1]);
    }
  }

  void check_include(const std::string& name, int line, const Room& room,
                     const std::string& folder) {
    const Room* other = room_of(folder);
    if (other == &room) return;
    // What labs include, too: a table between an oracle and the tests.
    if (lies_in(folder, "harness/student") && lies_in(room.path, "harness")) return;
    if (other == nullptr)
      add(name, line, "an include of grader/" + folder, "a room of grader/rooms.txt", "");
    else if (!allows(room, other->path))
      add(name, line, room.path + " includes " + other->path, "an arrow of grader/rooms.txt",
          "move the code to the room whose work it is; a new arrow is a decision about the house");
  }

  /// One part of the namespace is the name of the room or of a room around it.
  void check_namespace(const std::string& name, int line, const Room& room,
                       const std::string& space) {
    std::string parts = room.path + "/";
    std::string rest = space;
    while (!rest.empty()) {
      const auto next = rest.find("::", 2);
      const std::string part = rest.substr(2, next == std::string::npos ? next : next - 2);
      if (("/" + parts).find("/" + part + "/") != std::string::npos) return;
      rest = next == std::string::npos ? "" : rest.substr(next);
    }
    add(name, line, "namespace membound" + space, "the namespace of " + room.path, "");
  }

  /// Every membound:: target that a folder links is one it, or a room inside it, may use.
  void check_links(const fs::path& file) {
    const auto text = base::read_file(root_ / file);
    if (!text) return;
    const std::string folder = file.parent_path().lexically_relative("grader").generic_string();
    static const std::regex linked(R"(membound::([a-z0-9_]+))");
    std::istringstream lines(*text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (line.starts_with('#')) continue;
      for (std::sregex_iterator match(line.begin(), line.end(), linked), end; match != end;
           ++match) {
        const auto target = targets_.find((*match)[1]);
        if (target == targets_.end() || target->second == folder) continue;
        const bool allowed = std::any_of(rooms_.begin(), rooms_.end(), [&](const Room& room) {
          return lies_in(room.path, folder) &&
                 std::any_of(rooms_.begin(), rooms_.end(), [&](const Room& other) {
                   return lies_in(other.path, target->second) && allows(room, other.path);
                 });
        });
        if (!allowed)
          add(file.generic_string(), number, folder + " links " + target->second,
              "an arrow of grader/rooms.txt", "");
      }
    }
  }

  const std::vector<Room>& rooms_;
  fs::path root_;
  std::vector<fs::path> files_;
  std::map<std::string, std::string> targets_;  ///< name -> folder below grader/
  std::vector<Drift> drifts_;
};

}  // namespace

base::Result<std::vector<Room>> read_rooms(std::string_view text, const std::string& file_name) {
  std::vector<Room> rooms;
  std::istringstream lines{std::string(text)};
  int number = 0;
  std::set<std::string> seen;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (base::trimmed(line).empty() || line.starts_with('#')) continue;
    const auto bad = [&](std::string found) {
      return base::Error{base::ErrorKind::kInput, file_name + ":" + std::to_string(number),
                         std::move(found),
                         "room: rooms it uses | what it does | what it leaves out", ""};
    };
    const auto colon = line.find(':');
    const auto bar = line.find('|');
    const auto second = bar == std::string::npos ? bar : line.find('|', bar + 1);
    if (colon == std::string::npos || bar < colon) return bad("no colon after the room");
    if (second == std::string::npos) return bad("fewer than three parts");
    const auto part = [&](std::size_t from, std::size_t to) {
      return std::string(base::trimmed(std::string_view(line).substr(from, to - from)));
    };
    Room room{.path = part(0, colon),
              .uses = words_of(line.substr(colon + 1, bar - colon - 1)),
              .does = part(bar + 1, second),
              .leaves_out = part(second + 1, line.size()),
              .line = number};
    if (!seen.insert(room.path).second) return bad("the room " + room.path + " a second time");
    rooms.push_back(std::move(room));
  }
  return rooms;
}

std::vector<Drift> check_house(const std::vector<Room>& rooms, const fs::path& root) {
  return House(rooms, root).check();
}

std::string rooms_as_markdown(const std::vector<Room>& rooms) {
  std::size_t width = 0;
  for (const Room& room : rooms) width = std::max(width, room.path.size());
  std::string text = "```\n";
  for (const Room& room : rooms) {
    std::string line = room.path + std::string(width - room.path.size(), ' ');
    line += room.uses.empty() ? "" : " →";
    std::size_t column = width + 2;
    for (const std::string& use : room.uses) {
      if (column + 1 + use.size() > 110) {
        line += "\n" + std::string(width + 2, ' ');
        column = width + 2;
      }
      line += " " + use;
      column += 1 + use.size();
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  text += "```\n\n| room | does | leaves out |\n| --- | --- | --- |\n";
  for (const Room& room : rooms)
    text += "| `" + room.path + "` | " + room.does + " | " + room.leaves_out + " |\n";
  return text;
}

std::vector<Drift> check_architecture_page(const std::vector<Room>& rooms, const fs::path& root,
                                           bool fix) {
  return check_written_part(
      {"docs/architecture.md", "rooms", rooms_as_markdown(rooms), "grader/rooms.txt"}, root, fix);
}

namespace {

constexpr const char* kPage = "grader/tests/attacks/defended.md";
constexpr const char* kNotClosed = "not closed";

/// What there is: "Suite.Name" and "Suite.*" of every test, names of scripts, attacks as
/// "group/name", wrong answers as "lab/name".
std::set<std::string> every_test(const fs::path& root) {
  static const std::regex kTest(R"(TEST(?:_F|_P)?\((\w+),\s*(\w+)\))");
  std::set<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(root / "grader/tests", ignored)) {
    const fs::path& path = entry.path();
    if (path.extension() == ".case")
      names.insert(path.parent_path().filename().string() + "/" + path.stem().string());
    if (path.extension() == ".sh") names.insert(path.filename().string());
    const auto text = path.extension() == ".cpp" ? base::read_file(path) : base::Error{};
    if (!text) continue;
    for (std::sregex_iterator it(text->begin(), text->end(), kTest), end; it != end; ++it) {
      names.insert((*it)[1].str() + "." + (*it)[2].str());
      names.insert((*it)[1].str() + ".*");
    }
  }
  // Of the course, and of the lab that tests programs.
  for (const char* folder : {"solutions", "grader/tests/harness/program/solutions"}) {
    for (const auto& entry : fs::directory_iterator(root / folder, ignored)) {
      const std::string lab = entry.path().filename().string();
      for (const auto& answer : each_wrong_answer(entry.path()))
        if (answer) names.insert(lab.substr(0, 2) + "/" + answer->name);
    }
  }
  return names;
}

/// The cells of a table's row; a bar inside of backquotes parts none.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  if (!line.starts_with("|")) return cells;
  bool in_code = false;
  std::string cell;
  for (const char c : line.substr(1)) {
    in_code ^= c == '`';
    if (c != '|' || in_code) {
      cell += c;
      continue;
    }
    cells.emplace_back(base::trimmed(cell));
    cell.clear();
  }
  return cells;
}

}  // namespace

std::vector<std::string> tests_named_in(std::string_view cell) {
  static const std::regex kName(
      R"(([A-Z]\w+\.(?:[A-Z]\w+|\*))|([A-I]-[\w-]+/[\w-]+)|(\b\d\d/\d-[\w-]+)|(\b\w+\.sh\b))");
  std::vector<std::string> names;
  const std::string text(cell);
  for (std::sregex_iterator it(text.begin(), text.end(), kName), end; it != end; ++it)
    names.push_back(it->str());
  return names;
}

std::vector<Drift> check_named_tests(const fs::path& root) {
  const auto page = base::read_file(root / kPage);
  if (!page) return {{kPage, 0, "cannot be read", "the page of what was found", ""}};
  const std::set<std::string> known = every_test(root);
  std::vector<Drift> drifts;
  std::istringstream lines(*page);
  bool has_tests = false;
  int number = 0;
  std::vector<std::string> before;  // what "the same" stands for
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() < 2) {
      has_tests = false;
      continue;
    }
    if (!has_tests) {
      has_tests = cells.back() == "test";
      continue;
    }
    const std::string& cell = cells.back();
    if (cell.starts_with("---")) continue;
    if (cell != "the same") before = tests_named_in(cell);
    if (before.empty() && cell.find(kNotClosed) == std::string::npos)
      drifts.push_back({kPage, number, cell.empty() ? "no test" : "\"" + cell + "\"",
                        "a test that holds the row, or why there is none: \"not closed\"", ""});
    for (const std::string& name : before)
      if (!known.contains(name))
        drifts.push_back({kPage, number, name, "a test, attack or wrong answer of the tree",
                          "name the one that holds this row now"});
  }
  return drifts;
}

}  // namespace membound::authoring
