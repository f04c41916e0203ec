// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include "grader/base/failpoint.hpp"
#include "grader/base/result.hpp"

namespace membound::intake {
namespace {

namespace fs = std::filesystem;

/// Closes a file descriptor when it goes out of scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

base::Error cannot_read(const std::string& name) {
  return {base::ErrorKind::kInput, name, "cannot be read: " + base::reason_text(errno),
          "a readable folder or file", "check its path and rights"};
}

/// Names in the folder that `descriptor` is, sorted.
std::vector<std::string> names_in(int descriptor) {
  std::vector<std::string> names;
  DIR* const listing = fdopendir(dup(descriptor));
  if (listing == nullptr) return names;
  while (const dirent* entry = readdir(listing)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(listing);
  std::sort(names.begin(), names.end());
  return names;
}

/// No link is followed, not even one that was put there since it was looked at.
int without_links(int flag) { return base::switched_off("intake.links") ? 0 : flag; }

std::string kind_problem(const struct stat& facts) {
  if (S_ISLNK(facts.st_mode)) return "it is a symbolic link";
  if (S_ISFIFO(facts.st_mode)) return "it is a pipe";
  if (S_ISSOCK(facts.st_mode)) return "it is a socket";
  if (S_ISCHR(facts.st_mode) || S_ISBLK(facts.st_mode)) return "it is a device";
  if (!S_ISREG(facts.st_mode)) return "it is no regular file";
  return facts.st_nlink > 1 ? "it is a hard link" : "";
}

/// Visits a folder and those below it.
class Walk {
 public:
  Walk(const ArchiveLimits& limits, const MemberVisitor& visitor)
      : limits_(limits), visitor_(visitor) {}

  base::Status folder(int parent, const std::string& prefix, const std::string& shown_path,
                      std::size_t depth) {
    for (const std::string& name : names_in(parent)) {
      const std::string path = prefix.empty() ? name : prefix + "/" + name;
      if (++entries_ > limits_.entries) {
        return base::Error{base::ErrorKind::kInput, shown_path,
                           "more than " + std::to_string(limits_.entries) + " files", "",
                           "name the folder that holds the submissions"};
      }
      struct stat facts {};
      if (fstatat(parent, name.c_str(), &facts, without_links(AT_SYMLINK_NOFOLLOW)) != 0) continue;
      if (!S_ISDIR(facts.st_mode)) {
        file(parent, name, path, facts);
      } else if (is_litter(name)) {
        visitor_.take(member_of(path, facts), "");
      } else {
        Member member = member_of(path, facts);
        member.is_folder = true;
        visitor_.take(member, "");
        const auto below = enter(parent, name, path, shown_path, depth);
        if (!below) return below;
      }
    }
    return base::Done{};
  }

  void file(int parent, const std::string& name, const std::string& path,
            const struct stat& facts) {
    Member member = member_of(path, facts);
    member.size = static_cast<std::uint64_t>(facts.st_size);
    if (const std::string problem = kind_problem(facts); !problem.empty())
      member.path.problem = problem;
    std::string content;
    if (!member.path.problem && visitor_.wants(member)) read(parent, name, member, content);
    visitor_.take(member, std::move(content));
  }

 private:
  static Member member_of(const std::string& path, const struct stat& facts) {
    Member member;
    member.path = safe_path(path);
    member.time = facts.st_mtim.tv_sec;
    return member;
  }

  base::Status enter(int parent, const std::string& name, const std::string& path,
                     const std::string& shown_path, std::size_t depth) {
    constexpr std::size_t kMostDepth = 40;
    const Descriptor inside(openat(parent, name.c_str(),
                                   O_RDONLY | O_DIRECTORY | without_links(O_NOFOLLOW) | O_CLOEXEC));
    if (inside.get() < 0 || depth >= kMostDepth) {
      Member member;
      member.path = safe_path(path);
      member.path.problem = inside.get() < 0
                                ? "the folder cannot be read: " + base::reason_text(errno)
                                : "it lies too many folders deep";
      visitor_.take(member, "");
      return base::Done{};
    }
    return folder(inside.get(), path, shown_path, depth + 1);
  }

  /// What was looked at may be another file by now, so everything is asked again of the open one.
  void read(int parent, const std::string& name, Member& member, std::string& content) const {
    const Descriptor file(openat(parent, name.c_str(),
                                 O_RDONLY | without_links(O_NOFOLLOW) | O_NONBLOCK | O_CLOEXEC));
    struct stat facts {};
    if (file.get() < 0 || fstat(file.get(), &facts) != 0) {
      member.path.problem = "it cannot be read: " + base::reason_text(errno);
      return;
    }
    if (const std::string problem = kind_problem(facts); !problem.empty()) {
      member.path.problem = problem;
      return;
    }
    char block[64 * 1024];
    while (content.size() <= limits_.file_bytes) {
      const ssize_t size = ::read(file.get(), block, sizeof block);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) member.path.problem = "it cannot be read: " + base::reason_text(errno);
      if (size <= 0) break;
      content.append(block, static_cast<std::size_t>(size));
    }
    member.size = content.size();
    if (content.size() > limits_.file_bytes)
      member.path.problem = "it is larger than " + std::to_string(limits_.file_bytes) + " bytes";
  }

  const ArchiveLimits& limits_;
  const MemberVisitor& visitor_;
  std::uint64_t entries_ = 0;
};

}  // namespace

base::Status read_folder(const fs::path& folder, const ArchiveLimits& limits,
                         const MemberVisitor& visitor) {
  const Descriptor inside(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (inside.get() < 0) return cannot_read(folder.string());
  return Walk(limits, visitor).folder(inside.get(), "", folder.string(), 0);
}

base::Status read_single_file(const fs::path& file, const ArchiveLimits& limits,
                              const MemberVisitor& visitor) {
  struct stat facts {};
  if (fstatat(AT_FDCWD, file.c_str(), &facts, without_links(AT_SYMLINK_NOFOLLOW)) != 0)
    return cannot_read(file.string());
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const Descriptor parent(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.get() < 0) return cannot_read(file.string());
  const std::string name = file.filename().string();
  Walk(limits, visitor).file(parent.get(), name, name, facts);
  return base::Done{};
}

}  // namespace membound::intake
