// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// What a page of text needs on a narrow screen: the course site and pages that stand alone have it.

// What is wider than the page scrolls; a keyboard reaches it only if it can have the focus.
for (const box of document.querySelectorAll('pre, .table, figure'))
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;

// The list of headings starts closed where it would push the text off the screen.
const contents = document.querySelector('nav.contents details');
if (contents && window.matchMedia('(max-width: 70rem)').matches) contents.open = false;
