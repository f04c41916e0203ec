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

constexpr const char* kRest = R"(<h2 id="look-up">To look something up</h2>
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
         page_name("lab", lab.id) + ".html\">Task</a> <code>./membound check " + lab.id +
         "</code></p></li>\n";
}

}  // namespace

std::string course_page(const course::Course& course) {
  std::string html = std::string("<div class=\"columns\"><div class=\"reading\">\n") + kWelcome +
                     "<ol class=\"labs\">\n";
  for (const course::Lab& lab : course.labs) html += lab_html(lab);
  return html + "</ol>\n" + kRest + "</div></div>\n";
}

}  // namespace membound::site
