// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/bench/bench_table.hpp"

#include <cstdarg>
#include <cstdio>
#include <optional>

namespace membound::authoring {
namespace {

[[gnu::format(printf, 1, 2)]] std::string print(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return text;
}

std::optional<double> rate_of(const Held& held, Role role) {
  for (std::size_t i = 0; i < held.contestants.size(); ++i)
    if (held.contestants[i].role == role) return held.outcomes[i].rate;
  return std::nullopt;
}

std::string share(double rate, const std::optional<double>& of) {
  return of ? print("%.3f", rate / *of) : "–";
}

}  // namespace

std::string markdown(const Held& held) {
  const auto ceiling = rate_of(held, Role::kCeiling);
  const auto library = rate_of(held, Role::kLibrary);
  std::string text = "### " + held.title + "\n\n" + "| kernel | seed's figure | median ms | " +
                     held.unit + " | of the ceiling | of the library |\n" +
                     "| --- | --- | ---: | ---: | ---: | ---: |\n";
  for (std::size_t i = 0; i < held.contestants.size(); ++i) {
    const Contestant& contestant = held.contestants[i];
    const Outcome& outcome = held.outcomes[i];
    text += "| " + contestant.name + (outcome.wrong_runs > 0 ? " (WRONG)" : "") + " | " +
            (contestant.seed_figure.empty() ? "–" : contestant.seed_figure) +
            print(" | %.4f | %.*f | ", outcome.median_ns * 1e-6, outcome.rate < 100 ? 2 : 0,
                  outcome.rate) +
            share(outcome.rate, ceiling) + " | " + share(outcome.rate, library) + " |\n";
  }
  return text;
}

nlohmann::json to_json(const Held& held) {
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t i = 0; i < held.contestants.size(); ++i) {
    const Contestant& contestant = held.contestants[i];
    const Outcome& outcome = held.outcomes[i];
    rows.push_back({{"name", contestant.name},
                    {"role", to_string(contestant.role)},
                    {"seed_figure", contestant.seed_figure},
                    {"median_ns", outcome.median_ns},
                    {"median_low_ns", outcome.low_ns},
                    {"median_high_ns", outcome.high_ns},
                    {"rate", outcome.rate},
                    {"wrong_runs", outcome.wrong_runs},
                    {"times_ns", outcome.times_ns}});
  }
  return {{"title", held.title}, {"unit", held.unit}, {"rows", std::move(rows)}};
}

}  // namespace membound::authoring
