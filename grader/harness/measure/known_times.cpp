// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/known_times.hpp"

#include <cmath>

#include "grader/base/files.hpp"

namespace membound::harness {

void ReferenceTimes::add(int stage, const std::string& label, bool sampled, ReferenceTime time) {
  times_[{stage, label, sampled}] = std::move(time);
}

const ReferenceTime* ReferenceTimes::find(int stage, const std::string& label, bool sampled) const {
  const auto found = times_.find({stage, label, sampled});
  return found == times_.end() ? nullptr : &found->second;
}

std::string ReferenceTimes::to_text() const {
  nlohmann::json cases = nlohmann::json::array();
  for (const auto& [key, time] : times_)
    cases.push_back({{"stage", std::get<0>(key)},
                     {"label", std::get<1>(key)},
                     {"sampled", std::get<2>(key)},
                     {"time_ns", time.time_ns},
                     {"ceiling", time.ceiling},
                     {"counters", time.counters}});
  const nlohmann::json whole = {{"schema", kSchema},
                                {"lab", lab},
                                {"device", device},
                                {"unusable", unusable},
                                {"cases", std::move(cases)}};
  return whole.dump() + "\n";
}

base::Result<ReferenceTimes> ReferenceTimes::from_text(const std::string& text,
                                                       const std::string& file_name) {
  try {
    const nlohmann::json whole = nlohmann::json::parse(text);
    if (whole.at("schema") == kSchema) {
      ReferenceTimes times;
      times.lab = whole.at("lab");
      times.device = whole.at("device");
      times.unusable = whole.at("unusable");
      bool are_times = true;
      for (const nlohmann::json& one : whole.at("cases")) {
        const double time_ns = one.at("time_ns");
        const bool sampled = one.at("sampled");
        are_times =
            are_times && std::isfinite(time_ns) && (time_ns > 0 || (sampled && time_ns == 0));
        times.add(one.at("stage"), one.at("label"), sampled,
                  {time_ns, one.at("ceiling"), one.value("counters", nlohmann::json())});
      }
      if (are_times) return times;
    }
  } catch (const nlohmann::json::exception&) {  // told below
  }
  return base::Error{base::ErrorKind::kMachine, file_name, "holds no reference times",
                     std::string("what a test program wrote, ") + kSchema,
                     "remove the file; it is made anew"};
}

base::Result<ReferenceTimes> read_reference_times(const std::filesystem::path& file) {
  const auto text = base::read_file(file);
  if (!text) return text.error();
  return ReferenceTimes::from_text(*text, file.string());
}

}  // namespace membound::harness
