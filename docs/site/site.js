// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// The search field of the documentation site, and the list of the course beside pages of the code. All of it works from
// files: the index is a script beside the pages (made by `membound_site finish`), loaded when the field is first used.
'use strict';

const field = document.getElementById('search');
const found = document.getElementById('found');
const most = 12;  // results shown
const around = 70;  // characters of text on either side of what was found

function loadIndex() {
  if (document.getElementById('search-index')) return;
  const script = document.createElement('script');
  script.id = 'search-index';
  script.src = 'search_index.js';
  script.onload = show;
  document.head.append(script);
}

// Whose page an entry is on: the course before what instructors and developers read, the code last.
const course = /^(index|handout|lab|command|glossary)/, code = /^(namespace|class|struct|union|concept)/;
function rank(address) {
  return course.test(address) ? 0 : code.test(address) ? 2 : 1;
}

// How well an entry [address, title, heading, text] fits the words; 0 = not at all.
function score([address, title, heading, text], words) {
  let sum = 0;
  for (const word of words) {
    const places = [title, heading, text].map(part => part.toLowerCase().indexOf(word));
    if (places.every(place => place < 0)) return 0;
    sum += (places[0] >= 0 ? 6 : 0) + (places[1] >= 0 ? 9 : 0) + (places[2] >= 0 ? 2 : 0);
  }
  return sum + (/^handout/.test(address) ? 3 : 0);
}

// The text around what was found, from the beginning of a word to the end of one.
function excerpt(text, words) {
  const at = Math.max(0, text.toLowerCase().indexOf(words[0]));
  let from = Math.max(0, at - around), to = Math.min(text.length, at + around);
  if (from > 0) from = text.indexOf(' ', from) + 1;
  if (to < text.length) to = Math.max(text.lastIndexOf(' ', to), at + words[0].length);
  return (from > 0 ? '… ' : '') + text.slice(from, to) + (to < text.length ? ' …' : '');
}

// Pages that are known for what was typed, also by other words than the course's.
function known(typed) {
  const seen = new Set();
  return window.membound_keywords.filter(([address, , word]) => {
    const fits = typed.includes(word) || (2 * typed.length > word.length && word.startsWith(typed));
    return fits && !seen.has(address) && seen.add(address);
  });
}

function add(address, title, text) {
  const link = document.createElement('a'), name = document.createElement('strong'), more = document.createElement('span');
  link.href = address;
  name.textContent = title;
  more.textContent = text;
  link.append(name, more);
  found.append(link);
}

function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter(word => word.length > 1);
  found.hidden = words.length === 0;
  found.replaceChildren();
  if (words.length === 0 || !window.membound_index) return;
  const first = known(words.join(' '));
  const hits = window.membound_index.map(entry => [score(entry, words), entry]).filter(([points]) => points > 0)
    .sort(([a, one], [b, other]) => rank(one[0]) - rank(other[0]) || b - a);
  const all = first.length + hits.length;
  const count = document.createElement('p');
  count.textContent = all === 0 ? 'Nothing found. The glossary and the list of labs have the words that the course uses.' :
    all === 1 ? 'One place.' : `${all} places` + (all > most ? `, the best ${most}:` : ':');
  found.append(count);
  for (const [address, title, , note] of first) add(address, title, note || 'The lab or page about it.');
  for (const [, [address, title, heading, text]] of hits.slice(0, most - first.length))
    add(address, heading ? `${title}: ${heading}` : title, excerpt(text, words));
}

function move(step) {
  const links = [...found.querySelectorAll('a')];
  const next = links.indexOf(document.activeElement) + step;
  (links[next] || field).focus();
}

// Where the page has a short list, the whole one is a script beside the pages, too.
const short = document.querySelector('.course ol[data-whole]');
if (short) {
  const script = document.createElement('script');
  script.src = short.dataset.whole;
  script.onload = () => {
    short.innerHTML = window.membound_course;
    short.removeAttribute('data-whole');
    short.querySelector('a[href="namespaces.html"]').setAttribute('aria-current', 'true');
  };
  document.head.append(script);
}

field.addEventListener('focus', loadIndex);
field.addEventListener('input', show);
field.form.addEventListener('submit', event => {
  event.preventDefault();
  const first = found.querySelector('a');
  if (first) location.href = first.href;
});
document.addEventListener('keydown', event => {
  const searching = event.target === field || found.contains(event.target);
  if (event.key === '/' && !event.target.closest('input, textarea')) {
    event.preventDefault();
    field.focus();
  } else if (searching && event.key === 'Escape') {
    field.value = '';
    show();
  } else if (searching && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
    event.preventDefault();
    move(event.key === 'ArrowDown' ? 1 : -1);
  }
});
