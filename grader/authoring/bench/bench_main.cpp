// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound_bench: times every stage's reference answer beside the libraries a user would call and
/// the device's ceilings, and prints one Markdown table per lab and size.
/// Exit codes: 0 measured, 1 some result was wrong, 2 wrong use, 3 our fault or the machine's.
#include <CLI/CLI.hpp>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "grader/authoring/bench/contest.hpp"

namespace membound::authoring {
namespace {

/// A contest that was held.
struct Held {
  std::string title;
  std::string unit;
  std::vector<Contestant> contestants;
  std::vector<Outcome> outcomes;  ///< in the contestants' order
};

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

/// One table: a row per contestant, with its share of the (first) ceiling's and library's speed.
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

/// {"title", "unit", "rows": […]}
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

}  // namespace
}  // namespace membound::authoring

namespace {

using namespace membound;

constexpr int kExitWrong = 1;
constexpr int kExitMachine = 3;

struct Options {
  std::filesystem::path labs = "labs";
  std::filesystem::path build;
  std::filesystem::path json;
  std::string only;
  bool list = false;
  int rounds = 15;
  std::uint64_t seed = 1;
};

std::string today() {
  char text[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(text, sizeof(text), "%Y-%m-%d", std::gmtime(&now));
  return text;
}

void print_heading(const course::DeviceInfo& device, const Options& options) {
  std::cout << device.name << ", " << device.sm_count << " SMs, driver for CUDA "
            << device.driver_version << ", runtime " << device.runtime_version << ", " << today()
            << ", medians of " << options.rounds << " interleaved runs\n"
            << std::flush;
}

int run(const Options& options) {
  const auto device = harness::Device::open(0);
  if (!device) throw std::runtime_error(base::to_string(device.error()));
  const auto kernels = (*device)->load_kernels(options.build / "grader/harness/harness.fatbin");
  if (!kernels) throw std::runtime_error(base::to_string(kernels.error()));
  harness::Watchdog watchdog([](const std::string& what, double seconds) {
    std::cerr << what << " took longer than " << seconds << " s\n";
    std::_Exit(kExitMachine);
  });
  const authoring::Machine machine{**device, **kernels, watchdog, options.labs, options.build};
  if (!options.list) print_heading((*device)->info(), options);
  nlohmann::json groups = nlohmann::json::array();
  int wrong_runs = 0;
  for (const authoring::GroupMaker& maker : authoring::all_groups(machine)) {
    if (maker.title.find(options.only) == std::string::npos) continue;
    if (options.list) {
      std::cout << maker.title << "\n";
      continue;
    }
    const authoring::Group group = maker.make();
    const authoring::Held held{maker.title, group.unit, group.contestants,
                               authoring::hold(group, **kernels, options.rounds, options.seed)};
    for (const authoring::Outcome& outcome : held.outcomes) wrong_runs += outcome.wrong_runs;
    std::cout << "\n" << authoring::markdown(held) << std::flush;
    groups.push_back(authoring::to_json(held));
  }
  if (!options.json.empty()) {
    const course::DeviceInfo& info = (*device)->info();
    std::ofstream(options.json) << nlohmann::json{{"device", info.name},
                                                  {"driver", info.driver_version},
                                                  {"runtime", info.runtime_version},
                                                  {"date", today()},
                                                  {"rounds", options.rounds},
                                                  {"groups", groups}}
                                       .dump(1)
                                << "\n";
  }
  return wrong_runs == 0 ? 0 : kExitWrong;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.build =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();  // <build>/bin/
  CLI::App app("Times every reference answer beside the libraries a user would call.");
  app.add_option("--labs", options.labs, "The folder labs/ of the source tree")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  app.add_option("--build", options.build, "The build folder, with the compiled reference answers");
  app.add_option("--only", options.only, "Only groups whose title contains this text");
  app.add_flag("--list", options.list, "Only tell the titles");
  app.add_option("--rounds", options.rounds, "Runs of each contestant")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of the data and of the order")
      ->capture_default_str();
  app.add_option("--json", options.json, "Write everything, also single times, to this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return kExitMachine;
  }
}
