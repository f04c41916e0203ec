// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <sstream>

#include "docs/site/site.hpp"
#include "grader/base/files.hpp"
#include "grader/base/result.hpp"
#include "grader/report/svg.hpp"
#include "grader/report/text.hpp"

namespace membound::site {
namespace {

using report::escaped;

constexpr const char* kPitch =
    R"(<h1 class="pitch">Write CUDA kernels that are as fast as the memory allows, and see why they are.</h1>
<p>A lab course that grades itself. You finish a kernel; one command tells whether it is right, how its speed compares
with the reference answer's on the same device, and which line to change. Without an NVIDIA GPU the same programs run on
a virtual one, which executes the compiler's PTX and counts what a profiler counts.</p>
)";

/// The picture, and what holds it still.
constexpr const char* kBeforePicture =
    R"(<figure class="moving" tabindex="0"><label class="still"><input type="checkbox" id="still"> Hold the picture still</label>
)";
constexpr const char* kAfterPicture =
    R"(<figcaption>Both bring 128 bytes to 32 lanes, or away from them; one touches eight times as many sectors as the other.
The labs are about such differences. Made by <code>membound dev figure</code> from a run on the virtual GPU.</figcaption></figure>
)";

constexpr const char* kStart =
    R"(<pre><code>git clone <span class="comment">ADDRESS</span> membound &amp;&amp; cd membound  <span class="comment"># Linux, also in WSL</span>
./membound start                           <span class="comment"># your first kernel, step by step</span>
./membound watch reverse                   <span class="comment"># lab 01: checks each time you save</span></code></pre>
)";

constexpr const char* kAble =
    R"(<h2 id="able">What you will be able to do</h2>
<ul>
<li>say how many sectors and wavefronts a line of a kernel costs, before you run it;</li>
<li>make the accesses of a warp coalesced, and shared memory free of bank conflicts;</li>
<li>keep enough bytes in flight to reach the bandwidth of the device;</li>
<li>reduce, transpose and tile at the speed of a copy or of the arithmetic;</li>
<li>find a race, a missing barrier and an access out of bounds by their line.</li>
</ul>
)";

constexpr const char* kRest = R"(<h2 id="story">The story they tell</h2>
<p>The labs follow four texts on CUDA, and put figures of ours beside theirs, on today's GPUs. A table of the course has a
row for everything that the texts hold, with its place in a handout, or a sentence why it has none.</p>
<div class="table" tabindex="0"><table>
<thead><tr><th>text</th><th>told in labs</th></tr></thead>
<tbody>
<tr><td>Kenzel, Kerbl, Winter and Steinberger: a CUDA tutorial</td><td>00, 02, 04, 05, 07, 08, 10, 11, 12, 13</td></tr>
<tr><td>Reguly: memory optimisations</td><td>02, 03, 05, 08, 09, 14</td></tr>
<tr><td>CS6963, lecture 8: alignment and bank conflicts</td><td>01, 02, 05</td></tr>
<tr><td>Programming Parallel Computers, chapter 4</td><td>06</td></tr>
</tbody></table></div>
<h2 id="syllabi">Syllabi</h2>
<ul>
<li><strong>An afternoon</strong>, four hours: 00 to its third stage, 01 to its second, 03 to its fourth.</li>
<li><strong>Six weeks</strong> on memory, and <strong>twelve</strong> with every lab: <a href="course_at_a_glance.html">the
course at a glance</a> has their hours and marks. Minutes for every stage, common mistakes and a question to discuss stand in
the instructors' notes.</li>
</ul>
<h2 id="look-up">To look something up</h2>
<ul>
<li><a href="command_membound.html">Commands</a>: what each does, its options</li>
<li><a href="glossary.html">Glossary</a>: each word with one meaning</li>
<li><a href="reference_counters.html">Counters</a>: what is counted, and how far it can be trusted</li>
<li><a href="reference_machines.html">GPUs</a>: every one that is imitated, each number with its source</li>
</ul>
<h2 id="teach">If you teach</h2>
<ul>
<li><a href="grading.html">Grading a class</a>, <a href="releasing.html">handing the course out</a>,
<a href="security.html">security</a></li>
<li><a href="writing_a_lab.html">Writing a lab</a></li>
</ul>
<h2 id="inside">If you look inside</h2>
<p>The second part of this site is the <a href="manual.html">developers' manual</a>: architecture, recipes, what was
measured, and the reference of the code.</p>
)";

std::string lab_html(const course::Lab& lab) {
  const std::string handout = page_name("handout", lab.id) + ".html";
  std::string html = "<li class=\"lab\"><h3><span class=\"number\">" + lab.id.substr(0, 2) +
                     "</span> <a href=\"" + handout + "\">" + escaped(lab.title) +
                     "</a></h3>\n<p>" + escaped(lab.summary) + "</p>\n<ol class=\"stages\">";
  for (const course::Stage& stage : lab.stages)
    html += "<li>" + escaped(stage.title) + " <span class=\"points\">" +
            report::points(stage.points) + " points</span></li>";
  return html + "</ol>\n<p class=\"leads\"><a href=\"" + handout + "\">Handout</a> <a href=\"" +
         page_name("lab", lab.id) + ".html\">Task</a> <code>./membound check " +
         lab.id.substr(0, 2) + "</code></p></li>\n";
}

/// What `membound check` printed, with its signs in their colours.
std::string check_html(const std::string& said) {
  std::string html =
      "<h2 id=\"check\">What a check says</h2>\n<p>This kernel's result is right, and its blocks "
      "have the wrong shape (stage 2 of lab 03):</p>\n<pre class=\"terminal\">";
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    const bool bad = line.find("✗") != line.npos || line.find("failed:") != line.npos;
    const bool next = line.starts_with("Next:") || line.find("try:") != line.npos;
    const std::string look = bad ? "bad" : next ? "good" : "";
    html += look.empty() ? escaped(line) : "<b class=\"" + look + "\">" + escaped(line) + "</b>";
    html += "\n";
  }
  return html + "</pre>\n";
}

/// How many labs and stages there are, and how long they take.
std::string amount_html(const course::Course& course) {
  std::size_t stages = 0;
  for (const course::Lab& lab : course.labs) stages += lab.stages.size();
  return "<p class=\"amount\"><b>" + std::to_string(course.labs.size()) + "</b> labs, <b>" +
         std::to_string(stages) +
         "</b> stages. A lab takes <b>1½ to 3 hours</b>, lab 06 five. All of them " +
         "take about a term, with a lab a week.</p>\n";
}

std::string item(const std::string& page, const std::string& words, const std::string& current) {
  const auto place = std::min(page.find('#'), page.size());
  return "<li><a href=\"" + page.substr(0, place) + ".html" + page.substr(place) + "\"" +
         (page == current ? " aria-current=\"page\"" : "") + ">" + words + "</a>";
}

/// Doxygen's page of a namespace or a type.
bool has_short_list(const std::string& page) {
  return page.starts_with("namespacem") || page.starts_with("class") ||
         page.starts_with("struct") || page.starts_with("union");
}

std::string course_items(const course::Course& course, const std::string& page) {
  std::string html = item("index", "First page", page) + "</li>\n";
  for (const course::Lab& lab : course.labs) {
    const std::string handout = page_name("handout", lab.id), task = page_name("lab", lab.id);
    html += item(handout, "<b>" + lab.id.substr(0, 2) + "</b> " + escaped(lab.title), page);
    if (page == handout || page == task)
      html += "<ol>" + item(task, "The task", page) + "</li></ol>";
    html += "</li>\n";
  }
  for (const auto& [name, words] :
       {std::pair("command_membound", "Commands"), std::pair("glossary", "Glossary"),
        std::pair("reference_counters", "Counters"), std::pair("reference_machines", "GPUs"),
        std::pair("course_at_a_glance", "The course at a glance"),
        std::pair("grading", "Grading a class"), std::pair("releasing", "Handing the course out"),
        std::pair("writing_a_lab", "Writing a lab"), std::pair("manual", "Developers' manual"),
        std::pair("namespaces", "Code")})
    html += item(name, words, page) + "</li>\n";
  return html;
}

}  // namespace

base::Result<std::string> course_page(const course::Course& course) {
  const auto picture = base::read_file(course.root / "docs/site/warp.svg");
  if (!picture) return picture.error();
  const auto said = base::read_file(course.root / "docs/site/check.txt");
  if (!said) return said.error();
  std::string html = std::string("<div class=\"columns\"><div class=\"reading front\">\n") +
                     kPitch + kStart + amount_html(course) + kBeforePicture +
                     picture->substr(picture->find("<svg")) + kAfterPicture + kAble +
                     check_html(*said) +
                     "<h2 id=\"labs\">The labs, in their order</h2>\n<ol class=\"labs\">\n";
  for (const course::Lab& lab : course.labs) html += lab_html(lab);
  return html + "</ol>\n" + kRest + "</div></div>\n";
}

std::string course_list(const course::Course& course, const std::string& page) {
  // A thousand pages are of the code, and the labs would fill half of each: a script brings them.
  const std::string items = has_short_list(page)
                                ? item("index#labs", "The labs", page) + "</li>\n" +
                                      item("manual", "Developers' manual", page) + "</li>\n" +
                                      item("namespaces", "Code", page) + "</li>"
                                : course_items(course, page);
  return "<nav class=\"course\" aria-label=\"The course\"><details open><summary>The "
         "course</summary>\n<ol" +
         std::string(has_short_list(page) ? " data-whole=\"course_list.js\"" : "") + ">" + items +
         "</ol></details></nav>\n";
}

std::string course_list_script(const course::Course& course) {
  return "window.membound_course = " + nlohmann::json(course_items(course, "")).dump() + ";\n";
}

}  // namespace membound::site
