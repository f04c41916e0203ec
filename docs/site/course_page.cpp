// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "docs/site/site.hpp"
#include "grader/report/svg.hpp"
#include "grader/report/text.hpp"

namespace membound::site {
namespace {

using report::escaped;

constexpr const char* kWelcome =
    R"(<p>A CUDA lab course that grades itself. You finish a kernel; one command tells whether it is right, how
its bandwidth compares with the reference answer's on the same device, and what to do next. Without an NVIDIA
GPU the same programs run on a virtual one, which executes the compiler's PTX and counts what a profiler counts.</p>
<pre><code>./membound list            <span class="comment"># the labs, their stages, how far you are</span>
./membound check reverse   <span class="comment"># checks lab 01; the first call builds what it needs</span>
./membound watch reverse   <span class="comment"># checks each time you save</span></code></pre>
<h2 id="labs">The labs, in their order</h2>
)";

constexpr const char* kRest = R"(<h2 id="story">The story they tell</h2>
<p>The labs follow four texts on CUDA, and put figures of ours beside theirs, on today's GPUs.</p>
<div class="table" tabindex="0"><table>
<thead><tr><th>text</th><th>told in labs</th><th>not told yet</th></tr></thead>
<tbody>
<tr><td>Kenzel, Kerbl, Winter and Steinberger: a CUDA tutorial</td><td>00, 02, 04, 05, 08, 12</td><td>constant memory and
textures, warp primitives, scan and sort, the debugging tools</td></tr>
<tr><td>Reguly: memory optimisations</td><td>02, 03, 05, 08, 09</td><td>matrix operations, operations per byte</td></tr>
<tr><td>CS6963, lecture 8: alignment and bank conflicts</td><td>01, 02, 05</td><td>nothing</td></tr>
<tr><td>Programming Parallel Computers, chapter 4</td><td>06</td><td>nothing</td></tr>
</tbody></table></div>
<h2 id="syllabi">Syllabi</h2>
<ul>
<li><strong>An afternoon</strong>, four hours: 00 to its third stage, 01 to its second, 03 to its fourth.</li>
<li><strong>Four weeks on memory</strong>, a lab of two hours or less twice a week: 00 and 01; 02 and 03; 05 and 08; 09 and 04.</li>
<li><strong>A term</strong>, a lab a week: all ten in their order, two weeks for 03, 04 and 06, and a write-up at the end of
each. Minutes for every stage, common mistakes and a question to discuss stand in the instructors' notes.</li>
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

}  // namespace

std::string course_page(const course::Course& course) {
  std::string html = std::string("<div class=\"columns\"><div class=\"reading\">\n") + kWelcome +
                     "<ol class=\"labs\">\n";
  for (const course::Lab& lab : course.labs) html += lab_html(lab);
  return html + "</ol>\n" + kRest + "</div></div>\n";
}

}  // namespace membound::site
