// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/lab.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <set>

#include "grader/base/strings.hpp"

namespace membound::course {
namespace {

constexpr CallRule kRules[] = {
    {"device-results", "ResultsComeFromTheDevice", "",
     "what the program hands in is what kernels made of the inputs that it copied to the device, "
     "copied back from where they wrote it; asked of the last test's run and of one drawn from the "
     "others",
     "Copy the inputs to the device, launch the kernels on them, and hand in what you copy back "
     "from where they wrote; what the CPU computes earns nothing."},
    {"printed-figures", "PrintsWhatWasMeasured", "",
     "of the times that the program prints (\"0.012 ms\") one is a time between its events, and "
     "of the rates (\"800 GB/s\") one is made of it",
     "Print the time that cudaEventElapsedTime gives, and the bytes of the kernel's arrays divided "
     "by it."},
    {"compares-results", "NoticesAWrongResult", "",
     "the program ends with another exit code than 0 where a result is wrong: the last test's run "
     "is "
     "done once more, and other words come with its copies to the host",
     "Compute the same on the CPU, compare every element with what came back, and return 1 from "
     "main where one differs; a NaN compares as neither larger nor smaller."},
    {"launches", "LaunchesItsKernel", "at least so many",
     "the stage's kernel is launched, and the launches succeed",
     "Launch it with <<<blocks, threads>>>; what the CPU computes earns nothing."},
    {"two-dimensions", "LaunchesInTwoDimensions", "",
     "a launch of the stage's kernel has several blocks and several threads along y",
     "dim3 block(x, y); dim3 grid(x, y); then <<<grid, block>>>, and blockIdx.y and threadIdx.y in "
     "the kernel."},
    {"dynamic-shared-memory", "UsesDynamicSharedMemory", "at least so many bytes",
     "a launch of the stage's kernel gives each block so much shared memory",
     "Name the bytes as the third number in <<<grid, block, bytes>>>, and the memory extern "
     "__shared__ in the kernel."},
    {"calls-succeed", "EveryCallSucceeds", "", "no call gives an error",
     "Look at what each call returns, and print cudaGetErrorString of it."},
    {"copies-back", "CopiesTheResultBack", "at least so many bytes",
     "so many bytes are copied from the device to the host",
     "Copy the result with cudaMemcpy…(…, cudaMemcpyDeviceToHost)."},
    {"checks-launches", "ChecksEveryLaunch", "",
     "each launch is followed by a look at the last error before the next launch",
     "Call cudaGetLastError() right after <<<…>>>: a launch returns nothing itself."},
    {"frees-memory", "FreesItsMemory", "", "no device memory is allocated at the end",
     "Give each cudaMalloc its cudaFree."},
    {"times-with-events", "TimesWithEvents", "",
     "an event before a launch, one after it, and the time between them asked for",
     "cudaEventRecord before and after the launch, cudaEventSynchronize, cudaEventElapsedTime."},
    {"streams", "UsesItsStreams", "at least so many",
     "the stage's kernel is launched in so many different streams",
     "Make streams with cudaStreamCreate and name one as the fourth number in <<<…>>>."},
    {"kernels-overlap", "KernelsRunSideBySide", "at least this share, 0 to 1",
     "of the time that the kernels take one by one, so much is saved by running several at once",
     "Put each in a stream of its own, and no waiting between the launches."},
    {"copies-overlap", "CopiesBesideKernels", "at least this share, 0 to 1",
     "of the time that copies between host and device take, a kernel runs during so much",
     "Cut the work into parts, one stream each, cudaMemcpyAsync, memory from cudaMallocHost."},
    {"stream-waits", "StreamsWaitForEvents", "at least so many",
     "a stream waits for an event that was recorded in another",
     "cudaEventRecord in the one stream, cudaStreamWaitEvent in the other."},
    {"orders-work", "WaitsForItsData", "",
     "where two parts of the work use the same memory and one writes it, a stream, an event or the "
     "host orders them; and the host waits for each copy to it, before memory is freed",
     "cudaEventRecord after the first, cudaStreamWaitEvent before the second; or one stream. The "
     "host waits with cudaDeviceSynchronize before it reads."},
    {"host-waits", "HostWaitsSeldom", "at most so often",
     "the host waits for the device so often at most, copies that return when they are done "
     "included",
     "Let streams wait for events; the host waits once, at the end."},
    {"graph-launches", "LaunchesAGraph", "at least so often",
     "one graph with the stage's kernel in it is made ready once and launched so often",
     "cudaStreamBeginCapture, the work of one round, cudaStreamEndCapture and "
     "cudaGraphInstantiate "
     "once; then cudaGraphLaunch in the loop."}};

}  // namespace

std::span<const CallRule> call_rules() { return kRules; }

const CallRule* find_call_rule(std::string_view name) {
  const auto found = std::find_if(std::begin(kRules), std::end(kRules),
                                  [&](const CallRule& rule) { return rule.name == name; });
  return found == std::end(kRules) ? nullptr : found;
}

const StageKind kKernelStage = {.test_source = "test.cpp",
                                .test_program = "test",
                                .has_reference = true,
                                .has_host_code = false,
                                .needs_timeline = false};
const StageKind kProgramStage = {.test_source = "program_test.cpp",
                                 .test_program = "program_test",
                                 .has_reference = false,
                                 .has_host_code = true,
                                 .needs_timeline = true};

namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
constexpr std::int64_t kMostInterface = 1000000;
constexpr double kMostPoints = 10000;
constexpr double kMostSeconds = 3600;
constexpr double kMostDemanded = 1e12;
constexpr double kMostCounted = 1e18;

bool is_kernel_name(const std::string& text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0) return false;
  for (const char letter : text)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '_') return false;
  return true;
}

bool is_slug(const std::string& text) {
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (std::islower(code) == 0 && std::isdigit(code) == 0 && letter != '-') return false;
  }
  return !text.empty();
}

/// A name of small letters, digits and '-'.
std::string read_slug(const JsonValue& value) {
  const std::string slug = value.text();
  if (!slug.empty() && !is_slug(slug)) value.report("small letters, digits and '-' only");
  return slug;
}

/// A member that may be absent.
double read_number(const JsonValue& object, const char* key, NumberRange range, double otherwise) {
  const auto value = object.optional_member(key);
  return value ? value->number(range) : otherwise;
}

std::vector<std::int64_t> read_size(const JsonValue& size, std::size_t most_extents) {
  std::vector<std::int64_t> extents;
  for (const JsonValue& extent : size.elements(1))
    extents.push_back(extent.integer(1, kMostElements));
  if (extents.size() > most_extents) size.report("at most one number for each name in \"sizes\"");
  return extents;
}

std::vector<std::vector<std::int64_t>> read_sizes(const JsonValue& list, std::size_t most_extents) {
  std::vector<std::vector<std::int64_t>> sizes;
  for (const JsonValue& entry : list.elements(1)) sizes.push_back(read_size(entry, most_extents));
  return sizes;
}

CallDemand read_demand(const JsonValue& object) {
  object.only_keys({"rule", "number"});
  const JsonValue name = object.member("rule");
  CallDemand demand{find_call_rule(name.text())};
  if (demand.rule == nullptr) {
    std::string all;
    for (const CallRule& rule : call_rules())
      all += (all.empty() ? "one of " : ", ") + std::string(rule.name);
    name.report(all);
  } else if (!demand.rule->number.empty()) {
    demand.number = object.member("number").number({0, kMostDemanded});
  } else if (object.optional_member("number")) {
    object.member("number").report("no number: this rule takes none");
  }
  return demand;
}

std::string counter_name(const JsonValue& value) {
  if (!is_kernel_name(value.text())) value.report("the name of a counter: \"threads\"");
  return value.text();
}

/// {"counter": "threads", "per": "multiprocessors", "at_most": 512, "hint": "…"}
CounterBar read_counter_bar(const JsonValue& object) {
  object.only_keys({"counter", "per", "at_most", "hint"});
  CounterBar bar;
  bar.counter = counter_name(object.member("counter"));
  bar.at_most = object.member("at_most").number({0, kMostCounted});
  if (const auto per = object.optional_member("per")) bar.per = counter_name(*per);
  bar.hint_tag = object.member("hint").text();
  return bar;
}

/// {"ask": "How many …?", "unit": "sectors", "counter": "global_store_sectors", "per": "…"}
Question read_question(const JsonValue& object) {
  object.only_keys({"ask", "unit", "counter", "per"});
  Question question{object.member("ask").text(), object.member("unit").text(),
                    counter_name(object.member("counter")), ""};
  if (!question.ask.empty() && question.ask.back() != '?')
    object.member("ask").report("a question, with its question mark");
  if (const auto per = object.optional_member("per")) question.per = counter_name(*per);
  return question;
}

/// The same of a program's run: {"ask": "…?", "unit": "percent", "counter": "copy_time_percent"}
Question read_program_question(const JsonValue& object) {
  object.only_keys({"ask", "unit", "counter"});
  const Question question = read_question(object);
  std::string names;
  for (const ProgramCount& count : kProgramCounts) {
    if (count.name == question.counter) return question;
    base::add_word(names, count.name);
  }
  object.member("counter").report("one of " + names);
  return question;
}

ProgramLimits read_limits(const JsonValue& object) {
  object.only_keys({"seconds", "memory_mb", "output_kb"});
  ProgramLimits limits;
  limits.seconds = read_number(object, "seconds", {0.1, kMostSeconds}, limits.seconds);
  limits.memory_mb =
      static_cast<int>(read_number(object, "memory_mb", {64, 65536}, limits.memory_mb));
  limits.output_kb =
      static_cast<int>(read_number(object, "output_kb", {1, 16384}, limits.output_kb));
  return limits;
}

/// The members that only a stage about a kernel has: what it is timed at, and bars on what is
/// counted.
void read_kernel_members(const JsonValue& object, const Lab& lab, Stage& stage) {
  stage.timed_sizes = read_sizes(object.member("timed_sizes"), lab.size_names.size());
  if (const auto bars = object.optional_member("counters"))
    for (const JsonValue& bar : bars->elements(1)) stage.counters.push_back(read_counter_bar(bar));
  if (const auto question = object.optional_member("predict"))
    stage.question = read_question(*question);
}

/// The members that only a stage about a program has.
void read_program_members(const JsonValue& object, Stage& stage) {
  for (const JsonValue& demand : object.member("calls").elements(1))
    stage.calls.push_back(read_demand(demand));
  if (const auto bars = object.optional_member("counters"))
    bars->report("no bars on counters: no run of a program is timed");
  if (const auto question = object.optional_member("predict"))
    stage.question = read_program_question(*question);
}

/// "host_code" of a stage, or of a lab for all of its stages: false, or an object with the
/// program's limits.
std::optional<ProgramLimits> read_host_code(const JsonValue& object) {
  const auto member = object.optional_member("host_code");
  if (!member) return std::nullopt;
  if (member->is_object()) return read_limits(*member);
  if (member->boolean()) member->report("false, or an object: {\"seconds\": 10}");
  return std::nullopt;
}

constexpr std::int64_t kMostLines = 100000;

bool is_digest(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// {"kind": ["3f…"], "thread": []}
std::vector<WantedAnswer> read_wanted_answers(const JsonValue& object) {
  std::vector<WantedAnswer> wanted;
  for (const std::string& field : object.keys()) {
    WantedAnswer answer{field, {}};
    for (const JsonValue& digest : object.member(field).elements(0)) {
      answer.digests.push_back(digest.text());
      if (!is_digest(answer.digests.back()))
        digest.report("a digest, which membound dev check --fix writes");
    }
    wanted.push_back(std::move(answer));
  }
  return wanted;
}

std::vector<std::string> read_texts(const JsonValue& object, const std::string& key) {
  std::vector<std::string> texts;
  if (const auto list = object.optional_member(key))
    for (const JsonValue& text : list->elements(1)) texts.push_back(text.text());
  return texts;
}

/// The names of files that a lab may want beside kernel.cu.
void read_files(const JsonValue& root, Lab& lab) {
  if (!root.optional_member("files")) return;
  lab.files = read_texts(root, "files");
  const JsonValue list = root.member("files");
  if (lab.files.empty()) return;  // told already
  if (lab.files.front() != kKernelFile) list.report("kernel.cu first");
  const std::set<std::string> names(lab.files.begin(), lab.files.end());
  if (names.size() != lab.files.size()) list.report("each name once");
  for (const std::string& name : lab.files)
    if (name != kKernelFile &&
        (!name.ends_with(".md") || !is_slug(name.substr(0, name.size() - 3))))
      list.report("names such as answers.md beside kernel.cu: small letters, digits, '-', .md");
}

/// What answers.md may hold. Stages are read already.
void read_answer_rules(const JsonValue& root, Lab& lab) {
  const auto object = root.optional_member("answers");
  const bool wants = std::any_of(lab.stages.begin(), lab.stages.end(),
                                 [](const Stage& stage) { return !stage.answers.empty(); });
  if (!object) {
    if (wants) root.report("\"answers\", the rules of what its stages want in answers.md");
    return;
  }
  object->only_keys({"points_share", "words", "lines", "numbers"});
  lab.answers.points_share = object->member("points_share").number({0, 1});
  if (const auto words = object->optional_member("words"))
    for (const std::string& field : words->keys())
      lab.answers.words[field] = read_texts(*words, field);
  lab.answers.lines = read_texts(*object, "lines");
  lab.answers.numbers = read_texts(*object, "numbers");
  if (std::find(lab.files.begin(), lab.files.end(), kAnswersFile) == lab.files.end())
    object->report("answers.md among the lab's \"files\"");
}

/// [{"item": "cause", "points": 3, "asks": "…"}]
std::vector<RubricItem> read_rubric(const JsonValue& root, const Lab& lab) {
  std::vector<RubricItem> rubric;
  const auto list = root.optional_member("rubric");
  if (!list) return rubric;
  std::set<std::string> names;
  for (const JsonValue& entry : list->elements(1)) {
    entry.only_keys({"item", "points", "asks"});
    rubric.push_back({read_slug(entry.member("item")),
                      entry.member("points").number({0, kMostPoints}),
                      entry.member("asks").text()});
    if (!names.insert(rubric.back().item).second)
      entry.member("item").report("a name that no other item has");
  }
  if (std::find(lab.files.begin(), lab.files.end(), kWriteUpFile) == lab.files.end())
    list->report("writeup.md among the lab's \"files\"");
  return rubric;
}

/// {"sha256": "…", "lines": 200}
std::optional<HandedOut> read_mended(const JsonValue& root) {
  const auto object = root.optional_member("mended");
  if (!object) return std::nullopt;
  object->only_keys({"sha256", "lines"});
  HandedOut out{object->member("sha256").text(),
                static_cast<int>(object->member("lines").integer(0, kMostLines))};
  if (!is_digest(out.sha256))
    object->member("sha256").report("a digest, which membound dev check --fix writes");
  return out;
}

Bound read_bound(const JsonValue& value) {
  const std::string word = value.text();
  if (word != "bandwidth" && word != "operations") value.report("\"bandwidth\" or \"operations\"");
  return word == "operations" ? Bound::kOperations : Bound::kBandwidth;
}

/// `of_all`: the limits of a lab whose stages are all about programs.
Stage read_stage(const JsonValue& object, int expected_number, const Lab& lab,
                 const std::optional<ProgramLimits>& of_all) {
  object.only_keys({"number", "name", "kernel", "title", "points", "pass_ratio", "full_ratio",
                    "correctness_points_share", "timed_sizes", "timeout_seconds", "host_code",
                    "calls", "counters", "predict", "answers", "bound"});
  Stage stage;
  const JsonValue number = object.member("number");
  stage.number = static_cast<int>(number.integer(1, 1000));
  if (stage.number != expected_number)
    number.report(std::to_string(expected_number) + ": stages count from 1 without gaps");
  stage.name = read_slug(object.member("name"));
  stage.kernel = object.member("kernel").text();
  if (!is_kernel_name(stage.kernel)) object.member("kernel").report("a C++ identifier");
  stage.title = object.member("title").text();
  const auto bound = object.optional_member("bound");
  stage.bound = bound ? read_bound(*bound) : lab.bound;
  stage.points = object.member("points").number({0, kMostPoints});
  stage.pass_ratio = read_number(object, "pass_ratio", {0.01, 2}, stage.pass_ratio);
  stage.full_ratio = read_number(object, "full_ratio", {0.01, 2}, stage.full_ratio);
  if (stage.full_ratio < stage.pass_ratio)
    object.report("a full_ratio not below the pass_ratio", "swap the two numbers");
  stage.correctness_points_share =
      read_number(object, "correctness_points_share", {0, 1}, stage.correctness_points_share);
  stage.timeout_seconds =
      read_number(object, "timeout_seconds", {0.1, kMostSeconds}, stage.timeout_seconds);
  if (const auto limits = of_all ? of_all : read_host_code(object)) {
    stage.kind = &kProgramStage;
    stage.program = *limits;
    read_program_members(object, stage);
  } else {
    read_kernel_members(object, lab, stage);
  }
  if (const auto answers = object.optional_member("answers"))
    stage.answers = read_wanted_answers(*answers);
  return stage;
}

UnsafeRules read_unsafe(const JsonValue& object, const std::vector<Stage>& stages) {
  object.only_keys({"points_share", "allowed"});
  UnsafeRules rules;
  rules.points_share = read_number(object, "points_share", {0, 1}, rules.points_share);
  const auto list = object.optional_member("allowed");
  if (!list) return rules;
  for (const JsonValue& entry : list->elements(1)) {
    entry.only_keys({"finding", "stage", "why"});
    AllowedFinding allowed{entry.member("finding").text(), 0, entry.member("why").text()};
    if (const auto stage = entry.optional_member("stage"))
      allowed.stage = static_cast<int>(stage->integer(1, static_cast<std::int64_t>(stages.size())));
    rules.allowed.push_back(std::move(allowed));
  }
  return rules;
}

void read_stages(const JsonValue& object, const std::optional<ProgramLimits>& of_all, Lab& lab) {
  std::set<std::string> names;
  int number = 1;
  for (const JsonValue& entry : object.elements(1)) {
    Stage stage = read_stage(entry, number++, lab, of_all);
    if (!names.insert(stage.name).second)
      entry.member("name").report("a name that no other stage of the lab has");
    lab.stages.push_back(std::move(stage));
  }
}

/// "ladder" names every stage with a reference answer once, or none; without it each is faster than
/// the one before.
void read_ladder(const JsonValue& root, Lab& lab) {
  for (const Stage& stage : lab.stages)
    if (stage.kind->has_reference) lab.ladder.push_back(stage.number);
  const auto keys = root.keys();
  if (std::find(keys.begin(), keys.end(), "ladder") == keys.end()) return;
  std::vector<int> order;
  for (const JsonValue& number : root.member("ladder").elements(0))
    order.push_back(static_cast<int>(number.integer(1, 1000)));
  lab.has_order = !order.empty();
  if (!lab.has_order) return;
  if (!std::is_permutation(order.begin(), order.end(), lab.ladder.begin(), lab.ladder.end()))
    root.member("ladder").report("the number of every stage about a kernel, once; or nothing");
  lab.ladder = std::move(order);
}

void read_hints(const JsonValue& object, Lab& lab) {
  for (const std::string& tag : object.keys()) {
    const JsonValue list = object.member(tag);
    for (const JsonValue& tier : list.elements(1)) lab.hints[tag].push_back(tier.text());
  }
}

}  // namespace

MEMBOUND_JSON(RubricItem, item, points, asks)

std::string_view to_string(Bound bound) {
  return bound == Bound::kBandwidth ? "bandwidth" : "operations";
}

const Stage* Lab::stage(int number) const {
  for (const Stage& candidate : stages)
    if (candidate.number == number) return &candidate;
  return nullptr;
}

double Lab::max_points() const {
  double sum = 0;
  for (const Stage& entry : stages) sum += entry.points;
  return sum;
}

std::vector<const StageKind*> Lab::kinds() const {
  std::vector<const StageKind*> kinds;
  for (const Stage& entry : stages)
    if (std::find(kinds.begin(), kinds.end(), entry.kind) == kinds.end())
      kinds.push_back(entry.kind);
  return kinds;
}

std::vector<std::string> Lab::files_beside() const {
  std::vector<std::string> beside = files;
  std::erase(beside, kKernelFile);
  return beside;
}

bool Lab::has_oracle() const {
  std::error_code ignored;
  return std::filesystem::exists(folder / kOracleSource, ignored);
}

bool Lab::has_reference() const {
  return std::any_of(stages.begin(), stages.end(),
                     [](const Stage& entry) { return entry.kind->has_reference; });
}

Lab Lab::with_stages_of(const StageKind& kind) const {
  Lab some = *this;
  std::erase_if(some.stages, [&](const Stage& entry) { return entry.kind != &kind; });
  return some;
}

base::Result<Lab> lab_from_text(std::string text, const std::string& file_name,
                                const std::filesystem::path& folder) {
  auto document = JsonDocument::parse(std::move(text), file_name);
  if (!document) return document.error();
  const JsonValue root(&*document, &document->value(), "");
  if (const auto version = root.optional_member("interface"))
    if (version->integer(1, kMostInterface) != kLabInterface)
      version->report(std::to_string(kLabInterface) + ", the interface of this Membound",
                      "a Membound of the lab's interface, or a lab of this one's");
  root.only_keys({"$schema", "interface", "draft", "id", "title", "summary", "handout", "host_code",
                  "bound", "sizes", "allows", "unsafe", "files", "mended", "answers", "rubric",
                  "stages", "ladder", "hints"});
  Lab lab;
  lab.folder = folder;
  lab.id = read_slug(root.member("id"));
  if (lab.id != folder.filename().string())
    root.member("id").report("\"" + folder.filename().string() + "\", the name of its folder");
  lab.title = root.member("title").text();
  lab.summary = root.member("summary").text();
  if (const auto draft = root.optional_member("draft")) lab.draft = draft->boolean();
  lab.handout = root.member("handout").text();
  const std::optional<ProgramLimits> of_all = read_host_code(root);
  if (!of_all) {
    lab.bound = read_bound(root.member("bound"));
    for (const JsonValue& name : root.member("sizes").elements(1))
      lab.size_names.push_back(name.text());
  }
  if (const auto allows = root.optional_member("allows"))
    for (const JsonValue& name : allows->elements(1)) lab.allows.push_back(name.text());
  read_files(root, lab);
  lab.mended = read_mended(root);
  read_stages(root.member("stages"), of_all, lab);
  read_answer_rules(root, lab);
  lab.rubric = read_rubric(root, lab);
  if (const auto unsafe = root.optional_member("unsafe"))
    lab.unsafe = read_unsafe(*unsafe, lab.stages);
  read_ladder(root, lab);
  read_hints(root.member("hints"), lab);
  if (document->problem()) return *document->problem();
  return lab;
}

base::Result<Lab> read_lab(const std::filesystem::path& lab_json) {
  std::ifstream file(lab_json, std::ios::binary);
  if (!file) {
    return base::Error{base::ErrorKind::kInput, lab_json.string(), "the file cannot be read",
                       "the description of a lab, lab.json", "check that the folder is complete"};
  }
  std::string text{std::istreambuf_iterator<char>(file), {}};
  return lab_from_text(std::move(text), lab_json.string(), lab_json.parent_path());
}

}  // namespace membound::course
