// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/tests/cli/fake_course.hpp"

#include <algorithm>

#include "grader/base/files.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;

std::string lab_json(const std::string& id, const std::string& title) {
  return R"json({"id": ")json" + id + R"json(", "title": ")json" + title +
         R"json(", "summary": "A lab for tests.",
  "handout": "handouts/)json" +
         id + R"json(/handout.md", "host_code": false, "bound": "bandwidth", "sizes": ["n"],
  "stages": [
    {"number": 1, "name": "first", "kernel": "one", "title": "The first step", "points": 10,
     "timed_sizes": [[4]], "timeout_seconds": 1,
     "predict": {"ask": "How many sectors?", "unit": "sectors", "counter": "global_load_sectors"}},
    {"number": 2, "name": "second", "kernel": "two", "title": "The second step", "points": 20,
     "timed_sizes": [[4]], "timeout_seconds": 1}],
  "hints": {"edge-guard": ["Who is too many?", "Look at the last block.", "if (i < n)"],
            "slow": ["Count sectors.", "See line 24.", "Swap the indices."]}})json";
}

/// --version, -M, or the last two arguments are "-o OUTPUT" after the source.
constexpr const char* kNvcc = R"sh(
[ "$1" = --version ] && { echo "release 13.0, V13.0.1"; exit 0; }
[ "$1" = -M ] && exit 0
while [ $# -gt 0 ]; do
  case $1 in -o) out=$2; shift;; *.cu) source=$1;; esac
  shift
done
grep -q "syntax error" "$source" && { echo "$source(3): error: expected a \";\""; exit 2; }
sed -n "/warn me/=" "$source" | while read -r line; do
  echo "$source($line): warning #177-D: variable \"a\" was declared but never referenced"
done
cp "$source" "$out")sh";

/// Reports for each stage what the submission says about it.
constexpr const char* kTestProgram = R"sh(
quick=no
while [ $# -gt 0 ]; do
  case $1 in
    --stages) stages=$2;; --result) result=$2;; --submission) submission=$2;; --quick) quick=yes;;
  esac
  shift
done
device='"device":{"name":"a fake device","virtual_name":"vgpu:h200"}'
passed='{"name":"MovesOne","passed":true}'
edge='{"name":"CutOff","passed":false,"message":"element 3 is 0, expected 7","hint_tag":"edge-guard"}'
slow='{"name":"ReachesItsBar","passed":false,"message":"half as fast","hint_tag":"slow"}'
timing() {
  echo "{\"label\":\"n = 4\",\"student_ns\":[$1],\"reference_ns\":[100],\"useful_bytes\":1000,\
\"student_median_ns\":$1,\"reference_median_ns\":100,\"ratio\":$2,\"ceiling\":2e10}"
}
line() {
  echo "{\"lab\":\"01-fake\",\"stage\":$1,\"counters\":{\"kernels\":[{\"name\":\"one\",\
\"counters\":{\"global_load_sectors\":32}}]},\"abort\":\"$2\",\"abort_text\":\"$2 here\",\
\"tests\":[$3],\"timings\":[$4],$device}" >> "$result"
}
for stage in $(echo $stages | tr , ' '); do
  case $(sed -n "s/.*stage $stage: //p" "$submission") in
    passed) t=; [ $quick = no ] && t=$(timing 100 1.0); line $stage "" "$passed" "$t";;
    slow) t=; s=; [ $quick = no ] && t=$(timing 200 0.5) s=,$slow
          line $stage "" "$passed$s" "$t";;
    fault) line $stage fault ""; exit 6;;
    hang) sleep 60;;
    infra) echo "no device"; exit 3;;
    *) line $stage "" "$passed,$edge" "";;
  esac
done)sh";

constexpr const char* kSkeleton =
    "#include \"kernel.cuh\"\n// TODO 1 (about 1 line): answer stage 1\n"
    "// TODO 2 (about 1 line): answer stage 2\n";

}  // namespace

FakeCourse::FakeCourse() {
  fs::create_directories(build() / "bin");
  std::error_code error;
  fs::create_hard_link(MEMBOUND_PROGRAM, program(), error);
  if (error) fs::copy_file(MEMBOUND_PROGRAM, program());
  write("CMakePresets.json", "{}");
  write("grader/harness/student/nvcc.flags", "-fatbin\n");
  folder_.write("build/grader/harness/harness.fatbin", "the harness's kernels");
  for (const auto& [id, title] : {std::pair<std::string, std::string>("01-fake", "A fake lab"),
                                  {"03-transpose", "Transpose a matrix"}}) {
    const std::string lab = "labs/" + id + "/";
    write(lab + "lab.json", lab_json(id, title));
    write(lab + "kernel.cu", kSkeleton);
    write(lab + "kernel.cuh", "// given\n");
    write("solutions/" + id + "/kernel.cu",
          "#include \"kernel.cuh\"\nint a;  // stage 1: passed\nint b;  // stage 2: passed\n");
    write(
        "handouts/" + id + "/handout.md",
        "# The fake lab\n\nRead *this* first, and **all** of it, even where a line is much longer "
        "than eighty columns.\n\n```cpp\nint a;\n```\n\n![A picture](figures/a.svg)\n");
    folder_.script("build/labs/" + id + "/test", kTestProgram);
    folder_.write("build/labs/" + id + "/reference.fatbin", "reference");
    folder_.write("build/share/labs/" + id + "/kernel.cu", kSkeleton);
  }
  folder_.write("build/vgpu/libcudart.so.13", "");
  folder_.script("toolkit/bin/nvcc", kNvcc);
}

void FakeCourse::answer(const std::string& one, const std::string& two) const {
  write("labs/01-fake/kernel.cu",
        std::string(kSkeleton) + "// stage 1: " + one + "\n// stage 2: " + two + "\n");
}

std::string FakeCourse::read(const fs::path& file) const {
  const auto text = base::read_file(file);
  return text ? *text : "(no " + file.string() + ")";
}

std::map<std::string, std::string> FakeCourse::environment() const {
  return {{"MEMBOUND_ROOT", root().string()},
          {"MEMBOUND_TOOLKIT", (folder_.path() / "toolkit").string()},
          {"LC_ALL", "C.UTF-8"},
          {"PAGER", ""}};
}

base::ProcessOutcome FakeCourse::run(
    const std::vector<std::string>& words,
    const std::map<std::string, std::string>& more_environment) const {
  base::ProcessRequest request;
  request.arguments = {program().string()};
  request.arguments.insert(request.arguments.end(), words.begin(), words.end());
  request.environment = environment();
  for (const auto& [name, value] : more_environment) request.environment[name] = value;
  request.folder = folder_.path();
  request.timeout_seconds = 60;
  const auto outcome = base::run_process(request);
  EXPECT_TRUE(outcome);
  return outcome ? *outcome : base::ProcessOutcome{};
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::size_t width = 0;
  for (const char letter : text) {
    if (letter == '\n') width = 0;
    // Bytes 10xxxxxx continue a code point.
    else if ((static_cast<unsigned char>(letter) & 0xc0) != 0x80)
      ++width;
    widest = std::max(widest, width);
  }
  return widest;
}

}  // namespace membound::cli
