// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/compile.hpp"

#include <gmock/gmock.h>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/judge/workplace.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A course of one lab, and a compiler that copies its input and counts its calls.
class DeviceCode : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("grader/harness/student/nvcc.flags", "-fatbin\n");
    folder_.write("labs/01-x/kernel.cuh", "// given\n");
    request_.source = folder_.write("labs/01-x/kernel.cu", "code\n");
    request_.root = folder_.path();
    request_.lab_folder = folder_.path() / "labs/01-x";
    request_.cache_folder = folder_.path() / ".membound/cache";
    // $… in order: --options-file FLAGS -arch=… -I… -I… SOURCE -o OUTPUT
    request_.compiler.program = folder_.script(
        "nvcc",
        "echo call >> calls\n"
        "grep -q error \"$6\" && { echo \"$6(1): error: this is wrong\" >&2; exit 1; }\n"
        "grep -q slow \"$6\" && sleep 60\n"
        "grep -q warn \"$6\" && echo \"$6(1): warning: careful\"\n"
        "cp \"$6\" \"$8\"");
    request_.compiler.version = "13.0.1";
  }
  CompiledCode compiled() {
    const auto code = compile(request_);
    EXPECT_TRUE(code) << base::to_string(code.error());
    return code ? *code : CompiledCode{};
  }
  int calls() {
    const auto text = base::read_file(folder_.path() / "calls");
    return text ? static_cast<int>(text->size() / 5) : 0;
  }
  TemporaryFolder folder_;
  CompileRequest request_;
};

TEST_F(DeviceCode, CompilesEqualTextOnce) {
  const CompiledCode first = compiled();
  const CompiledCode second = compiled();
  EXPECT_TRUE(first.compiled);
  EXPECT_FALSE(first.from_cache);
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(first.file, second.file);
  EXPECT_EQ(*base::read_file(first.file), "code\n");
  EXPECT_EQ(calls(), 1);
}

TEST_F(DeviceCode, AsksNoCompilerAboutWhatIsNoText) {
  request_.source = folder_.write("labs/01-x/kernel.cu", std::string("code\0\n", 6));
  const CompiledCode code = compiled();
  EXPECT_FALSE(code.compiled);
  EXPECT_THAT(code.not_text, HasSubstr("byte 0"));
  EXPECT_EQ(grade_verdict_of(code), course::GradeVerdict::kCompileError);
  EXPECT_EQ(calls(), 0);
}

TEST_F(DeviceCode, SaysThatAHeaderOfTheStudentsOwnIsNotHandedIn) {
  folder_.write("labs/01-x/helper.cuh", "// mine\n");
  request_.source = folder_.write("labs/01-x/kernel.cu",
                                  "#include \"kernel.cuh\"\n#include \"membound.cuh\"\n"
                                  "#include \"helper.cuh\"\n");
  const CompiledCode code = compiled();
  EXPECT_TRUE(code.compiled);
  EXPECT_THAT(code.output, testing::StartsWith("kernel.cu:3: note: \"helper.cuh\" lies in your"));
}

TEST_F(DeviceCode, CompilesAnewWhenAnythingThatCountsChanges) {
  int expected = 0;
  const auto compiles_anew = [&] {
    compiled();
    return calls() == ++expected;
  };
  EXPECT_TRUE(compiles_anew());
  folder_.write("labs/01-x/kernel.cu", "other code\n");
  EXPECT_TRUE(compiles_anew());
  folder_.write("labs/01-x/kernel.cuh", "// given anew\n");
  EXPECT_TRUE(compiles_anew());
  folder_.write("grader/harness/student/nvcc.flags", "-fatbin -O3\n");
  EXPECT_TRUE(compiles_anew());
  request_.architecture = "80";
  EXPECT_TRUE(compiles_anew());
  request_.compiler.version = "13.1.0";
  EXPECT_TRUE(compiles_anew());
}

TEST_F(DeviceCode, ShowsTheCompilersOwnWordsWithAPathFromTheRoot) {
  folder_.write("labs/01-x/kernel.cu", "error\n");
  const CompiledCode code = compiled();
  EXPECT_FALSE(code.compiled);
  EXPECT_EQ(code.output,
            "labs/01-x/kernel.cu:1:1: error: this is wrong\n     1 | error\n       | ^\n");
  EXPECT_TRUE(fs::is_empty(request_.cache_folder));
}

TEST_F(DeviceCode, KeepsWarningsWithTheCachedCode) {
  folder_.write("labs/01-x/kernel.cu", "warn\n");
  const std::string first = compiled().output;
  EXPECT_THAT(first, HasSubstr("careful"));
  EXPECT_EQ(compiled().output, first);
}

TEST_F(DeviceCode, EndsACompilerThatTakesTooLong) {
  folder_.write("labs/01-x/kernel.cu", "slow\n");
  request_.timeout_seconds = 0.3;
  const CompiledCode code = compiled();
  EXPECT_FALSE(code.compiled);
  EXPECT_TRUE(code.timed_out);
}

/// How nvcc and clang end, and what they print, when a limit has ended one of their programs.
struct CompilersEnd {
  const char* what;
  const char* script;
  course::GradeVerdict verdict;
};
constexpr auto kLimit = course::GradeVerdict::kCompileLimit;
constexpr auto kError = course::GradeVerdict::kCompileError;
constexpr CompilersEnd kEnds[] = {
    {"a child killed", "sh -c 'kill -9 $$; :'; exit $?", kLimit},
    {"itself killed", "kill -9 $$", kLimit},
    {"a child out of CPU time", "sh -c 'kill -24 $$; :'; exit $?", kLimit},
    {"itself out of CPU time", "kill -24 $$", kLimit},
    {"a child with too large a file", "sh -c 'kill -25 $$; :'; exit $?", kLimit},
    {"a driver with a code of its own", "echo 'nvcc error: cicc died due to signal 24'; exit 2",
     kLimit},
    {"clang's driver", "echo 'clang: error: unable to execute command: Killed'; exit 1", kLimit},
    {"g++'s", "echo 'g++: fatal error: Killed signal terminated program cc1plus'; exit 1", kLimit},
    {"ptxas without memory", "echo 'ptxas fatal   : Memory allocation failure'; exit 1", kLimit},
    {"LLVM without memory", "echo 'LLVM ERROR: out of memory'; exit 134", kLimit},
    {"a C++ program without memory", "echo 'what():  std::bad_alloc'; exit 134", kLimit},
    {"the frontend without memory", "echo 'x.h(9): catastrophic error: out of memory'; exit 1",
     kLimit},
    {"a loader without memory", "echo 'libgmp.so: failed to map segment from object'; exit 1",
     kLimit},
    {"no more processes", "echo 'sh: 1: Cannot fork'; exit 2", kLimit},
    {"a full folder", "echo '/tmp/x.ii: No space left on device'; exit 1", kLimit},
    {"the compiler's own fault", "echo 'Segmentation fault'; exit 139", kError},
    {"an error that quotes such words",
     "echo 'kernel.cu(1): error: expected a )'; echo '      puts(\"out of memory: Killed\"'; exit "
     "1",
     kError},
    {"the same by clang",
     "echo 'kernel.cu:1:7: error: x'; echo '    1 | puts(\"out of memory: Killed\"'; exit 1",
     kError},
    {"an error of the student's own words",
     "echo 'kernel.cu(3): error: #error directive: out of memory'; exit 1", kError},
};

TEST_F(DeviceCode, TellsALimitFromAnErrorHoweverTheCompilerMetIt) {
  folder_.write("labs/01-x/kernel.cu", "puts(\"out of memory: Killed\"\n");
  for (const bool confined : {false, true}) {
    if (confined && !jail::probe().untrusted_ok()) continue;
    request_.graded = GradedCompile{.confined = confined};
    for (const CompilersEnd& end : kEnds) {
      request_.compiler.program = folder_.script("toolkit/bin/nvcc", end.script);
      const CompiledCode code = compiled();
      EXPECT_FALSE(code.compiled);
      EXPECT_EQ(grade_verdict_of(code), end.verdict)
          << end.what << (confined ? " in a jail: " : ": ") << code.output;
    }
  }
}

/// LLVM's handler for SIGXCPU prints and returns; the kernel's next one ends the compiler, which
/// its driver's exit code tells, however little of the time is used by the supervisor's count.
TEST_F(DeviceCode, ACompilerThatLivesOnAfterItsCpuTimeMeetsALimit) {
  if (!jail::probe().untrusted_ok()) GTEST_SKIP() << jail::probe().describe();
  request_.graded = GradedCompile{};
  request_.graded->limits.cpu_seconds = 1;
  request_.compiler.program = folder_.script(
      "toolkit/bin/nvcc", "perl -e '$SIG{XCPU} = sub { $SIG{XCPU} = \"DEFAULT\" }; 1 while 1'");
  EXPECT_EQ(grade_verdict_of(compiled()), kLimit);
}

TEST_F(DeviceCode, NamesASubmissionThatIsNotThere) {
  request_.source = folder_.path() / "nowhere.cu";
  const auto code = compile(request_);
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().where, request_.source.string());
}

TEST_F(DeviceCode, FindsTheFirstCompilerThatIsNewEnough) {
  folder_.script("old/nvcc", "echo 'release 11.8, V11.8.89'");
  const auto good = folder_.script("toolkit/bin/nvcc", "echo 'release 13.0, V13.0.88'");
  compilers::CompilerPlaces places;
  places.system = "/nowhere";
  places.path = (folder_.path() / "old").string();
  const auto none = compilers::find_compiler(compilers::DeviceCompiler::kNvcc, places);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().found, HasSubstr("nvcc 11.8.89 is too old"));
  EXPECT_THAT(none.error().advice, HasSubstr("--compiler nvcc, which fetches it"));
  places.root = folder_.path();  // of a course that pip has laid out
  EXPECT_THAT(compilers::find_compiler(compilers::DeviceCompiler::kNvcc, places).error().advice,
              HasSubstr("install a CUDA toolkit"));
  places.system = folder_.path() / "toolkit";
  const auto found = compilers::find_compiler(compilers::DeviceCompiler::kNvcc, places);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->program, good);
  EXPECT_EQ(found->name(), "nvcc 13.0.88");
}

TEST_F(DeviceCode, FindsTheCompilerBehindAScriptInPath) {
  const auto real =
      folder_.script("toolkit/bin/nvcc",
                     "[ \"$1\" = --dryrun ] && echo \"#\\$ _HERE_=$(dirname $0)\" >&2\n"
                     "echo 'release 13.0, V13.0.88'");
  folder_.script("bin/nvcc", "exec " + real.string() + " \"$@\"");
  compilers::CompilerPlaces places;
  places.system = "/nowhere";
  places.path = (folder_.path() / "bin").string();
  const auto found = compilers::find_compiler(compilers::DeviceCompiler::kNvcc, places);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->program, real);
}

TEST_F(DeviceCode, TakesClangWhereThereIsNoNvcc) {
  folder_.script("bin/clang++", "echo 'Debian clang version 14.0.6'");
  compilers::CompilerPlaces places;
  places.system = "/nowhere";
  places.path = (folder_.path() / "bin").string();
  const auto clang = compilers::find_any_compiler(places);
  ASSERT_TRUE(clang);
  EXPECT_EQ(clang->name(), "clang 14.0.6");
  folder_.script("bin/nvcc", "echo 'release 13.0, V13.0.88'");
  const auto nvcc = compilers::find_any_compiler(places);
  ASSERT_TRUE(nvcc);
  EXPECT_EQ(nvcc->name(), "nvcc 13.0.88");
}

/// An nvcc that gives its source to the gcc in PATH first, as the real one does, and counts that.
constexpr const char* kNvccWithHost =
    "[ \"$1\" = -M ] || { echo 'release 13.0, V13.0.88'; exit; }\n"
    "echo call >> calls\n"
    "gcc || { echo 'nvcc fatal   : Failed to preprocess host compiler properties.'; exit 1; }";

TEST_F(DeviceCode, PassesOverAnNvccWithoutAHostCompilerThatItTakes) {
  folder_.script("toolkit/nvcc", "cd " + folder_.path().string() + "\n" + kNvccWithHost);
  folder_.script("clang/clang++", "echo 'Debian clang version 14.0.6'");
  const auto with_gcc = [&](const std::string& gcc) {
    if (!gcc.empty()) folder_.script("bin/gcc", gcc);
    return compilers::CompilerPlaces{
        .path = base::search_path(
            {folder_.path() / "toolkit", folder_.path() / "clang", folder_.path() / "bin"}),
        .system = "/nowhere"};
  };
  const auto without = compilers::find_any_compiler(with_gcc(""));
  ASSERT_TRUE(without);
  EXPECT_EQ(without->name(), "clang 14.0.6");
  EXPECT_EQ(without->passed_over, "nvcc 13.0.88 needs g++, which is not here");
  const auto named = compilers::find_compiler(compilers::DeviceCompiler::kNvcc, with_gcc(""));
  ASSERT_FALSE(named);
  EXPECT_THAT(named.error().advice, HasSubstr("apt-get install g++"));
  const auto newer = compilers::find_any_compiler(
      with_gcc("echo '#error -- unsupported GNU version! gcc versions later than 15 are not "
               "supported!'; exit 1"));
  ASSERT_TRUE(newer);
  EXPECT_EQ(newer->passed_over,
            "nvcc 13.0.88 takes no g++ newer than 15, and the one that is here is newer");
  const auto well = compilers::find_any_compiler(with_gcc("exit 0"));
  ASSERT_TRUE(well);
  EXPECT_EQ(well->name(), "nvcc 13.0.88");
}

TEST_F(DeviceCode, RemembersThatAnNvccWorksUntilItsHostCompilerChanges) {
  folder_.script("bin/nvcc", "cd " + folder_.path().string() + "\n" + kNvccWithHost);
  const fs::path gcc = folder_.script("bin/gcc", "exit 0");
  fs::create_directories(folder_.path() / ".membound");
  const compilers::CompilerPlaces places{
      .path = (folder_.path() / "bin").string(), .system = "/nowhere", .root = folder_.path()};
  ASSERT_TRUE(compilers::find_any_compiler(places));
  ASSERT_TRUE(compilers::find_any_compiler(places));
  EXPECT_EQ(calls(), 1);
  fs::remove(gcc);
  EXPECT_FALSE(compilers::find_any_compiler(places));
  EXPECT_EQ(calls(), 2);
}

TEST_F(DeviceCode, HasReferencesOfWhatTheReleaseCompiled) {
  Workplace place;
  place.root = folder_.path();
  place.build = folder_.path() / "build";
  folder_.write("released/README.md", "\n");
  EXPECT_FALSE(has_references(place, compilers::DeviceCompiler::kClang));
  folder_.write("released/01-x/reference.sm_60.ptx", "// PTX\n");
  EXPECT_TRUE(has_references(place, compilers::DeviceCompiler::kClang));
  EXPECT_FALSE(has_references(place, compilers::DeviceCompiler::kNvcc));
  folder_.write("solutions/01-x/kernel.cu", "// the answer\n");
  EXPECT_TRUE(has_references(place, compilers::DeviceCompiler::kNvcc));
}

TEST_F(DeviceCode, SaysWhereItLookedWhenThereIsNoCompiler) {
  const auto none =
      compilers::find_compiler(compilers::DeviceCompiler::kNvcc, {.system = "/nowhere"});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().expected, HasSubstr("MEMBOUND_TOOLKIT"));
}

TEST(Compiler, ReadsVersions) {
  EXPECT_EQ(compilers::version_in(compilers::DeviceCompiler::kNvcc,
                                  "Cuda compilation tools, release 13.0, V13.0.88\n"),
            "13.0.88");
  EXPECT_EQ(
      compilers::version_in(compilers::DeviceCompiler::kClang, "Debian clang version 14.0.6\n"),
      "14.0.6");
  EXPECT_EQ(compilers::version_in(compilers::DeviceCompiler::kNvcc, "no version"), "");
}

TEST(Compiler, ReadsItsFolderInADryRun) {
  EXPECT_EQ(compilers::folder_in_dry_run("#$ _SPACE_= \n#$ _HERE_=/opt/cuda/bin\n#$ _THERE_=/x\n"),
            "/opt/cuda/bin");
  EXPECT_EQ(compilers::folder_in_dry_run("nvcc fatal"), "");
}

}  // namespace
}  // namespace membound::judge
