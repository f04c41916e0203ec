// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/lab.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "grader/base/files.hpp"
#include "grader/tests/course/schema_check.hpp"

namespace membound::course {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kGood = R"json({
  "id": "03-transpose",
  "title": "Transpose a matrix",
  "summary": "Rows become columns.",
  "handout": "handouts/03-transpose/handout.md",
  "host_code": false,
  "bound": "bandwidth",
  "sizes": ["rows", "cols"],
  "stages": [
    {"number": 1, "name": "row-per-thread", "kernel": "transpose_row", "title": "Rows", "points": 10,
     "timed_sizes": [[4096, 4096], [512, 512]]},
    {"number": 2, "name": "tiled", "kernel": "transpose_tiled", "title": "Tiles", "points": 30,
     "pass_ratio": 0.5, "full_ratio": 0.8, "correctness_points_share": 0.25, "timeout_seconds": 3,
     "timed_sizes": [[4096, 4096]]}
  ],
  "hints": {"edge-guard": ["Which threads are too many?", "Look at the last tile.", "if (row < rows)"]
}
})json";

std::string with(const std::string& old_text, const std::string& new_text) {
  std::string text = kGood;
  const auto at = text.find(old_text);
  EXPECT_NE(at, std::string::npos) << old_text;
  return text.replace(at, old_text.size(), new_text);
}

base::Result<Lab> read(std::string text) {
  return lab_from_text(std::move(text), "lab.json", "labs/03-transpose");
}

std::string error_of(const std::string& old_text, const std::string& new_text) {
  const auto lab = read(with(old_text, new_text));
  return lab ? "no error" : base::to_string(lab.error());
}

TEST(Lab, ANumberThatNoDoubleCanHoldIsRefused) {
  EXPECT_THAT(error_of(R"("points": 10)", R"("points": 1.5e11275)"),
              HasSubstr("number overflow parsing '1.5e11275'"));
}

TEST(Lab, ReadsEveryField) {
  const auto lab = read(kGood);
  ASSERT_TRUE(lab) << base::to_string(lab.error());
  EXPECT_EQ(lab->id, "03-transpose");
  EXPECT_EQ(lab->bound, Bound::kBandwidth);
  EXPECT_EQ(lab->size_names, (std::vector<std::string>{"rows", "cols"}));
  ASSERT_EQ(lab->stages.size(), 2u);
  EXPECT_EQ(lab->stages[0].timed_sizes,
            (std::vector<std::vector<std::int64_t>>{{4096, 4096}, {512, 512}}));
  EXPECT_EQ(lab->stages[1].kernel, "transpose_tiled");
  EXPECT_EQ(lab->stages[1].pass_ratio, 0.5);
  EXPECT_EQ(lab->stages[1].correctness_points_share, 0.25);
  EXPECT_EQ(lab->stages[1].timeout_seconds, 3);
  EXPECT_EQ(lab->hints.at("edge-guard").size(), 3u);
  EXPECT_EQ(lab->max_points(), 40);
}

TEST(Lab, AnInterfaceThatIsNotOursIsRefused) {
  EXPECT_EQ(error_of("\"id\"", "\"interface\": 1, \"id\""), "no error");
  EXPECT_THAT(error_of("\"id\"", "\"interface\": 2, \"new_field\": 1, \"id\""),
              AllOf(HasSubstr("lab.json:2"), HasSubstr("1, the interface of this Membound")));
}

TEST(Lab, LaddersGoUpInOrderUnlessTheyAreGiven) {
  const auto lab = read(kGood);
  ASSERT_TRUE(lab);
  EXPECT_EQ(lab->ladder, (std::vector<int>{1, 2}));
  const auto given = read(with("\"hints\"", "\"ladder\": [2, 1], \"hints\""));
  ASSERT_TRUE(given) << base::to_string(given.error());
  EXPECT_EQ(given->ladder, (std::vector<int>{2, 1}));
}

TEST(Lab, MayAllowAFindingAtRightResults) {
  EXPECT_EQ(read(kGood)->unsafe.points_share, 0);
  const auto lab = read(with("\"hints\"", R"("unsafe": {"points_share": 0.5, "allowed": [
      {"finding": "data race", "stage": 2, "why": "counts hits, roughly"}]}, "hints")"));
  ASSERT_TRUE(lab) << base::to_string(lab.error());
  EXPECT_EQ(lab->unsafe.points_share, 0.5);
  ASSERT_EQ(lab->unsafe.allowed.size(), 1u);
  EXPECT_EQ(lab->unsafe.allowed[0].kind, "data race");
  EXPECT_EQ(lab->unsafe.allowed[0].stage, 2);
}

TEST(Lab, AllowsNoFindingWithoutAReason) {
  EXPECT_THAT(
      error_of("\"hints\"", R"("unsafe": {"allowed": [{"finding": "data race"}]}, "hints")"),
      HasSubstr("why"));
}

TEST(Lab, StagesThatDoDifferentWorkHaveNoOrder) {
  EXPECT_TRUE(read(kGood)->has_order);
  const auto given = read(with("\"hints\"", "\"ladder\": [], \"hints\""));
  ASSERT_TRUE(given) << base::to_string(given.error());
  EXPECT_FALSE(given->has_order);
  EXPECT_EQ(given->ladder, (std::vector<int>{1, 2}));
}

TEST(Lab, LaddersNameEveryStageOnce) {
  EXPECT_THAT(error_of("\"hints\"", "\"ladder\": [1, 1], \"hints\""),
              HasSubstr("the number of every stage about a kernel, once"));
}

TEST(Lab, FitsTheSchemaExactlyWhenItIsRead) {
  const auto good = nlohmann::json::parse(kGood);
  EXPECT_EQ(schema_problems("docs/lab.schema.json", good), "");
  for (const char* pointer :
       {"/id", "/stages", "/stages/0/points", "/hints", "/stages/1/timed_sizes"}) {
    nlohmann::json json = good;
    json[nlohmann::json::json_pointer(pointer)] = false;
    EXPECT_NE(schema_problems("docs/lab.schema.json", json), "") << pointer;
    EXPECT_FALSE(read(json.dump())) << pointer;
  }
}

TEST(Lab, AStageMayBoundWhatIsCounted) {
  const auto lab = read(with(R"("pass_ratio": 0.5)", R"("counters": [
      {"counter": "local_load_requests", "at_most": 0, "hint": "edge-guard"},
      {"counter": "threads", "per": "multiprocessors", "at_most": 512, "hint": "edge-guard"}],
      "pass_ratio": 0.5)"));
  ASSERT_TRUE(lab) << base::to_string(lab.error());
  EXPECT_TRUE(lab->stages[0].counters.empty());
  ASSERT_EQ(lab->stages[1].counters.size(), 2U);
  EXPECT_EQ(lab->stages[1].counters[0].counter, "local_load_requests");
  EXPECT_EQ(lab->stages[1].counters[0].at_most, 0);
  EXPECT_EQ(lab->stages[1].counters[0].per, "");
  EXPECT_EQ(lab->stages[1].counters[1].per, kMultiprocessors);
  EXPECT_EQ(lab->stages[1].counters[1].hint_tag, "edge-guard");
}

TEST(Lab, ABoundOnACounterSaysWhatIsMissing) {
  const auto error_with_bar = [](const std::string& bar) {
    return error_of(R"("pass_ratio": 0.5)", R"("counters": [)" + bar + R"(], "pass_ratio": 0.5)");
  };
  EXPECT_THAT(error_with_bar(R"({"counter": "threads", "hint": "edge-guard"})"),
              HasSubstr("at_most"));
  EXPECT_THAT(error_with_bar(R"({"counter": "two words", "at_most": 1, "hint": "edge-guard"})"),
              HasSubstr("the name of a counter"));
  EXPECT_THAT(error_with_bar(R"({"counter": "threads", "at_most": -1, "hint": "edge-guard"})"),
              HasSubstr("at_most"));
}

/// Stages 1 and 2 demand calls instead of a speed.
std::string host_code_text() {
  auto json = nlohmann::json::parse(kGood);
  json["host_code"] = {{"seconds", 2.5}, {"memory_mb", 128}};
  json.erase("bound");
  json.erase("sizes");
  for (auto& stage : json["stages"]) {
    stage.erase("timed_sizes");
    stage["calls"] = {{{"rule", "launches"}, {"number", 5}}, {{"rule", "frees-memory"}}};
  }
  return json.dump();
}

TEST(Lab, ReadsWhatAHostCodeLabDemands) {
  EXPECT_EQ(schema_problems("docs/lab.schema.json", nlohmann::json::parse(host_code_text())), "");
  const auto lab = read(host_code_text());
  ASSERT_TRUE(lab) << base::to_string(lab.error());
  ASSERT_EQ(lab->kinds(), std::vector<const StageKind*>{&kProgramStage});
  EXPECT_EQ(lab->stages[1].program.seconds, 2.5);
  EXPECT_EQ(lab->stages[1].program.output_kb, 64);
  EXPECT_TRUE(lab->ladder.empty());
  ASSERT_EQ(lab->stages[1].calls.size(), 2U);
  EXPECT_EQ(lab->stages[1].calls[0].rule->test, "LaunchesItsKernel");
  EXPECT_EQ(lab->stages[1].calls[0].number, 5);
}

TEST(Lab, OneStageMayBeAProgramWhileTheOthersAreKernels) {
  auto json = nlohmann::json::parse(kGood);
  json.erase("host_code");
  auto& second = json["stages"][1];
  second.erase("timed_sizes");
  EXPECT_NE(schema_problems("docs/lab.schema.json", json), "");
  second["host_code"] = {{"seconds", 3}};
  second["calls"] = {{{"rule", "frees-memory"}}};
  json.erase("ladder");
  EXPECT_EQ(schema_problems("docs/lab.schema.json", json), "");
  const auto lab = read(json.dump());
  ASSERT_TRUE(lab) << base::to_string(lab.error());
  EXPECT_EQ(lab->kinds(), (std::vector<const StageKind*>{&kKernelStage, &kProgramStage}));
  EXPECT_EQ(lab->stages[1].program.seconds, 3);
  EXPECT_TRUE(lab->has_reference());
  EXPECT_EQ(lab->ladder, std::vector<int>{1});
  EXPECT_EQ(lab->with_stages_of(kProgramStage).stages.size(), 1U);
}

TEST(Lab, RefusesDemandsThatNobodyCanDecide) {
  const auto error_with = [](const nlohmann::json& demand) {
    auto json = nlohmann::json::parse(host_code_text());
    json["stages"][0]["calls"][0] = demand;
    const auto lab = read(json.dump());
    return lab ? "no error" : base::to_string(lab.error());
  };
  EXPECT_THAT(error_with({{"rule", "lunches"}}),
              HasSubstr("one of device-results, printed-figures, compares-results, launches"));
  EXPECT_THAT(error_with({{"rule", "streams"}}), HasSubstr("has no \"number\""));
  EXPECT_THAT(error_with({{"rule", "frees-memory"}, {"number", 1}}),
              HasSubstr("no number: this rule takes none"));
}

TEST(Lab, OfAProgramsRunAQuestionAsksWhatIsCountedOfOne) {
  auto json = nlohmann::json::parse(host_code_text());
  auto& question = json["stages"][0]["predict"];
  question = {{"ask", "How much?"}, {"unit", "percent"}, {"counter", "copy_time_percent"}};
  EXPECT_EQ(schema_problems("docs/lab.schema.json", json), "");
  const auto lab = read(json.dump());
  ASSERT_TRUE(lab) << base::to_string(lab.error());
  EXPECT_EQ(lab->stages[0].question->counter, "copy_time_percent");
  question["counter"] = "global_load_sectors";
  const auto refused = read(json.dump());
  ASSERT_FALSE(refused);
  EXPECT_THAT(base::to_string(refused.error()), HasSubstr("one of kernel_time_saved_percent, "));
}

TEST(Lab, NoBarIsOnACounterOfAHostCodeLab) {
  auto json = nlohmann::json::parse(host_code_text());
  json["stages"][0]["counters"] = {
      {{"counter", "threads"}, {"at_most", 1}, {"hint", "edge-guard"}}};
  const auto lab = read(json.dump());
  ASSERT_FALSE(lab);
  EXPECT_THAT(base::to_string(lab.error()), HasSubstr("no bars on counters"));
}

TEST(Lab, TakesTheCoursesBarsWhereNoneAreGiven) {
  const auto lab = read(kGood);
  ASSERT_TRUE(lab);
  EXPECT_EQ(lab->stages[0].pass_ratio, 0.75);
  EXPECT_EQ(lab->stages[0].full_ratio, 0.90);
  EXPECT_EQ(lab->stages[0].correctness_points_share, 0.5);
}

TEST(Lab, NamesLinePointerFoundAndExpected) {
  EXPECT_EQ(error_of("\"points\": 10", "\"points\": \"ten\""),
            "lab.json:10: /stages/0/points is \"ten\"\n  expected: a number from 0 to 10000");
}

TEST(Lab, SuggestsTheKeyThatWasMeant) {
  EXPECT_THAT(error_of("\"title\": \"Transpose", "\"tilte\": \"Transpose"),
              HasSubstr("lab.json:3: /tilte is not a known key"));
  EXPECT_THAT(error_of("\"title\": \"Transpose", "\"tilte\": \"Transpose"),
              HasSubstr("did you mean \"title\"?"));
}

TEST(Lab, NamesAMissingField) {
  EXPECT_THAT(error_of("\"summary\": \"Rows become columns.\",", ""),
              HasSubstr("the file has no \"summary\""));
}

TEST(Lab, RefusesValuesThatContradictEachOther) {
  EXPECT_THAT(error_of("\"03-transpose\"", "\"04-transpose\""), HasSubstr("name of its folder"));
  EXPECT_THAT(error_of("\"number\": 2", "\"number\": 3"), HasSubstr("without gaps"));
  EXPECT_THAT(error_of("\"full_ratio\": 0.8", "\"full_ratio\": 0.4"), HasSubstr("/stages/1 is"));
  EXPECT_THAT(error_of("\"name\": \"tiled\"", "\"name\": \"row-per-thread\""),
              HasSubstr("no other stage"));
  EXPECT_THAT(error_of("[[4096, 4096], [512, 512]]", "[[1, 2, 3]]"),
              HasSubstr("/stages/0/timed_sizes/0"));
}

TEST(Lab, ReadsWhatAWriteUpIsMarkedFor) {
  const std::string files = "\"files\": [\"kernel.cu\", \"writeup.md\"], ",
                    item = "{\"item\": ", rest = ", \"points\": 4, \"asks\": \"a row\"}";
  const auto with = [](const std::string& members) {
    std::string text = kGood;
    return text.replace(text.find("\"stages\""), 0, members);
  };
  const auto lab = read(with(files + "\"rubric\": [" + item + "\"table\"" + rest + "], "));
  ASSERT_TRUE(lab) << base::to_string(lab.error());
  EXPECT_EQ(lab->rubric, (std::vector<RubricItem>{{"table", 4, "a row"}}));
  const auto error = [&](const std::string& members) {
    const auto wrong = read(with(members));
    return wrong ? "" : base::to_string(wrong.error());
  };
  EXPECT_THAT(error("\"rubric\": [" + item + "\"table\"" + rest + "], "), HasSubstr("writeup.md"));
  EXPECT_THAT(error(files + "\"rubric\": [" + item + "\"a b\"" + rest + "], "),
              HasSubstr("small letters"));
  EXPECT_THAT(
      error(files + "\"rubric\": [" + item + "\"a\"" + rest + ", " + item + "\"a\"" + rest + "], "),
      HasSubstr("no other item"));
}

TEST(Lab, RefusesNamesTheCompilerOrTheShellWouldNotTake) {
  EXPECT_THAT(error_of("transpose_tiled", "2transpose"), HasSubstr("C++ identifier"));
  EXPECT_THAT(error_of("\"tiled\"", "\"My tile\""), HasSubstr("small letters"));
}

TEST(Lab, SaysOnWhichLineTheSyntaxBreaks) {
  EXPECT_THAT(error_of("\"host_code\": false,", "\"host_code\": false"),
              HasSubstr("lab.json:7: not valid JSON"));
  EXPECT_THAT(base::to_string(read("").error()), HasSubstr("lab.json:1: not valid JSON"));
}

TEST(Lab, NeverDiesOfACutOffFile) {
  const std::string text = kGood;
  for (std::size_t length = 0; length + 1 < text.size(); ++length)
    EXPECT_FALSE(read(text.substr(0, length))) << length;
}

TEST(Lab, RefusesAValueOfTheWrongTypeEverywhere) {
  for (const char* wrong : {"null", "-1", "1e308", "\"\"", "[null]"}) {
    for (const char* pointer :
         {"/id", "/sizes", "/stages", "/hints", "/bound", "/host_code", "/title", "/stages/0",
          "/stages/0/timed_sizes", "/stages/1/timed_sizes/0/1", "/hints/edge-guard"}) {
      auto json = nlohmann::json::parse(kGood);
      json[nlohmann::json::json_pointer(pointer)] = nlohmann::json::parse(wrong);
      EXPECT_FALSE(read(json.dump())) << pointer << " " << wrong;
    }
  }
}

/// Calls `look` for every value below `value`, with its pointer.
void for_each_value(const nlohmann::json& value, const nlohmann::json::json_pointer& at,
                    const std::function<void(const nlohmann::json::json_pointer&)>& look) {
  const auto step = [&](const nlohmann::json::json_pointer& inner, const nlohmann::json& child) {
    look(inner);
    for_each_value(child, inner, look);
  };
  if (value.is_object())
    for (const auto& [key, child] : value.items()) step(at / key, child);
  if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i) step(at / i, value[i]);
}

/// The line, from 1, of the only place in `text` that has `words`.
long line_of(const std::string& text, const std::string& words) {
  const auto at = text.find(words);
  EXPECT_NE(at, std::string::npos) << words;
  return std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
}

/// A field of one of the course's own labs.
struct Field {
  std::string lab;
  nlohmann::json of_lab;  ///< all of its lab.json
  nlohmann::json::json_pointer at;

  [[nodiscard]] std::string error_of(const nlohmann::json& changed) const {
    const auto read = lab_from_text(changed.dump(1), "lab.json", "labs/" + lab);
    return read ? "no error" : base::to_string(read.error());
  }
};

/// One of each kind: together the labs, and kGood where they leave all to the default, have every
/// field that there is, most of them many times.
std::vector<Field> one_of_each() {
  namespace fs = std::filesystem;
  static const std::regex kNumber("/[0-9]+"), kTag("^/hints/[^/]+");
  std::vector<Field> fields;
  std::set<std::string> known;
  const auto take_from = [&](const std::string& lab, const std::string& text) {
    const auto json = nlohmann::json::parse(text);
    for_each_value(json, nlohmann::json::json_pointer(), [&](const auto& field) {
      const std::string kind = std::regex_replace(field.to_string(), kNumber, "/*");
      if (field.back() != "$schema" &&
          known.insert(std::regex_replace(kind, kTag, "/hints/*")).second)
        fields.push_back({lab, json, field});
    });
  };
  take_from("03-transpose", kGood);
  for (const auto& entry : fs::directory_iterator(MEMBOUND_SOURCE_DIR "/labs"))
    if (const auto text = base::read_file(entry.path() / "lab.json"))
      take_from(entry.path().filename().string(), *text);
  EXPECT_GT(fields.size(), 50u);
  return fields;
}

TEST(FieldsOfLabs, OfAnotherTypeAreToldWithTheirLine) {
  for (const Field& field : one_of_each()) {
    nlohmann::json changed = field.of_lab;
    const std::string wrong = changed[field.at].is_string() ? "86420.5" : "\"~wrong~\"";
    changed[field.at] = nlohmann::json::parse(wrong);
    const std::string line = std::to_string(line_of(changed.dump(1), wrong));
    EXPECT_THAT(field.error_of(changed),
                HasSubstr("lab.json:" + line + ": " + field.at.to_string() + " is "))
        << field.lab;
  }
}

TEST(FieldsOfLabs, ThatAreMissingAreToldWhereTheSchemaRequiresThem) {
  for (const Field& field : one_of_each()) {
    nlohmann::json changed = field.of_lab;
    nlohmann::json& holder = changed[field.at.parent_pointer()];
    if (!holder.is_object()) continue;
    holder.erase(field.at.back());
    const std::string error = field.error_of(changed);
    if (schema_problems("docs/lab.schema.json", changed).empty()) continue;
    EXPECT_THAT(error, testing::MatchesRegex("lab.json:[0-9]+: .*")) << field.lab << field.at;
  }
}

TEST(FieldsOfLabs, ThatNobodyKnowsAreToldWithTheirLine) {
  std::vector<Field> objects = one_of_each();
  std::erase_if(objects, [](const Field& field) { return !field.of_lab[field.at].is_object(); });
  objects.push_back({objects[0].lab, objects[0].of_lab, nlohmann::json::json_pointer()});
  for (const Field& object : objects) {
    nlohmann::json changed = object.of_lab;
    changed[object.at]["~new~"] = 1;
    const std::string line = std::to_string(line_of(changed.dump(1), "~new~"));
    EXPECT_THAT(object.error_of(changed), HasSubstr("lab.json:" + line + ": "))
        << object.lab << object.at;
  }
}

}  // namespace
}  // namespace membound::course
