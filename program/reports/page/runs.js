// ---- Summary ----

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');

function headline(totals) {
  if (totals.files === totals.unreadable + totals.passedOver) {
    return totals.files === 1 ? 'The file could not be read.' : 'None of the files could be read as a transcript.';
  }
  if (recorded.runs.length === 1 && totals.runs === 1) return sentence(recorded.runs[0].whole.headline);
  if (totals.incidents === 0) return `All is well: ${count(totals.runs, 'run')}, ${count(totals.calls, 'call')}.`;
  const troubled = recorded.runs.filter((run) => run.troubled).length;
  const all = recorded.runs.length === totals.runs;
  const ofThem = all ? `${number(troubled)} of ` : '';
  return `${count(totals.incidents, 'incident')} in ${ofThem}${count(totals.runs, 'run')}.`;
}

function wouldHave(totals) {
  if (totals.incidents === 0) return '';
  const runs = totals.runs === 1 ? 'the run' : count(totals.stopped, 'run');
  return totals.stopped === 0
    ? 'The policy would have ended no run.'
    : `The policy would have ended ${runs} and saved ${totals.saved.words}.`;
}

function showSummary() {
  const totals = recorded.totals;
  const used = totals.used;
  $('headline').append(foreign(headline(totals)));
  $('saved').textContent = wouldHave(totals);
  if (totals.runs > 1 && totals.incidents > 0) $('reasons').textContent = `${sentence(totals.reasons)}`;
  const tiles = [
    ['Files', number(totals.files - totals.passedOver)],
    ['Runs', number(totals.runs)],
    ['Calls', number(totals.calls)],
    ['Incidents', number(totals.incidents)],
    ['Tokens', used.tokens > 0 && number(used.tokens)],
    ['Cost', used.usd > 0 && money(used.usd)],
    ['Time', used.s > 0 && duration(used.s)],
  ];
  const list = pairs(
    'tiles',
    tiles.filter((tile) => tile[1] !== false)
  );
  $('totals').replaceWith(list);
  document.title = `${$('headline').textContent} mend replay`;
  $('version').textContent = `mend ${recorded.version}`;
  $('summary').hidden = false;
}

// ---- Runs ----

const RUNS_AT_A_TIME = 200;
const narrow = matchMedia('(max-width: 900px)'); // the run is below the list
const list = {runs: [], shown: 0};
let current = null; // the run being shown

function badges(run) {
  const counts = new Map();
  for (const incident of run.incidents) counts.set(incident.kind, (counts.get(incident.kind) || 0) + 1);
  return KINDS.filter((kind) => counts.has(kind)).map((kind) =>
    make('span', `badge ${kind}`, `${kind} ${number(counts.get(kind))}`)
  );
}

// Among several files a run goes by its file's name, and by its own where the file has others.
function titleOf(run) {
  if (recorded.files.length < 2) return run.whole.id;
  const name = run.file.name.split('/').pop();
  return run.file.runs.size > 1 ? `${name}, ${run.whole.id}` : name;
}

function runItem(run) {
  const mark = make(
    'span',
    'mark',
    run.troubled ? '!' : run.whole.unfinished > 0 ? '?' : '\u2713',
    make('span', 'unseen', run.troubled ? ' incidents: ' : run.whole.unfinished > 0 ? ' open: ' : ' all is well: ')
  );
  const title = make('span', 'title', foreign(titleOf(run)), ...badges(run));
  const button = make(
    'button',
    run.troubled ? 'trouble' : '',
    mark,
    title,
    make('span', 'say', foreign(run.whole.headline))
  );
  button.type = 'button';
  button.addEventListener('click', () => {
    showRun(run);
    if (narrow.matches) $('run').scrollIntoView();
  });
  run.button = button;
  if (run === current) button.setAttribute('aria-current', 'true');
  return make('li', '', button);
}

function showMoreRuns() {
  const more = list.runs.slice(list.shown, list.shown + RUNS_AT_A_TIME);
  $('run-list').append(...more.map(runItem));
  list.shown += more.length;
  $('more-runs').hidden = list.shown >= list.runs.length;
}

function textOf(run) {
  if (run.text === undefined) {
    const tools = new Set(run.calls.map((each) => each.tool));
    run.text = [run.whole.id, run.whole.agent, run.file.name, run.whole.headline, ...tools].join('\n').toLowerCase();
  }
  return run.text;
}

function fits(run, filter) {
  if (filter === 'all') return true;
  if (filter === 'well') return !run.troubled;
  return filter === 'trouble' ? run.troubled : run.incidents.some((incident) => incident.kind === filter);
}

function findRuns() {
  const words = $('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  list.runs = recorded.runs.filter(
    (run) => fits(run, $('filter').value) && words.every((word) => textOf(run).includes(word))
  );
  list.shown = 0;
  $('run-list').replaceChildren();
  const all = recorded.totals.runs;
  const left = all - recorded.runs.length;
  $('runs-count').textContent =
    `${number(list.runs.length)} of ${count(all, 'run')}, the worst first` +
    (left > 0 ? `; ${number(left)} are not on this page` : '');
  showMoreRuns();
}

function moveInRuns(event) {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const item = event.target.closest('li');
  const next = item && (event.key === 'ArrowDown' ? item.nextElementSibling : item.previousElementSibling);
  if (next) next.firstElementChild.focus();
  if (item) event.preventDefault();
}

// ---- The run ----

function whenWas({file, whole}) {
  if (!file.clock || file.since === undefined) return 'no clock in the file';
  const from = `${date(file, whole.start)} ${clock(file, whole.start)}`;
  return `${from} to ${clock(file, whole.end)} (${duration(whole.end - whole.start)})`;
}

function runFacts(run) {
  const {file, whole} = run;
  const used = whole.used;
  return [
    ['File', foreign(file.name)],
    ['Run', recorded.files.length > 1 && foreign(whole.id)],
    ['Format', file.title],
    ['Agent', whole.agent && foreign(whole.agent)],
    ['Part of', whole.parent && foreign(whole.parent)],
    ['When', whenWas(run)],
    ['Calls', number(used.calls)],
    ['Unfinished', whole.unfinished > 0 && number(whole.unfinished)],
    ['Tokens', used.tokens > 0 && number(used.tokens)],
    ['Cost', used.usd > 0 && money(used.usd)],
  ].filter((fact) => fact[1]);
}

function drawnNote(run) {
  const drawn = run.calls.reduce((sum, each) => sum + each.count, 0);
  const left = run.whole.used.calls - drawn;
  const blocks = run.calls.filter((each) => each.count > 1).length;
  const together = number(drawn - run.calls.length + blocks);
  const parts = [];
  if (blocks > 0) {
    parts.push(`There are too many calls to draw each: of ${number(drawn)}, ${together} are drawn in`);
    parts.push(`${count(blocks, 'block')} of calls of one tool.`);
  }
  if (left > 0) parts.push(`${count(left, 'call')} of this run ${left === 1 ? 'is' : 'are'} not drawn.`);
  return parts.join(' ');
}

function endOf(run) {
  const {stop, saved} = run.whole;
  return stop ? ` The policy would have ended it at ${run.file.row} ${number(stop.row)} and saved ${saved.words}.` : '';
}

function showRun(run) {
  if (current && current.button) current.button.removeAttribute('aria-current');
  current = run;
  if (run.button) run.button.setAttribute('aria-current', 'true');
  $('run-title').replaceChildren(foreign(titleOf(run)));
  $('run-headline').replaceChildren(foreign(sentence(run.whole.headline)), endOf(run));
  const facts = pairs('facts', runFacts(run));
  facts.id = 'run-facts';
  $('run-facts').replaceWith(facts);
  $('drawn').textContent = drawnNote(run);
  $('drawn').hidden = $('drawn').textContent === '';
  showLegend(run);
  showIncidents(run);
  timeline.show(run);
  showCalls(run, 0);
}
