// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// The search field of the documentation site. All of it works from files: the
// index is a script beside the pages (made by `membound_site finish`), loaded when the field is first used.
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

// How well an entry [address, title, heading, text] fits the words; 0 = not at all.
function score([address, title, heading, text], words) {
  let sum = 0;
  for (const word of words) {
    const places = [title, heading, text].map(part => part.toLowerCase().indexOf(word));
    if (places.every(place => place < 0)) return 0;
    sum += (places[0] >= 0 ? 6 : 0) + (places[1] >= 0 ? 9 : 0) + (places[2] >= 0 ? 2 : 0);
  }
  return sum + (/^(handout|lab|command|glossary)/.test(address) ? 4 : 0);
}

function excerpt(text, words) {
  const at = Math.max(0, text.toLowerCase().indexOf(words[0]));
  const from = Math.max(0, at - around);
  return (from > 0 ? '… ' : '') + text.slice(from, at + around) + (at + around < text.length ? ' …' : '');
}

function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter(word => word.length > 1);
  found.hidden = words.length === 0;
  found.replaceChildren();
  if (words.length === 0 || !window.membound_index) return;
  const hits = window.membound_index.map(entry => [score(entry, words), entry])
    .filter(([points]) => points > 0).sort((a, b) => b[0] - a[0]);
  const count = document.createElement('p');
  count.textContent = hits.length === 0 ? 'Nothing found.' :
    hits.length === 1 ? 'One place.' : `${hits.length} places` + (hits.length > most ? `, the best ${most}:` : ':');
  found.append(count);
  for (const [, [address, title, heading, text]] of hits.slice(0, most)) {
    const link = document.createElement('a');
    link.href = address;
    const name = document.createElement('strong');
    name.textContent = heading ? `${title}: ${heading}` : title;
    const words_around = document.createElement('span');
    words_around.textContent = excerpt(text, words);
    link.append(name, words_around);
    found.append(link);
  }
}

function move(step) {
  const links = [...found.querySelectorAll('a')];
  const next = links.indexOf(document.activeElement) + step;
  (links[next] || field).focus();
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
