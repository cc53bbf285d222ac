'use strict';
// What the page's script is made of. What its records tell comes from recordings, which anybody may have written: it
// only ever becomes text (make, textContent), never markup.

const OUTCOMES = ['ok', 'error', 'skipped', 'aborted', 'cancelled', 'unfinished'];
const OK = 0;
const ERROR = 1;
const UNFINISHED = 5;
const KINDS = ['loop', 'stall', 'regression', 'budget', 'other'];
const calm = matchMedia('(prefers-reduced-motion: reduce)');
const $ = (id) => document.getElementById(id);

// ---- Elements ----

// make("dd", "class", children...): children are elements or texts; what is null or false is left out.
function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// A text from a recording, whose direction is its own affair.
const foreign = (text, tag = 'span') => {
  const element = make(tag, 'foreign', text);
  element.dir = 'auto';
  return element;
};
const code = (text) => foreign(text, 'pre');

// Names and values as a list; those without a value are left out.
function pairs(className, list) {
  const dl = make('dl', className);
  for (const [name, ...values] of list) {
    if (values[0] === undefined || values[0] === null || values[0] === '') continue;
    dl.append(make('div', '', make('dt', '', name), make('dd', '', ...values)));
  }
  return dl;
}

function grid(list) {
  const dl = pairs('pairs', list);
  for (const div of [...dl.children]) div.replaceWith(...div.children);
  return dl;
}

// ---- Numbers and times, as the report in the terminal writes them ----

const number = (n) => n.toLocaleString('en-US');
const count = (n, one) => `${number(n)} ${one}${n === 1 ? '' : 's'}`;

function duration(s) {
  if (s < 10 && s % 1 !== 0) return s < 0.1 ? `${Math.round(s * 1000)} ms` : `${Math.floor(s * 10 + 1e-6) / 10} s`;
  const whole = Math.floor(s);
  const two = (a, an, b, bn) => `${a} ${an}${b ? ` ${b} ${bn}` : ''}`;
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return two(Math.floor(whole / 60), 'min', whole % 60, 's');
  if (whole < 86400) return two(Math.floor(whole / 3600), 'h', Math.floor((whole % 3600) / 60), 'min');
  return two(Math.floor(whole / 86400), 'd', Math.floor((whole % 86400) / 3600), 'h');
}

// Of a file without a clock, or without an end, nothing.
function iso(file, s) {
  const at = new Date((file.since + s) * 1000);
  return file.since === undefined || Number.isNaN(at.getTime()) ? '' : at.toISOString();
}
const clock = (file, s) => iso(file, s).slice(11, 19);
const date = (file, s) => iso(file, s).slice(0, 10);
const money = (usd) =>
  `${usd.toLocaleString('en-US', {minimumFractionDigits: 2, maximumFractionDigits: usd < 0.1 ? 6 : 2})} USD`;
