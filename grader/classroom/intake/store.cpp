// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/store.hpp"

#include <system_error>

#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"

namespace membound::intake {

base::Result<std::string> Store::put(std::string_view text) const {
  const std::string name = base::sha256(text);
  std::error_code ignored;
  if (std::filesystem::exists(file(name), ignored)) return name;
  const auto written = base::write_durably(file(name), text, "store", 0444);
  if (!written) return written.error();
  // The folder of the digest is a name in the store's folder, and that must survive too.
  const auto synced = base::sync_folder(folder_);
  if (!synced) return synced.error();
  return name;
}

base::Result<std::string> Store::get(const std::string& sha256) const {
  auto text = base::read_file(file(sha256));
  if (text && base::sha256(*text) != sha256) {
    return base::Error{base::ErrorKind::kMachine, file(sha256).string(),
                       "is not the file that was handed in: its SHA-256 is another one",
                       "an unchanged store", "delete it and grade again with the submissions"};
  }
  return text;
}

int Store::sweep() const {
  int removed = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error))
    removed += base::sweep(entry->path());
  return removed;
}

}  // namespace membound::intake
