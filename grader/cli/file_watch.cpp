// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/file_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "grader/base/system_text.hpp"

namespace membound::cli {

base::Result<FileWatch> FileWatch::on(const std::filesystem::path& file) {
  const int descriptor = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  const bool watching = descriptor >= 0 && inotify_add_watch(descriptor, file.parent_path().c_str(),
                                                             IN_CLOSE_WRITE | IN_MOVED_TO) >= 0;
  if (!watching) {
    const std::string reason = base::reason_text(errno);
    if (descriptor >= 0) close(descriptor);
    return base::Error{base::ErrorKind::kMachine, file.parent_path().string(),
                       "cannot be watched: " + reason, "",
                       "membound check; or raise fs.inotify.max_user_watches"};
  }
  return FileWatch(descriptor, file.filename().string());
}

FileWatch::FileWatch(FileWatch&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), name_(std::move(other.name_)) {}

FileWatch::~FileWatch() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool FileWatch::take_events() const {
  bool saved = false;
  alignas(inotify_event) char buffer[4096];
  for (ssize_t size = 0; (size = read(descriptor_, buffer, sizeof buffer)) > 0;) {
    for (char* at = buffer; at < buffer + size;) {
      const auto* const event = reinterpret_cast<const inotify_event*>(at);
      saved = saved || (event->len > 0 && name_ == event->name);
      at += sizeof(inotify_event) + event->len;
    }
  }
  return saved;
}

}  // namespace membound::cli
