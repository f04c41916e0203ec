// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Makes a class that handed in a lab: honest answers of every quality in every layout, and beside
/// them empty, huge, doubled, misnamed and hostile submissions.
///
///   make_class LAB_SOLUTION_FOLDER OUT STUDENTS LAYOUT [clean] [SEED]
///
/// LAYOUT is plain, canvas, moodle, gradescope, github, or all: a fifth of the class in each, below
/// OUT/submissions/<layout>. Writes OUT/submissions, OUT/roster.csv
/// and OUT/honest.txt, the ids of honest students. With `clean` the others are left out, and the
/// honest ones are byte for byte the same.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "grader/authoring/wrong_answer.hpp"
#include "grader/base/result.hpp"
#include "grader/tests/classroom/intake/archive_maker.hpp"

namespace {

namespace fs = std::filesystem;
using membound::intake::Made;
using membound::intake::make_archive;

std::string read_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_text(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

const std::vector<std::string> kFirst = {"Jane",
                                         "Zo\xc3\xab",
                                         "\xe5\xad\xa6",
                                         "Bj\xc3\xb6rn",
                                         "Li",
                                         "Ana",
                                         "\xd0\x98\xd0\xb2\xd0\xb0\xd0\xbd",
                                         "O'Neil"};
const std::vector<std::string> kLast = {"Doe",
                                        "M\xc3\xbcller",
                                        "\xe7\x8e\x8b",
                                        "Roe",
                                        "D'Arcy",
                                        "Nu\xc3\xb1"
                                        "ez",
                                        "=SUM(A1)",
                                        "van der Berg"};

struct Student {
  int number = 0;
  std::string id, name, email;
  bool honest = true;
};

/// Puts one student's files where the layout wants them.
class Writer {
 public:
  Writer(fs::path folder, std::string layout) : folder_(std::move(folder)), layout_(layout) {
    if (layout_ == "gradescope") folder_ /= "assignment_77_export";
  }

  /// The folder of the student, or the beginning of a file's name.
  [[nodiscard]] fs::path place(const Student& one, const std::string& file) const {
    const std::string number = std::to_string(one.number);
    if (layout_ == "canvas")
      return folder_ / ("student" + number + "_" + one.id + "_" +
                        std::to_string(9000 + one.number) + "_" + file);
    if (layout_ == "moodle")
      return folder_ / (without_slash(one.name) + "_" + one.id + "_assignsubmission_file_") / file;
    if (layout_ == "gradescope") return folder_ / ("submission_" + number) / file;
    if (layout_ == "github") return folder_ / ("lab-" + one.id) / file;
    return folder_ / one.id / file;
  }

  void file(const Student& one, const std::string& name, const std::string& text) {
    write_text(place(one, name), text);
    if (layout_ == "github") write_text(place(one, ".git") / "HEAD", "ref: refs/heads/main\n");
    note(one);
  }
  void special(const Student& one, const std::string& kind) {
    const fs::path file = place(one, "kernel.cu");
    fs::create_directories(file.parent_path());
    if (kind == "link") fs::create_symlink("/etc/passwd", file);
    if (kind == "pipe") mkfifo(file.c_str(), 0644);
    note(one);
  }
  void finish() const {
    if (layout_ == "gradescope") write_text(folder_ / "submission_metadata.yml", metadata_);
  }

 private:
  static std::string without_slash(std::string name) {
    std::replace(name.begin(), name.end(), '/', '-');
    return name;
  }
  void note(const Student& one) {
    if (layout_ != "gradescope") return;
    metadata_ += "submission_" + std::to_string(one.number) + ":\n  :submitters:\n  - :name: \"" +
                 one.name + "\"\n    :sid: '" + one.id + "'\n    :email: " + one.email +
                 "\n  :created_at: 2026-11-20 10:00:00 +0000\n";
  }

  fs::path folder_;
  std::string layout_, metadata_;
};

class Maker {
 public:
  Maker(const fs::path& solution, const fs::path& out, const std::string& layout, unsigned seed)
      : random_(seed) {
    if (layout != "all") {
      writers_.emplace_back(out / "submissions", layout);
    } else {
      for (const char* one : {"plain", "canvas", "moodle", "gradescope", "github"})
        writers_.emplace_back(out / "submissions" / one, one);
    }
    right_ = read_text(solution / "kernel.cu");
    const auto answers = membound::authoring::read_wrong_answers(solution);
    MEMBOUND_CHECK(answers.ok());
    for (const membound::authoring::WrongAnswer& answer : *answers)
      // One that never ends costs a minute each; a class has a few, not a tenth.
      if (answer.name.find("for-ever") == std::string::npos) wrong_.push_back(answer.text);
  }

  /// Every tenth is hostile. The draws are the same whether they are written or not.
  std::vector<Student> make(int students, bool clean) {
    std::vector<Student> all;
    for (int number = 0; number < students; ++number) {
      Student one;
      one.number = number;
      one.id = std::to_string(100000 + number * 7);
      one.name = kFirst[draw(kFirst.size())] + " " + kLast[draw(kLast.size())];
      one.email = "s" + std::to_string(number) + "@example.org";
      one.honest = number % 10 != 9;
      const std::size_t kind = draw(100);
      // Hostile ones of every kind come to every layout, in a class that is large enough.
      writer_ = &writers_[static_cast<std::size_t>(number + number / 10) % writers_.size()];
      if (one.honest)
        honest(one, kind);
      else if (!clean)
        hostile(one, number / 10);
      all.push_back(one);
    }
    for (const Writer& writer : writers_) writer.finish();
    return all;
  }

 private:
  std::size_t draw(std::size_t below) { return random_() % below; }

  void honest(const Student& one, std::size_t kind) {
    const std::string mark = "\n// handed in by " + one.id + "\n";
    const std::string text = kind < 55   ? right_ + mark
                             : kind < 70 ? right_  // copied: all the same
                             : kind < 97 ? wrong_[draw(wrong_.size())] + mark
                                         : "";  // an empty file
    const std::size_t form = kind % 5;
    if (form == 1)
      writer_->file(
          one, "lab.zip",
          make_archive("zip", {{"work/kernel.cu", text}, {"__MACOSX/work/._kernel.cu", "x"}}));
    else if (form == 2)
      writer_->file(one, "lab.tar.gz", make_archive("tar.gz", {{"./kernel.cu", text}}));
    else
      writer_->file(one, "kernel.cu", text);
  }

  void hostile(const Student& one, int which) {
    const auto archive = [&](const std::string& kind, const std::vector<Made>& members) {
      writer_->file(one, "lab." + kind, make_archive(kind, members));
    };
    switch (which % 15) {
      case 0:
        return writer_->special(one, "link");
      case 1:
        return writer_->special(one, "pipe");
      case 2:
        return archive("tar", {{.path = "kernel.cu", .type = AE_IFLNK, .link = "/etc/shadow"}});
      case 3:
        return archive("zip", {{"../100000/kernel.cu", right_}});
      case 4:
        return archive("tar.gz", {{"kernel.cu", right_}, {"zeros", std::string(64 << 20, '\0')}});
      case 5: {
        std::vector<Made> many;
        for (int i = 0; i < 6000; ++i) many.push_back({"f" + std::to_string(i), "x"});
        return archive("zip", many);
      }
      case 6:
        return writer_->file(one, "lab.zip", "PK\x03\x04 damaged");
      case 7:
        return archive("zip", {{"kernel.cu", right_}, {"Kernel.cu", right_ + "// two\n"}});
      case 8:
        return writer_->file(one, "kernel.cu", "#include \"/etc/passwd\"\n" + right_);
      case 9:
        return writer_->file(one, "kernel.cu", right_ + std::string(3 << 20, ' '));
      case 10:
        return writer_->file(one, "kernel.cu", "#include \"kernel.cu\"\n");
      case 11:
        return archive("tar", {{"/tmp/kernel.cu", right_}});
      case 12:
        return writer_->file(one, "kernel.cu", std::string(200000, '('));
      case 13:
        return writer_->file(one, "essay\x1b[2J.txt", "nothing");
      default:
        return writer_->file(one, "kernel.cu", std::string("\0\xff\xfe", 3) + right_);
    }
  }

  std::vector<Writer> writers_;
  Writer* writer_ = nullptr;
  std::mt19937 random_;
  std::string right_;
  std::vector<std::string> wrong_;  // whole kernel.cu files
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "make_class SOLUTION OUT STUDENTS LAYOUT [clean] [SEED]\n");
    return 2;
  }
  const fs::path out = argv[2];
  const bool clean = argc > 5 && std::string(argv[5]) == "clean";
  const unsigned seed = argc > 6 ? static_cast<unsigned>(std::atoi(argv[6])) : 20261121U;
  const auto students = Maker(argv[1], out, argv[4], seed).make(std::atoi(argv[3]), clean);
  std::string roster = "id,name,email\n", honest;
  for (const Student& one : students) {
    roster += one.id + ",\"" + one.name + "\"," + one.email + "\n";
    if (one.honest) honest += one.id + "\n";
  }
  write_text(out / "roster.csv", roster);
  write_text(out / "honest.txt", honest);
  return 0;
}
