// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// What a browser makes of pages: run by `membound_site` in headless Chromium, in a page that has a frame of
// 360 pixels for each page looked at. Writes a line "problem PAGE: …" for each rule of docs/accessibility.md
// that a page breaks, "file PAGE ADDRESS" for each file it leads to, and "looked PAGE".
'use strict';

const phone = 360;  // CSS pixels
const enough = 4.5, enough_large = 3;  // contrast: WCAG 2.1, level AA
const tallest = 15000;  // CSS pixels of a page on a screen 1280 wide
const lines = [];

// [r, g, b, alpha] of a computed colour.
function channels(colour) {
  const parts = colour.match(/[\d.]+/g).map(Number);
  return parts.length === 3 ? [...parts, 1] : parts;
}

function over(top, below) {
  return [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
}

function luminance(colour) {
  const [r, g, b] = colour.slice(0, 3).map(c => c / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// What lies behind the text of an element: the grounds of all its ancestors, one over the other.
function ground_of(view, element, canvas) {
  const grounds = [];
  for (let at = element; at; at = at.parentElement)
    grounds.push(channels(view.getComputedStyle(at).backgroundColor));
  return grounds.reduceRight((below, top) => over(top, below), canvas);
}

function contrast_problems(view, page, dark, tell) {
  const canvas = dark ? [18, 18, 18, 1] : [255, 255, 255, 1];  // where nothing has a ground
  const walk = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  const told = new Set();
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || element.closest('script, style, svg') || !element.checkVisibility())
      continue;
    const style = view.getComputedStyle(element);
    const ground = ground_of(view, element, canvas);
    const text = over(channels(style.color), ground);
    const [a, b] = [luminance(text), luminance(ground)];
    const reached = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const pair = `${style.color} on ${ground.slice(0, 3).map(Math.round)}`;
    if (reached >= (large ? enough_large : enough) || told.has(pair)) continue;
    told.add(pair);
    tell(`"${walk.currentNode.data.trim().slice(0, 40)}" has a contrast of ${reached.toFixed(2)}, ` +
      `${dark ? 'dark' : 'light'} (${pair})`);
  }
}

// Everything but its summary.
const folded = fold => [...fold.childNodes].slice(1).filter(node => node.nodeType === Node.ELEMENT_NODE &&
  node.tagName !== 'SUMMARY');

function fold_problems(page, tell) {
  for (const fold of page.querySelectorAll('details')) {
    const summary = fold.querySelector('summary');
    const words = summary ? summary.textContent.trim().slice(0, 40) : '';
    if (!summary || summary.tabIndex !== 0) {
      tell(`the fold "${words}" cannot be reached by keyboard`);
      continue;
    }
    for (let outer = fold.parentElement.closest('details'); outer; outer = outer.parentElement.closest('details'))
      outer.open = true;
    if (!summary.checkVisibility()) continue;  // not on a page of this width
    for (const turn of [1, 2]) {
      const before = fold.open;
      summary.click();
      if (fold.open === before) tell(`the fold "${words}" does not turn`);
      for (const inner of folded(fold))
        if (inner.checkVisibility() !== fold.open && inner.textContent.trim() &&
            page.defaultView.getComputedStyle(inner).display !== 'none')
          tell(`"${words}" is ${fold.open ? 'open and hides' : 'closed and shows'} its text`);
    }
    fold.open = true;
  }
}

function term_problems(page, tell) {
  for (const word of page.querySelectorAll('button[popovertarget]')) {
    const meaning = page.getElementById(word.getAttribute('popovertarget'));
    word.click();
    if (!meaning || !meaning.matches(':popover-open') || !meaning.checkVisibility()) {
      tell(`the word "${word.textContent}" does not unfold`);
      continue;
    }
    const { left, right } = meaning.getBoundingClientRect();
    if (left < 0 || right > phone) tell(`what the word "${word.textContent}" unfolds is wider than the phone`);
    word.click();
    if (meaning.matches(':popover-open')) tell(`the word "${word.textContent}" does not fold again`);
  }
}

// What scrolls sideways can be scrolled with the arrow keys, and says that there is more.
function scroll_problems(page, view, tell) {
  for (const box of page.querySelectorAll('body *')) {
    if (box.scrollWidth <= box.clientWidth + 1 || !/auto|scroll/.test(view.getComputedStyle(box).overflowX)) continue;
    if (box.parentElement.closest('.table, .wide, figure') || box.closest('.found, summary')) continue;
    const what = `a ${box.localName} that scrolls, "${box.textContent.trim().slice(0, 30)}",`;
    if (box.tabIndex !== 0) tell(`${what} cannot be reached by the Tab key`);
    if (box.previousElementSibling?.className !== 'cue') tell(`${what} has no word above it that says so`);
  }
}

function look_at(frame, dark) {
  const name = frame.dataset.page, page = frame.contentDocument, view = frame.contentWindow;
  const tell = text => lines.push(`problem ${name}: ${text}`);
  if (!page || !page.body || !page.body.childElementCount) return tell('Chromium did not show it');
  if (view.matchMedia('(prefers-color-scheme: dark)').matches !== dark)
    tell(`Chromium shows it ${dark ? 'light' : 'dark'}`);

  // As a screen has a page of the site, before anything is unfolded; a handout that stands alone is one long text.
  frame.width = 1280;
  const height = page.documentElement.scrollHeight;
  if (height > tallest && page.querySelector('.side')) tell(`is ${height} pixels tall, on a screen 1280 wide`);
  frame.width = phone;

  const mains = page.querySelectorAll('main, [role=main]');
  if (mains.length !== 1 || !mains[0].textContent.trim()) tell('its text is in no main part');
  const folds_answers = name.startsWith('handout');
  if (folds_answers)
    for (const fold of page.querySelectorAll('main details[open], .textblock details[open]'))
      if (!fold.closest('nav')) tell(`an answer is open: ${fold.textContent.trim().slice(0, 40)}`);

  const list = page.querySelector('nav.contents details');
  if (list && list.open) tell('the list of headings is open, and the text is below it');

  if (page.querySelector('ol[data-whole]')) tell('the list of the course stays short');

  const wide = when => {
    const width = page.documentElement.scrollWidth;
    if (width > phone) tell(`is ${width} pixels wide ${when}, on a phone of ${phone}`);
  };
  wide('as it comes');
  scroll_problems(page, view, tell);
  fold_problems(page, tell);
  wide('with all folds open');
  term_problems(page, tell);
  contrast_problems(view, page, dark, tell);

  for (const link of page.querySelectorAll('a[href]')) {
    const target = new URL(link.href, page.baseURI);
    if (target.protocol === 'file:')
      lines.push(`file ${name} ${decodeURIComponent(target.pathname)}`);
    const here = target.href.split('#')[0] === page.baseURI.split('#')[0] && target.hash;
    if (here && target.hash !== '#' && !page.getElementById(decodeURIComponent(target.hash.slice(1))) &&
        !page.getElementsByName(decodeURIComponent(target.hash.slice(1))).length)
      tell(`${target.hash} leads to no place of it`);
    if (link.checkVisibility() && link.computedName === '') tell(`a link without a name: ${link.href}`);
  }
  for (const picture of page.images)
    if (!picture.complete || picture.naturalWidth === 0) tell(`a picture does not show: ${picture.src.slice(0, 80)}`);
  for (const { name: address } of view.performance.getEntriesByType('resource'))
    if (!/^(file|data|blob):/.test(address)) tell(`needs a network: ${address}`);
  for (const part of page.querySelectorAll('button, input, summary, object'))
    if (part.checkVisibility() && part.computedName === '')
      tell(`${part.tagName.toLowerCase()} without a name`);
  lines.push(`looked ${name}`);
}

addEventListener('load', () => {
  for (const frame of document.querySelectorAll('iframe')) {
    try {
      look_at(frame, document.body.dataset.look === 'dark');
    } catch (error) {
      lines.push(`problem ${frame.dataset.page}: ${error}`);
    }
  }
  const told = document.createElement('pre');
  told.id = 'told';
  told.textContent = `\n${lines.join('\n')}\n`;
  document.body.replaceChildren(told);
});
