// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound watch: checks a stage whenever its file is saved. The loop over three kinds of
/// events: a saved file, a pressed key, a window of another size.
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "grader/base/result.hpp"
#include "grader/cli/checking.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/cli/screen.hpp"
#include "grader/cli/stage_standing.hpp"
#include "grader/judge/check_request.hpp"
#include "grader/report/result_text.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

/// Watches files of one folder through it (inotify).
class FileWatch {
 public:
  [[nodiscard]] static base::Result<FileWatch> on(const std::filesystem::path& folder,
                                                  const std::vector<std::string>& names);
  ~FileWatch();
  FileWatch(FileWatch&& other) noexcept;
  FileWatch& operator=(FileWatch&&) = delete;

  /// The file descriptor to wait on.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// Takes all events that have come in; true if one of them saved a file.
  [[nodiscard]] bool take_events() const;

 private:
  FileWatch(int descriptor, std::vector<std::string> names)
      : descriptor_(descriptor), names_(std::move(names)) {}
  int descriptor_;
  std::vector<std::string> names_;
};

base::Result<FileWatch> FileWatch::on(const std::filesystem::path& folder,
                                      const std::vector<std::string>& names) {
  const int descriptor = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  const bool watching = descriptor >= 0 && inotify_add_watch(descriptor, folder.c_str(),
                                                             IN_CLOSE_WRITE | IN_MOVED_TO) >= 0;
  if (!watching) {
    const std::string reason = base::reason_text(errno);
    if (descriptor >= 0) close(descriptor);
    return base::Error{base::ErrorKind::kMachine, folder.string(), "cannot be watched: " + reason,
                       "", "membound check; or raise fs.inotify.max_user_watches"};
  }
  return FileWatch(descriptor, names);
}

FileWatch::FileWatch(FileWatch&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), names_(std::move(other.names_)) {}

FileWatch::~FileWatch() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool FileWatch::take_events() const {
  bool saved = false;
  alignas(inotify_event) char buffer[4096];
  for (ssize_t size = 0; (size = read(descriptor_, buffer, sizeof buffer)) > 0;) {
    for (char* at = buffer; at < buffer + size;) {
      const auto* const event = reinterpret_cast<const inotify_event*>(at);
      saved = saved || (event->len > 0 &&
                        std::find(names_.begin(), names_.end(), event->name) != names_.end());
      at += sizeof(inotify_event) + event->len;
    }
  }
  return saved;
}

/// Editors save in several steps; what comes within this time belongs to one save.
constexpr int kSettleMs = 60;
/// A resize just before poll() is seen this much later.
constexpr int kLookAtSizeMs = 500;

/// A key and what it does, in the order in which the last row names them.
struct Key {
  char key;
  std::string_view word;
};
constexpr Key kKeys[] = {{'n', "next"},      {'p', "previous"}, {'h', "hint"}, {'l', "list"},
                         {'c', "check all"}, {'r', "again"},    {'q', "quit"}};

class Watcher {
 public:
  Watcher(const Context& context, const judge::CheckOptions& options, const course::Lab& lab,
          int stage, const judge::Tools& tools, FileWatch file)
      : context_(context),
        options_(options),
        lab_(&lab),
        stage_(stage),
        tools_(tools),
        stop_(catch_interrupts()),
        style_(context.out) {
    file_.emplace(std::move(file));
    if (on_screen()) catch_resizes();
  }

  int run() {
    if (on_screen()) print("\033[2J");
    visit();
    while (!stop_->load() && !done_) wait();
    if (keyboard_.is_terminal()) print("\n");
    return stop_->load() ? kExitInterrupted : kExitPassed;
  }

 private:
  using Page = std::function<std::string(const report::Style&)>;

  static void print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }
  /// Else pages follow each other as plain text.
  [[nodiscard]] bool on_screen() const {
    return context_.out_is_terminal && keyboard_.is_terminal();
  }
  [[nodiscard]] std::string place() const { return lab_->id + "/" + std::to_string(stage_); }
  [[nodiscard]] const Standing standing() const {
    return standings_of(context_, *lab_)[static_cast<std::size_t>(stage_ - 1)];
  }

  void wait() {
    pollfd entries[] = {{file_->descriptor(), POLLIN, 0}, {keyboard_.descriptor(), POLLIN, 0}};
    const int ready = poll(entries, 2, on_screen() ? kLookAtSizeMs : -1);
    if (resized()) draw();
    if (ready <= 0) return;  // a signal, or nothing
    if ((entries[0].revents & POLLIN) != 0) {
      bool saved = file_->take_events();
      while (poll(entries, 1, kSettleMs) > 0) saved = file_->take_events() || saved;
      if (saved) visit();
    }
    if ((entries[1].revents & (POLLIN | POLLHUP)) != 0) press(keyboard_.read_key());
  }

  void press(char key) {
    switch (key) {
      case 'n':
        go(+1);
        break;
      case 'p':
        go(-1);
        break;
      case 'h':
        hint();
        break;
      case 'l':
        show([this](const report::Style&) { return lab_listing(context_, *lab_); });
        break;
      case 'c':
        check(all_stages());
        break;
      case 'r':
        check({stage_});
        break;
      case ' ':
        turn_page();
        break;
      case 'q':
      case '\0':  // the terminal is gone
        done_ = true;
        break;
      default:
        draw();
    }
  }

  /// To a stage before or after this one. The lab stays: its file is the one that is open
  /// elsewhere.
  void go(int step) {
    if (lab_->stage(stage_ + step) != nullptr) {
      stage_ += step;
      visit();
      return;
    }
    const std::vector<course::Lab>& labs = context_.course.labs;
    const auto at = lab_ - labs.data() + step;
    std::string text = std::string("This is the ") + (step > 0 ? "last" : "first") + " stage of " +
                       lab_->id + ".\n";
    if (at >= 0 && at < static_cast<std::ptrdiff_t>(labs.size()))
      text += std::string(step > 0 ? "The next lab" : "The lab before it") +
              ": q, then ./membound watch " + labs[static_cast<std::size_t>(at)].id + "\n";
    show([text](const report::Style&) { return text; });
  }

  void hint() {
    const auto text = hint_text(context_, *lab_, *lab_->stage(stage_));
    if (!text) return show_error(text.error());
    show([hint = *text](const report::Style&) { return hint; });
  }

  [[nodiscard]] std::vector<int> all_stages() const {
    std::vector<int> numbers;
    for (const course::Stage& stage : lab_->stages) numbers.push_back(stage.number);
    return numbers;
  }

  /// Checks the stage, or says what to do where its skeleton is untouched; goes on from each stage
  /// that has passed for the first time.
  void visit() {
    std::string passed;
    for (;;) {
      const Standing before = standing();
      if (!before.started && !before.passed()) {
        show([this, passed](const report::Style& style) { return passed + to_begin(style); });
        return;
      }
      if (!check({stage_}, passed) || before.passed() || !standing().passed()) return;
      passed += style_.sign(report::Tone::kGood) + " " + place() + " passed\n" + changes_;
      if (lab_->stage(stage_ + 1) == nullptr) return;
      ++stage_;
    }
  }

  /// The page of a stage that is not begun.
  [[nodiscard]] std::string to_begin(const report::Style& style) const {
    const course::Stage& stage = *lab_->stage(stage_);
    return style.sign(report::Tone::kFaint) + " " +
           style.paint(place() + ", " + stage.title, report::Tone::kStrong) + ": " +
           report::kNotStarted + "\n\n" + stage_advice(context_, *lab_, stage) +
           "\nIt is checked when you save.\n";
  }

  /// True where there is a result; it is on the screen then, below `passed`.
  bool check(const std::vector<int>& stages, const std::string& passed = "") {
    draw("checking " + place());
    const std::vector<course::Selection> selections = {{lab_, stages}};
    const LastChecks last_checks(context_, selections);
    bool any = false;
    const auto checked = check_labs(
        context_, tools_, options_, selections, stop_, [&](const course::Result& result) {
          any = true;
          changes_ = last_checks.changes(result, style_);
          show([this, result = with_own_warnings(context_, *lab_, result), changes = changes_,
                passed](const report::Style& style) {
            return passed +
                   (result.stages.size() == 1
                        ? report::render_one(result, style, read_source)
                        : report::render(result, style, untouched_stages(context_, *lab_),
                                         read_source, whole_lab(context_, *lab_))) +
                   changes;
          });
        });
    if (!checked) show_error(checked.error());
    return any && !stop_->load();
  }

  void show_error(const base::Error& error) {
    show([text = base::to_string(error)](const report::Style&) { return text + "\n"; });
  }

  void show(Page page) {
    page_ = std::move(page);
    first_ = 0;
    draw();
  }

  void turn_page() {
    const auto lines = std::count(text_.begin(), text_.end(), '\n');
    const int room = rows_for_text(ScreenSize::now());
    first_ = first_ + room < lines ? first_ + room : 0;
    draw();
  }

  /// The page as it is, with `doing` in the place of the keys where something is being done.
  void draw(const std::string& doing = "") {
    if (!on_screen()) {
      if (doing.empty() && page_)
        print(page_(style_) + "waiting for changes of " + watched() + "\n");
      return;
    }
    style_ = report::Style::for_stream(STDOUT_FILENO);
    text_ = page_ ? with_long_lines_wrapped(page_(style_), ScreenSize::now().columns) : "";
    print(over_the_last(
        screen_page(text_, style_.paint(doing.empty() ? keys() : doing, report::Tone::kFaint),
                    first_, ScreenSize::now())));
  }

  [[nodiscard]] std::string watched() const {
    std::string names = context_.kernel_of(*lab_).string();
    for (const std::string& file : lab_->files_beside()) names += " and " + file;
    return names;
  }

  [[nodiscard]] std::string keys() const {
    const std::string number = lab_->id.substr(0, lab_->id.find('-'));
    std::string row = number + "/" + std::to_string(stage_), letters = row;
    for (const Key& key : kKeys) {
      row += std::string("  ") + key.key + " " + std::string(key.word);
      letters += std::string(" ") + key.key;
    }
    return static_cast<int>(row.size()) <= ScreenSize::now().columns ? row : letters;
  }

  const Context& context_;
  const judge::CheckOptions& options_;
  const course::Lab* lab_;
  int stage_;
  const judge::Tools& tools_;
  std::optional<FileWatch> file_;
  const std::atomic<bool>* stop_;
  Keyboard keyboard_;
  report::Style style_;
  Page page_;
  std::string changes_;  ///< since the check before the last one, and what was predicted
  std::string text_;     ///< of the page that is shown
  int first_ = 0;        ///< its first row that is shown
  bool done_ = false;
};

}  // namespace

int watch_stage(const Context& context, const judge::CheckOptions& options, const course::Lab& lab,
                int stage) {
  const auto tools = chosen_tools(context.place, options);
  if (!tools) return report_error(tools.error());
  auto file = FileWatch::on(lab.folder, lab.files);
  if (!file) return report_error(file.error());
  return Watcher(context, options, lab, stage, *tools, *std::move(file)).run();
}

namespace {

struct WatchOptions : judge::CheckOptions {
  std::string lab;
};

int run_watch(const WatchOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const course::Lab* lab = &current_lab(*context);
  int stage = 0;
  if (!options.lab.empty()) {
    const auto selection = course::select(context->course, options.lab);
    if (!selection) return report_error(selection.error());
    lab = selection->lab;
    if (options.lab.find('/') != std::string::npos) stage = selection->stages.front();
  }
  if (stage == 0) stage = current_stage(*context, *lab);
  return watch_stage(*context, options, *lab, stage);
}

}  // namespace

void add_watch(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<WatchOptions>();
  CLI::App* const command = app.add_subcommand("watch", "");
  command->add_option("LAB", options->lab);
  add_check_options(*command, *options);
  command->callback([options, &chosen] { chosen = [options] { return run_watch(*options); }; });
}

}  // namespace membound::cli
