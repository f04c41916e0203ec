// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/ledger/record.hpp"

#include <system_error>

#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/course/json_io.hpp"

namespace membound::ledger {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kSecretBytes = 32;

/// Over the text of the grade as this program writes it, so that layout does not matter.
std::string signature(const std::string& key, int round, const json& grade,
                      std::string_view secret) {
  return base::hmac_sha256(secret, std::string(Record::kSchema) + "\n" + key + "\n" +
                                       std::to_string(round) + "\n" + course::dump_safely(grade));
}

}  // namespace

std::string record_name(const std::string& key, int round) {
  return key + "-" + std::to_string(round) + ".json";
}

std::string to_text(const Record& record, std::string_view secret) {
  // Once through text: what cannot be written exactly is replaced before it is signed.
  const json grade = json::parse(course::dump_safely(json(record.grade)));
  const json all = {{"schema", Record::kSchema},
                    {"key", record.key},
                    {"round", record.round},
                    {"grade", grade},
                    {"mac", signature(record.key, record.round, grade, secret)}};
  return course::dump_safely(all, 1) + "\n";
}

base::Result<Record> record_from_text(const std::string& text, const std::string& file_name,
                                      std::string_view secret) {
  const base::Error bad{base::ErrorKind::kInput, file_name, "", "a verdict that this batch signed",
                        "membound grade --regrade makes it anew"};
  try {
    const json all = json::parse(text);
    Record record;
    all.at("key").get_to(record.key);
    all.at("round").get_to(record.round);
    if (!base::same_digest(all.at("mac").get<std::string>(),
                           signature(record.key, record.round, all.at("grade"), secret))) {
      base::Error error = bad;
      error.found = "its signature is wrong: somebody else wrote or changed it";
      return error;
    }
    all.at("grade").get_to(record.grade);
    return record;
  } catch (const json::exception& problem) {
    base::Error error = bad;
    error.found = std::string("is no verdict: ") + problem.what();
    return error;
  }
}

base::Status write_record(const fs::path& out, const Record& record, std::string_view secret) {
  return base::write_durably(out / "results" / record_name(record.key, record.round),
                             to_text(record, secret), "result");
}

base::Result<std::string> read_secret(const fs::path& out, const fs::path& key_file, bool make) {
  const fs::path file = key_file.empty() ? out / "key" : key_file;
  std::error_code ignored;
  if (make && !fs::exists(file, ignored)) {
    const auto written =
        base::write_durably(file, base::hex(base::random_bytes(kSecretBytes)) + "\n", "key", 0600);
    if (!written) return written.error();
  }
  auto text = base::read_file(file);
  if (!text) return text.error();
  while (text->ends_with('\n')) text->pop_back();
  if (text->size() < kSecretBytes) {
    return base::Error{base::ErrorKind::kInput, file.string(),
                       "holds " + std::to_string(text->size()) + " characters",
                       "the secret that this batch's verdicts are signed with",
                       "name the right file with --key, or start a new batch in another folder"};
  }
  return *text;
}

}  // namespace membound::ledger
