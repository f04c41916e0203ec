// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/release/leaks.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <sstream>

#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/device_code/fatbin/fatbin.hpp"

namespace membound::release {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownLetters = 60;
/// Of line tables in PTX, and names of such sections in cubins.
constexpr std::array<std::string_view, 8> kDebugMarks = {
    "\n.loc ",     "\t.loc ",     "\n.file",    "\t.file",
    ".debug_line", ".debug_info", ".debug_str", ".nv_debug_line"};

/// One blank instead of each run of white space, none at the ends.
std::string normalised(std::string_view line) {
  std::string text;
  for (const char letter : line) {
    if (std::isspace(static_cast<unsigned char>(letter)) == 0)
      text += letter;
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

/// Whether a line can tell anything: rulers of tables, the licence in each head and the name of a
/// system's header cannot.
bool tells_something(const std::string& line) {
  if (line.find("SPDX-") != std::string::npos || line.starts_with("#include <")) return false;
  return line.size() >= kShortestSecret && std::any_of(line.begin(), line.end(), [](char letter) {
           return std::isalnum(static_cast<unsigned char>(letter)) != 0;
         });
}

bool is_binary(std::string_view bytes) {
  return bytes.substr(0, 4096).find('\0') != std::string_view::npos;
}

/// Collects the leaks of one file.
class Looking {
 public:
  Looking(std::string file, const Secrets& secrets, std::vector<Leak>& leaks)
      : file_(std::move(file)), secrets_(secrets), leaks_(leaks) {}

  void text(std::string_view text, bool numbered) {
    std::istringstream lines{std::string(text)};
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      const std::string source = secrets_.source_of(line);
      if (source.empty()) continue;
      const std::string shown = base::printable(normalised(line).substr(0, kShownLetters));
      leak(numbered ? number : 0, "a line of " + source + ": " + shown);
    }
  }

  void places(std::string_view bytes, const std::vector<fs::path>& places) {
    for (const fs::path& place : places)
      // "/" and "/srv" stand in texts that mean no machine.
      if (std::distance(place.begin(), place.end()) > 2 &&
          bytes.find(place.string()) != std::string_view::npos)
        leak(0, "the path " + place.string() + " of this machine");
  }

  /// Device code: PTX as text, and no line tables anywhere.
  base::Status device_code(const std::string& bytes) {
    const auto entries = fatbin::read(std::as_bytes(std::span(bytes.data(), bytes.size())), file_);
    if (!entries) return entries.error();
    for (const fatbin::Entry& entry : *entries) {
      text(entry.text(), false);
      for (const std::string_view mark : kDebugMarks)
        if (entry.text().find(mark) != std::string_view::npos) {
          leak(0, "debug information (" + normalised(mark) + ")");
          break;
        }
    }
    return base::Done{};
  }

 private:
  void leak(int line, std::string what) { leaks_.push_back({file_, line, std::move(what)}); }

  std::string file_;
  const Secrets& secrets_;
  std::vector<Leak>& leaks_;
};

}  // namespace

std::string to_string(const Leak& leak) {
  return leak.file + (leak.line > 0 ? ":" + std::to_string(leak.line) : "") + ": " + leak.what;
}

base::Result<Secrets> Secrets::read(const std::vector<fs::path>& roots,
                                    const std::vector<std::string>& open) {
  Secrets secrets;
  for (const fs::path& root : roots) {
    std::error_code error;
    for (fs::recursive_directory_iterator entry(root / "solutions", error), end;
         !error && entry != end; entry.increment(error)) {
      if (!entry->is_regular_file(error)) continue;
      const auto text = base::read_file(entry->path());
      if (!text) return text.error();
      const std::string name = entry->path().lexically_relative(root).generic_string();
      const bool is_patch = entry->path().extension() == ".patch";
      std::istringstream lines(*text);
      for (std::string line; std::getline(lines, line);) {
        if (is_patch && line.starts_with('+')) line.erase(0, 1);
        if (line = normalised(line); tells_something(line)) secrets.lines_.try_emplace(line, name);
      }
    }
    if (error) {
      return base::Error{base::ErrorKind::kMachine, (root / "solutions").string(),
                         "cannot be read: " + error.message(), "the course's reference answers",
                         "release from the instructors' course"};
    }
  }
  for (const std::string& text : open) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) secrets.lines_.erase(normalised(line));
  }
  return secrets;
}

std::string Secrets::source_of(std::string_view line) const {
  if (line.size() < kShortestSecret) return "";
  const auto found = lines_.find(normalised(line));
  return found == lines_.end() ? "" : found->second;
}

base::Result<std::vector<Leak>> find_leaks(const Tree& tree, const Secrets& secrets,
                                           const std::vector<fs::path>& places) {
  std::vector<Leak> leaks;
  for (const auto& [name, file] : tree) {
    Looking looking(name, secrets, leaks);
    looking.places(file.bytes, places);
    if (name.ends_with(".fatbin") || name.ends_with(".ptx")) {
      const auto looked = looking.device_code(file.bytes);
      if (!looked) return looked.error();
    } else if (!is_binary(file.bytes)) {
      looking.text(file.bytes, true);
    }
  }
  return leaks;
}

}  // namespace membound::release
