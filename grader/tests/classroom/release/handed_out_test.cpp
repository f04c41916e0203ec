// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A student's tree and Gradescope's zip, made from this course and used as students and Gradescope
/// use them. Building in the tree would take too long here: the programs of this build stand in for
/// those, with the references out of the tree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/classroom/selftest/corpus.hpp"
#include "grader/tests/classroom/exchange/gradescope_rules.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::release {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

const fs::path kSource = MEMBOUND_SOURCE_DIR;
const fs::path kBuild = MEMBOUND_BUILD_DIR;

std::string read(const fs::path& file) {
  const auto text = base::read_file(file);
  return text ? *text : "(none)";
}

base::ProcessOutcome run(const std::vector<std::string>& words,
                         const std::map<std::string, std::string>& environment = {},
                         const fs::path& folder = {}) {
  const auto run = base::run_process({.arguments = words,
                                      .environment = environment,
                                      .folder = folder,
                                      .timeout_seconds = 300,
                                      .output_limit_bytes = 16 << 20});
  EXPECT_TRUE(run) << words.front();
  return run ? *run : base::ProcessOutcome();
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  return files;
}

class HandedOut : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new judge::TemporaryFolder;
    const auto release = run({MEMBOUND_PROGRAM, "release", "--out", tree().string(), "--lab",
                              "reverse", "--lab", "transpose", "--architectures", "90"},
                             {{"MEMBOUND_ROOT", kSource.string()}});
    ASSERT_EQ(release.exit_code, 0) << release.output;
    const auto zip = run({MEMBOUND_PROGRAM, "gradescope-autograder", "--out",
                          (folder_->path() / "a.zip").string(), "--lab", "reverse"},
                         {{"MEMBOUND_ROOT", kSource.string()}});
    ASSERT_EQ(zip.exit_code, 0) << zip.output;
    fs::create_directories(autograder() / "source");
    const auto unpacked = run({"cmake", "-E", "tar", "xf", (folder_->path() / "a.zip").string()},
                              {}, autograder() / "source");
    ASSERT_EQ(unpacked.exit_code, 0) << unpacked.output;
    stand_in();
    EXPECT_THAT(set_up(autograder(), 0), HasSubstr("graded with nvcc"));
  }
  /// What setup.sh says in a container where a check with nvcc ends with this code. Packages and
  /// the build are stand-ins.
  static std::string set_up(const fs::path& root, int nvcc_code) {
    const std::string bin = "container-" + std::to_string(nvcc_code) + "/";
    for (const char* name : {"apt-get", "dpkg"}) folder_->script(bin + name, "exit 0");
    folder_->script(bin + "apt-cache", "echo '  Candidate: 3.25.1'");
    const fs::path course = root / "source" / "course";
    fs::create_directories(course / "build");
    fs::copy_file(folder_->script(bin + "launcher", "case \"$*\" in *nvcc*) exit " +
                                                        std::to_string(nvcc_code) + " ;; esac"),
                  course / "membound", fs::copy_options::overwrite_existing);
    const auto made = run({(root / "source" / "setup.sh").string()},
                          {{"AUTOGRADER_ROOT", root.string()},
                           {"PATH", (folder_->path() / bin).string() + ":" + std::getenv("PATH")}});
    EXPECT_EQ(made.exit_code, 0) << made.output;
    return made.output;
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  /// What a build in the tree makes: this build's programs, the tree's references.
  static void stand_in() {
    for (const char* name : {"vgpu", "grader", "forward", "libexec"})
      fs::create_directories(build()), fs::create_directory_symlink(kBuild / name, build() / name);
    fs::create_directories(build() / "bin");
    fs::copy_file(MEMBOUND_PROGRAM, program());
    fs::create_symlink(kBuild / "bin" / "oracle_test", build() / "bin" / "oracle_test");
    for (const std::string lab : {"01-reverse-array", "03-transpose"}) {
      take_references(tree(), lab);
      fs::create_symlink(kBuild / "labs" / lab / "test", build() / "labs" / lab / "test");
    }
  }
  /// What a build takes over from `released/`.
  static void take_references(const fs::path& from, const std::string& lab) {
    fs::create_directories(build() / "labs" / lab);
    fs::copy_file(from / "released" / lab / "reference.sm_90.fatbin",
                  build() / "labs" / lab / "reference.fatbin");
    if (const fs::path ptx = from / "released" / lab / "reference.ptx"; fs::exists(ptx))
      fs::copy_file(ptx, build() / "labs" / lab / "reference.ptx");
  }

  static fs::path tree() { return folder_->path() / "students"; }
  static fs::path build() { return folder_->path() / "build"; }
  static fs::path program() { return build() / "bin" / "membound"; }
  static fs::path autograder() { return folder_->path() / "autograder"; }

  /// Stage by stage: verdict, ratio and points, of a check in `root` with `from`'s program.
  static std::vector<std::string> verdicts(const fs::path& root, const fs::path& from,
                                           const std::string& stages, const fs::path& submission,
                                           const std::string& compiler) {
    const auto check = run({from.string(), "check", stages, "--submission", submission.string(),
                            "--device", "vgpu:h200", "--compiler", compiler, "--json", "-"},
                           {{"MEMBOUND_ROOT", root.string()}});
    EXPECT_LE(check.exit_code, 1) << check.output;
    std::vector<std::string> all;
    const json results = json::parse(check.output, nullptr, false);
    EXPECT_FALSE(results.is_discarded()) << check.output;
    if (results.is_discarded()) return all;
    const json& result = results.is_array() ? results.at(0) : results;
    for (const json& stage : result.at("stages"))
      all.push_back(stage.at("verdict").dump() + " " + stage.value("ratio", json()).dump() + " " +
                    stage.at("points").dump());
    return all;
  }

  static inline judge::TemporaryFolder* folder_ = nullptr;
};

TEST_F(HandedOut, HoldsNothingOfWhatStaysHere) {
  for (const char* name :
       {"solutions", "grader/tests", "grader/authoring/bench", ".ci", ".git", "build"})
    EXPECT_FALSE(fs::exists(tree() / name)) << name;
  EXPECT_FALSE(fs::exists(tree() / "labs" / "04-reduction"));
  EXPECT_THAT(read(tree() / "labs" / "CMakeLists.txt"), testing::Not(HasSubstr("add_lab(04")));
}

TEST_F(HandedOut, EveryLabCanBeHandedOut) {
  // An experiment or a handout that says a line of an answer stops it.
  const auto release = run({MEMBOUND_PROGRAM, "release", "--out",
                            (folder_->path() / "every-lab").string(), "--compiler", "clang"},
                           {{"MEMBOUND_ROOT", kSource.string()}, {"COLUMNS", "200"}});
  EXPECT_EQ(release.exit_code, 0) << release.output;
}

TEST_F(HandedOut, ForSelfStudyShowsAnAnswerAfterAPass) {
  const fs::path own = folder_->path() / "self-study";
  const auto release = run({MEMBOUND_PROGRAM, "release", "--out", own.string(), "--compiler",
                            "clang", "--lab", "reverse", "--for", "self-study"},
                           {{"MEMBOUND_ROOT", kSource.string()}, {"COLUMNS", "200"}});
  ASSERT_EQ(release.exit_code, 0) << release.output;
  EXPECT_THAT(release.output, HasSubstr("for self-study"));
  EXPECT_THAT(read(own / "README.md"), HasSubstr("was made for self-study"));
  EXPECT_THAT(read(tree() / "README.md"), HasSubstr("was made for a class"));
  EXPECT_FALSE(fs::exists(tree() / "released/01-reverse-array/answer.cu"));
  EXPECT_EQ(read(own / "released/01-reverse-array/answer.cu"),
            read(kSource / "solutions/01-reverse-array/kernel.cu"));
  EXPECT_EQ(read(own / "handouts/01-reverse-array/handout.md"),
            read(kSource / "handouts/01-reverse-array/handout.md"));
  EXPECT_THAT(read(own / "labs/01-reverse-array/kernel.cu"), HasSubstr("TODO"));
  const std::map<std::string, std::string> there = {{"MEMBOUND_ROOT", own.string()}};
  EXPECT_EQ(run({program().string(), "solution", "01/1"}, there).exit_code, 2);
  fs::copy_file(own / "released/01-reverse-array/answer.cu",
                own / "labs/01-reverse-array/kernel.cu", fs::copy_options::overwrite_existing);
  const auto check = run({program().string(), "check", "01/1", "--device", "vgpu:h200"}, there);
  ASSERT_EQ(check.exit_code, 0) << check.output;
  EXPECT_THAT(run({program().string(), "solution", "01/1", "--whole"}, there).output,
              HasSubstr("__global__"));
}

TEST_F(HandedOut, HoldsNoLineThatOnlyAnAnswerHas) {
  // Not the program's own search: long lines of the answers, as they stand there.
  std::set<std::string> known, secret;
  const auto lines_of = [](const fs::path& file, std::set<std::string>& lines) {
    std::istringstream text(read(file));
    for (std::string line; std::getline(text, line);)
      if (line.size() > 40 && line.find("SPDX") == std::string::npos) lines.insert(line);
  };
  for (const auto& lab : fs::directory_iterator(kSource / "solutions")) {
    lines_of(lab.path() / "kernel.cu", secret);
    lines_of(kSource / "labs" / lab.path().filename() / "kernel.cu", known);
  }
  for (const std::string& line : known) secret.erase(line);
  ASSERT_GT(secret.size(), 100U);
  for (const fs::path& file : files_below(tree())) {
    const std::string text = read(file);
    for (const std::string& line : secret)
      EXPECT_EQ(text.find(line), std::string::npos) << file << ": " << line;
  }
}

TEST_F(HandedOut, IsStoppedByALineOfASolution) {
  const fs::path course = folder_->path() / "course";
  fs::create_directories(course);
  for (const char* name : {"grader", "labs", "handouts", "docs", "solutions", "CMakeLists.txt",
                           "CMakePresets.json", "LICENSE", "membound"})
    fs::copy(
        kSource / name, course / name,
        fs::create_directories(course) ? fs::copy_options::recursive : fs::copy_options::recursive);
  std::ofstream(course / "labs" / "01-reverse-array" / "README.md", std::ios::app)
      << "  if (i < n)   out[n - 1 - i] = in[i];\n";
  const auto release = run({MEMBOUND_PROGRAM, "release", "--out", (course / "out").string(),
                            "--lab", "reverse", "--compiler", "clang"},
                           {{"MEMBOUND_ROOT", course.string()}, {"COLUMNS", "200"}});
  EXPECT_EQ(release.exit_code, 2) << release.output;
  EXPECT_THAT(release.output, HasSubstr("labs/01-reverse-array/README.md"));
  EXPECT_FALSE(fs::exists(course / "out"));
  EXPECT_FALSE(fs::exists(course / "out.part"));
  fs::remove_all(course);
}

TEST_F(HandedOut, WithProgramsAFirstCheckBuildsNothing) {
  if (fs::exists("/dev/nvidiactl"))
    GTEST_SKIP() << "this machine has a GPU; the programs that go along are for the virtual one";
  const fs::path students = folder_->path() / "with-programs";
  const auto release = run({MEMBOUND_PROGRAM, "release", "--binaries", "--compiler", "clang",
                            "--lab", "reverse", "--out", students.string()},
                           {{"MEMBOUND_ROOT", kSource.string()}});
  ASSERT_EQ(release.exit_code, 0) << release.output;
  const fs::path binaries = students / "released" / "binaries";
  EXPECT_FALSE(fs::is_empty(binaries / "lib"));
  EXPECT_TRUE(fs::exists(binaries / "licences" / "libgtest-dev"));
  // By the launcher, as a student does; the skeleton does not pass.
  const auto check = run({(students / "membound").string(), "--no-install", "check", "1/1",
                          "--device", "vgpu:h200", "--compiler", "clang"});
  EXPECT_EQ(check.exit_code, 1) << check.output;
  EXPECT_THAT(check.output, testing::Not(HasSubstr("are not used")));
  EXPECT_FALSE(fs::exists(students / "build" / "student" / "CMakeCache.txt")) << check.output;
  // A changed file of the course locks nobody out: the grader's own copy serves.
  std::ofstream(students / "labs" / "01-reverse-array" / "kernel.cuh") << "#error mine\n";
  const auto again = run({(students / "membound").string(), "--no-install", "check", "1/1",
                          "--device", "vgpu:h200", "--compiler", "clang"});
  EXPECT_EQ(again.exit_code, 1) << again.output;
  EXPECT_THAT(again.output, HasSubstr("labs/01-reverse-array/kernel.cuh is not as"));
  EXPECT_THAT(again.output, testing::Not(HasSubstr("error: mine")));
  EXPECT_FALSE(fs::exists(students / "build" / "student" / "CMakeCache.txt")) << again.output;
}

TEST_F(HandedOut, HasNoLinkThatLeadsNowhere) {
  static const std::regex kLink(R"(\]\(([^)#:\s]+)(#[^)]*)?\))");
  int links = 0;
  for (const fs::path& file : files_below(tree())) {
    if (file.extension() != ".md") continue;
    const std::string text = read(file);
    for (std::sregex_iterator link(text.begin(), text.end(), kLink), end; link != end; ++link) {
      ++links;
      EXPECT_TRUE(fs::exists(file.parent_path() / (*link)[1].str())) << file << ": " << link->str();
    }
  }
  EXPECT_GT(links, 10);
}

TEST_F(HandedOut, ConfiguresAndTakesItsReferencesOver) {
  const fs::path made = folder_->path() / "configured";
  const auto configured =
      run({"cmake", "--preset", "student", "-B", made.string(), "-DMEMBOUND_CUDA_ARCHITECTURE=90"},
          {}, tree());
  ASSERT_EQ(configured.exit_code, 0) << configured.output;
  const auto taken =
      run({"cmake", "--build", made.string(), "--target", "lab_03_transpose_reference"});
  ASSERT_EQ(taken.exit_code, 0) << taken.output;
  for (const auto& [from, to] : {std::pair{"reference.sm_90.fatbin", "reference.fatbin"},
                                 std::pair{"reference.ptx", "reference.ptx"}})
    EXPECT_EQ(read(tree() / "released" / "03-transpose" / from),
              read(made / "labs" / "03-transpose" / to));
}

TEST_F(HandedOut, GivesTheVerdictsOfTheInstructorsCourse) {
  const fs::path answer = kSource / "solutions" / "03-transpose" / "kernel.cu";
  const fs::path skeleton = tree() / "released" / "03-transpose" / "skeleton.cu";
  EXPECT_EQ(read(skeleton), read(tree() / "labs" / "03-transpose" / "kernel.cu"));
  for (const fs::path& submission : {answer, skeleton}) {
    const auto here = verdicts(kSource, MEMBOUND_PROGRAM, "03-transpose/2-3", submission, "nvcc");
    const auto there = verdicts(tree(), program(), "03-transpose/2-3", submission, "nvcc");
    EXPECT_EQ(here.size(), 2U);
    EXPECT_EQ(here, there);
  }
}

TEST_F(HandedOut, GivesThemWithClangToo) {
  const fs::path answer = kSource / "solutions" / "01-reverse-array" / "kernel.cu";
  const auto here = verdicts(kSource, MEMBOUND_PROGRAM, "01-reverse-array/1", answer, "clang");
  const auto there = verdicts(tree(), program(), "01-reverse-array/1", answer, "clang");
  EXPECT_EQ(here.size(), 1U);
  EXPECT_EQ(here, there);
}

TEST_F(HandedOut, BringsTheSkeletonBack) {
  const fs::path kernel = tree() / "labs" / "01-reverse-array" / "kernel.cu";
  const std::string skeleton = read(kernel);
  std::ofstream(kernel) << "// TODO nothing\n";
  const auto reset =
      run({program().string(), "reset", "reverse"}, {{"MEMBOUND_ROOT", tree().string()}});
  EXPECT_EQ(reset.exit_code, 0) << reset.output;
  EXPECT_EQ(read(kernel), skeleton);
}

TEST_F(HandedOut, CannotBeHandedOutAgain) {
  const auto again = run({program().string(), "release", "--out", (tree() / "x").string()},
                         {{"MEMBOUND_ROOT", tree().string()}});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.output, HasSubstr("has no solutions/"));
}

TEST_F(HandedOut, ALabOutsideOfTheCourseIsOneOfIt) {
  const fs::path own = folder_->path() / "own";
  fs::create_directories(own / "autograder" / "source");
  fs::create_directories(own / "autograder" / "submission");
  fs::create_directories(own / "autograder" / "results");
  const std::map<std::string, std::string> there = {{"MEMBOUND_ROOT", kSource.string()},
                                                    {"MEMBOUND_LABS", own.string()}};
  const fs::path students = own / "students", zip = own / "a.zip";
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"dev", "new", "98-own", "--stages", "1"},
           {"release", "--out", students.string(), "--lab", "own", "--compiler", "nvcc",
            "--architectures", "90"},
           {"gradescope-autograder", "--out", zip.string(), "--lab", "own"}}) {
    std::vector<std::string> all = {MEMBOUND_PROGRAM};
    all.insert(all.end(), words.begin(), words.end());
    const auto made = run(all, there);
    ASSERT_EQ(made.exit_code, 0) << made.output;
  }
  const fs::path answer = own / "solutions/98-own/kernel.cu";
  EXPECT_EQ(read(students / "labs/98-own/kernel.cu"), read(own / "labs/98-own/kernel.cu"));
  for (const fs::path& file : files_below(students))
    EXPECT_EQ(read(file).find("if (i < n) out[i] ="), std::string::npos) << file;
  // Students know it as a lab of their course, and have its verdicts.
  take_references(students, "98-own");
  EXPECT_THAT(verdicts(students, program(), "own", answer, "nvcc"),
              testing::ElementsAre(testing::MatchesRegex("\"passed\" .* 100.*")));
  EXPECT_THAT(
      verdicts(students, program(), "own", students / "released/98-own/skeleton.cu", "nvcc"),
      testing::ElementsAre(testing::MatchesRegex("\"wrong\" .* 0.*")));
  // So does Gradescope.
  const fs::path autograder = own / "autograder";
  const auto unpacked = run({"cmake", "-E", "tar", "xf", zip.string()}, {}, autograder / "source");
  ASSERT_EQ(unpacked.exit_code, 0) << unpacked.output;
  set_up(autograder, 0);
  fs::copy_file(answer, autograder / "submission" / "kernel.cu");
  const auto graded = run({(autograder / "source" / "run_autograder").string()},
                          {{"AUTOGRADER_ROOT", autograder.string()},
                           {"MEMBOUND_PROGRAM", program().string()},
                           {"MEMBOUND_ROOT", ""}});
  EXPECT_EQ(graded.exit_code, 0) << graded.output;
  const json results = json::parse(read(autograder / "results" / "results.json"), nullptr, false);
  ASSERT_FALSE(results.is_discarded()) << graded.output;
  exchange::expect_gradescope_accepts(results);
  EXPECT_EQ(results["score"], 100) << graded.output;
}

// --- Gradescope --------------------------------------------------------------------------------

class Gradescope : public HandedOut {
 protected:
  /// Empties the submission and results, as in a fresh container.
  void SetUp() override {
    for (const char* name : {"submission", "results"}) {
      fs::remove_all(autograder() / name);
      fs::create_directories(autograder() / name);
    }
  }
  static void submit(const std::string& name, const std::string& text) {
    const auto written = base::write_file(autograder() / "submission" / name, text);
    EXPECT_TRUE(written);
  }
  /// The results.json that came of it.
  static json grade(const fs::path& with = program(),
                    std::map<std::string, std::string> environment = {}) {
    environment.insert({{"AUTOGRADER_ROOT", autograder().string()},
                        {"MEMBOUND_PROGRAM", with.string()},
                        {"MEMBOUND_ROOT", ""}});
    const auto graded = run({(autograder() / "source" / "run_autograder").string()}, environment);
    EXPECT_EQ(graded.exit_code, 0) << graded.output;
    last_output = graded.output;
    const json results =
        json::parse(read(autograder() / "results" / "results.json"), nullptr, false);
    EXPECT_FALSE(results.is_discarded()) << graded.output;
    return results;
  }
  static inline std::string last_output;
};

TEST_F(Gradescope, GivesAGoodSubmissionFullMarks) {
  submit("deep/in/kernel.cu", read(kSource / "solutions" / "01-reverse-array" / "kernel.cu"));
  submit("notes.txt", "hello");
  const auto written = base::write_file(
      autograder() / "submission_metadata.json",
      R"({"id": 1, "assignment": {"title": "Lab 1", "total_points": "7.0"}, "users": []})");
  EXPECT_TRUE(written);
  const json results = grade();
  exchange::expect_gradescope_accepts(results);
  EXPECT_EQ(results["extra_data"]["verdict"], "PASS") << last_output;
  const json& facts = results["tests"].back();
  EXPECT_EQ(facts["visibility"], "hidden");
  EXPECT_THAT(facts["output"].get<std::string>(), HasSubstr("Compiled by nvcc "));
  EXPECT_THAT(facts["output"].get<std::string>(), HasSubstr("The assignment has 7.0 points"));
  double most = 0;
  for (const json& test : results["tests"]) most += test["max_score"].get<double>();
  EXPECT_EQ(results["score"], most);
}

TEST_F(Gradescope, GradesWithClangInAContainerThatCannotFetchNvcc) {
  const std::string said = set_up(autograder(), 3);
  EXPECT_THAT(said, HasSubstr("nvcc cannot grade here: the check ended with 3"));
  EXPECT_THAT(said, HasSubstr("submissions are graded with clang"));
  // What a build of the course in the zip makes: it needs clang's reference, too.
  const fs::path released = autograder() / "source/course/released/01-reverse-array";
  const fs::path built = build() / "labs/01-reverse-array/reference.ptx";
  fs::copy_file(released / "reference.ptx", built, fs::copy_options::overwrite_existing);
  submit("kernel.cu", read(kSource / "solutions" / "01-reverse-array" / "kernel.cu"));
  const json results = grade();
  EXPECT_EQ(results["extra_data"]["verdict"], "PASS") << last_output;
  EXPECT_THAT(results["tests"].back()["output"].get<std::string>(),
              HasSubstr("Compiled by clang "));
  set_up(autograder(), 0);
}

TEST_F(Gradescope, ExplainsAWrongOneWithAHint) {
  submit("kernel.cu", read(autograder() / "source/course/released/01-reverse-array/skeleton.cu"));
  const json results = grade();
  exchange::expect_gradescope_accepts(results);
  EXPECT_EQ(results["score"], 0);
  EXPECT_EQ(results["extra_data"]["verdict"], "FAIL_WRONG") << last_output;
  EXPECT_EQ(results["tests"][0]["status"], "failed");
  EXPECT_THAT(results["tests"][0]["output"].get<std::string>(), HasSubstr("Hint: "));
}

TEST_F(Gradescope, SaysThatNothingWasHandedIn) {
  json results = grade();
  exchange::expect_gradescope_accepts(results);
  EXPECT_EQ(results["score"], 0);
  EXPECT_THAT(results["output"].get<std::string>(), HasSubstr("hand in one kernel.cu"));
  submit("kernel.txt", "a kernel");
  results = grade();
  exchange::expect_gradescope_accepts(results);
  EXPECT_EQ(results["score"], 0);
  EXPECT_THAT(results["output"].get<std::string>(),
              HasSubstr("no kernel.cu in it; found: kernel.txt"));
}

TEST_F(Gradescope, SaysWhichFilesItCannotChooseBetween) {
  submit("a/kernel.cu", "// one\n");
  submit("b/kernel.cu", "// two\n");
  const json results = grade();
  exchange::expect_gradescope_accepts(results);
  EXPECT_EQ(results["score"], 0);
  EXPECT_THAT(results["output"].get<std::string>(), HasSubstr("two files could be the submission"));
}

TEST_F(Gradescope, ShowsWhatTheCompilerSays) {
  submit("kernel.cu", "#include \"kernel.cuh\"\n__global__ void reverse_straight(int oops {}\n");
  for (const char* off : {"", "compile.jail"}) {
    const json results = grade(program(), {{"MEMBOUND_SWITCH_OFF", off}});
    exchange::expect_gradescope_accepts(results);
    EXPECT_EQ(results["score"], 0);
    EXPECT_EQ(results["extra_data"]["verdict"], "COMPILE_ERROR") << last_output;
    EXPECT_THAT(results["output"].get<std::string>(),
                testing::AnyOf(HasSubstr("\nkernel.cu:2:"), HasSubstr("\nkernel.cu(2): error")));
  }
}

TEST_F(Gradescope, GivesAnAttackNothingWithAJailOrWithout) {
  const auto attack =
      selftest::read_case(kSource / "grader/tests/attacks/B-compile/31-globaltimer.case");
  ASSERT_TRUE(attack) << base::to_string(attack.error());
  submit("kernel.cu", attack->submission);
  // In builds that can switch it off, the second time as in a container that allows no jail.
  for (const char* off : {"", "compile.jail"}) {
    const json results = grade(program(), {{"MEMBOUND_SWITCH_OFF", off}});
    exchange::expect_gradescope_accepts(results);
    EXPECT_EQ(results["score"], 0);
    EXPECT_EQ(results["extra_data"]["verdict"], "POLICY_REJECT") << last_output;
  }
}

TEST_F(Gradescope, AGraderThatDiesIsAFailureForAPersonAndNoZero) {
  submit("kernel.cu", "// whatever\n");
  const fs::path dies = folder_->script("dies", "kill -9 $$");
  const json results = grade(dies);
  exchange::expect_gradescope_accepts(results, false);
  EXPECT_THAT(results["output"].get<std::string>(), HasSubstr("your instructor has to look"));
}

}  // namespace
}  // namespace membound::release
