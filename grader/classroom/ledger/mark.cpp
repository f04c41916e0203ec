// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/ledger/mark.hpp"

#include "grader/base/digest.hpp"
#include "grader/classroom/ledger/database.hpp"
#include "grader/course/json_io.hpp"

namespace membound::ledger {

using course::read_field;
using course::write_field;

MEMBOUND_JSON(Mark, student, lab, points, comment, marked_at, basis, automatic)

base::Result<std::vector<Mark>> read_marks(const std::filesystem::path& out,
                                           const std::filesystem::path& key_file) {
  const auto secret = read_secret(out, key_file, false);
  if (!secret) return secret.error();
  const base::Error changed{base::ErrorKind::kInput, (out / "ledger.sqlite").string(),
                            "holds a mark that this batch did not sign", "an unchanged ledger",
                            "membound grade --verify lists everything that was changed"};
  std::vector<Mark> marks;
  try {
    Database database(out, true);
    for (const ChainEntry& entry : database.marks()) {
      if (!base::same_digest(entry.mac, mac_of(entry, *secret))) return changed;
      marks.push_back(nlohmann::json::parse(entry.summary).get<Mark>());
    }
  } catch (const SQLite::Exception& problem) {
    return base::Error{base::ErrorKind::kInput, (out / "ledger.sqlite").string(), problem.what(),
                       "the ledger of a graded class", "name the folder that --out made"};
  } catch (const nlohmann::json::exception&) {
    return changed;
  }
  return marks;
}

}  // namespace membound::ledger
