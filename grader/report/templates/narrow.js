// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// What a page of text needs on a narrow screen: the course site and pages that stand alone have it.

// What is wider than the page scrolls; a keyboard reaches it only if it can have the focus.
// A word above it says that there is more.
const wide = 'pre, .table, .wide, figure, .memproto, div.fragment, .markdownTable, .doxtable, .fieldtable, .memberdecls';
function cueWide() {
  for (const box of document.querySelectorAll(wide)) {
    const cued = box.previousElementSibling?.className === 'cue' ? box.previousElementSibling : null;
    if (box.scrollWidth <= box.clientWidth + 1) {
      if (cued) box.removeAttribute('tabindex');
      cued?.remove();
      continue;
    }
    box.tabIndex = 0;
    if (cued || box.closest('.found, summary') || box.parentElement.closest('.table, .wide, figure')) continue;
    const cue = document.createElement('p');
    cue.className = 'cue';
    cue.ariaHidden = 'true';
    cue.textContent = 'more to the right →';
    box.before(cue);
  }
}
cueWide();
addEventListener('resize', cueWide);  // a window made narrow, a telephone that is turned

// Lists of the course and of headings start closed where they would push the text off the screen.
if (window.matchMedia('(max-width: 70rem)').matches)
  for (const list of document.querySelectorAll('nav.contents details, nav.course details')) list.open = false;

// Whoever is led to a place in a fold sees it.
function unfold() {
  const place = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!place || !place.closest('details')) return;
  for (let fold = place.closest('details'); fold; fold = fold.parentElement.closest('details')) fold.open = true;
  place.scrollIntoView();
}
addEventListener('hashchange', unfold);
unfold();

// The place in the course is in view in its list.
const here = document.querySelector('nav.course a[aria-current]');
if (here && here.offsetTop > innerHeight / 2) here.scrollIntoView({ block: 'center' });
