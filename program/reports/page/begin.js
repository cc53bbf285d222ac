// ---- Files and notes ----

function remarksOn(file) {
  const said = file.notes ? file.notes.split('\n').filter(Boolean) : [];
  if (file.broken > 0)
    said.push(`${count(file.broken, file.row)} could not be read and ${file.broken === 1 ? 'was' : 'were'} left out.`);
  said.push(...file.problems);
  if (file.broken > file.problems.length) said.push(`... and ${number(file.broken - file.problems.length)} more.`);
  return said.join('\n');
}

// Files of which the same is to be said stand together.
function filesByRemark() {
  const files = new Map();
  const add = (name, remark) => files.set(remark, [...(files.get(remark) || []), name]);
  for (const file of recorded.unreadable) add(file.name, file.why);
  for (const file of recorded.files) if (remarksOn(file)) add(file.name, remarksOn(file));
  return files;
}

function remarkItem([remark, names]) {
  const shown = names.slice(0, 10).map((name) => foreign(name, 'p'));
  if (names.length > shown.length) shown.push(make('p', '', `and ${count(names.length - shown.length, 'more file')}`));
  return make('li', '', make('div', 'names', ...shown), ...remark.split('\n').map((line) => foreign(line, 'p')));
}

function showFiles() {
  const {passedOver} = recorded.totals;
  const items = [...filesByRemark()].map(remarkItem);
  if (passedOver > 0)
    items.push(
      make(
        'li',
        '',
        `${count(passedOver, 'file')} in the folders ${passedOver === 1 ? 'was no transcript' : 'were no transcripts'}.`
      )
    );
  $('file-list').replaceChildren(...items);
  $('files').hidden = items.length === 0;
}

// ---- Begin ----

const THEMES = ['system', 'light', 'dark'];
let theme = 0;
function setTheme(which) {
  theme = which;
  $('theme').textContent = `Colours: ${THEMES[theme]}`;
  if (theme === 0) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = THEMES[theme];
  repaint();
}

function repaint() {
  readColours();
  if (current) showLegend(current);
  timeline.redraw();
}

let timeline;
function begin() {
  read($('records').textContent);
  $('incomplete').hidden = true;
  recorded.runs.sort(worse);
  showSummary();
  timeline = new Timeline();
  readColours();
  if (recorded.sweep) showSweep(recorded.sweep);
  showFiles();
  $('theme').addEventListener('click', () => setTheme((theme + 1) % THEMES.length));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
  addEventListener('beforeprint', () => {
    readColours();
    timeline.frame = 0;
    if (timeline.run) timeline.draw();
  });
  addEventListener('afterprint', repaint);
  if (recorded.runs.length === 0) return;
  $('main').hidden = false;
  $('runs').hidden = recorded.runs.length === 1;
  $('main').classList.toggle('single', recorded.runs.length === 1);
  $('search').addEventListener('input', findRuns);
  $('filter').addEventListener('change', findRuns);
  $('more-runs').addEventListener('click', showMoreRuns);
  $('run-list').addEventListener('keydown', moveInRuns);
  $('calls-part').addEventListener('toggle', () => showCalls(current, firstCall));
  $('calls-back').addEventListener('click', () => showCalls(current, firstCall - CALLS_AT_A_TIME));
  $('calls-on').addEventListener('click', () => showCalls(current, firstCall + CALLS_AT_A_TIME));
  findRuns();
  showRun(recorded.runs[0]);
}

begin();
