// ---- Records ----

const recorded = {version: '', files: [], runs: [], unreadable: [], totals: null, sweep: null};

function newRun(file) {
  return {file, calls: [], readings: [], incidents: [], marks: [], shown: recorded.runs.length, whole: null};
}

const call = (r) => ({
  start: r[2],
  end: r[3],
  row: r[4],
  endRow: r[5],
  tool: r[6],
  outcome: r[7],
  id: r[8],
  args: r[9],
  answer: r[10],
  count: 1,
});

function block(r) {
  const outcomes = r[7];
  const calls = outcomes.reduce((sum, n) => sum + n, 0);
  return {
    start: r[2],
    end: r[3],
    row: r[4],
    endRow: r[5],
    tool: r[6],
    outcome: calls === 1 ? outcomes.indexOf(1) : outcomes[ERROR] > 0 ? ERROR : OK,
    id: '',
    args: '',
    answer: '',
    count: calls,
    outcomes,
  };
}

// A detection of a run; the first of its incident tells all about it.
function addMark(run, record) {
  const incident = record.t === 'found' ? {...record, run, again: 0} : run.file.incidents.get(record.incident);
  if (!incident) return;
  if (record.t === 'found') {
    run.incidents.push(incident);
    if (record.incident > 0) run.file.incidents.set(record.incident, incident);
  }
  run.marks.push({incident, row: record.row, at: record.at, rung: record.rung, action: record.action});
}

const take = {
  page: (r) => {
    recorded.version = r.mend;
  },
  file: (r) => recorded.files.push({...r, runs: new Map(), incidents: new Map(), problems: [], notes: '', broken: 0}),
  run: (r, file) => {
    const run = newRun(file);
    file.runs.set(r.n, run);
    recorded.runs.push(run);
  },
  c: (r, file) => file.runs.get(r[1]).calls.push(call(r)),
  b: (r, file) => file.runs.get(r[1]).calls.push(block(r)),
  v: (r, file) => file.runs.get(r[1]).readings.push({at: r[2], row: r[3], value: r[4], source: r[5]}),
  found: (r, file) => addMark(file.runs.get(r.n), r),
  again: (r, file) => addMark(file.runs.get(r.n), r),
  ending: (r, file) => {
    const of = file.incidents.get(r.incident);
    if (of) of.ending = r;
  },
  after: (r, file) => {
    const of = file.incidents.get(r.incident);
    if (of) of.after = r;
  },
  ended: (r, file) => {
    file.runs.get(r.n).whole = r;
  },
  broken: (r, file) => file.problems.push(`${file.row} ${r.row}: ${r.problem}`),
  done: (r, file) => Object.assign(file, r, {t: 'file'}),
  unreadable: (r) => recorded.unreadable.push(r),
  sweep: (r) => {
    recorded.sweep = r;
  },
  totals: (r) => {
    recorded.totals = r;
  },
};

function read(text) {
  for (const r of JSON.parse(text)) take[r.t || r[0]](r, recorded.files[recorded.files.length - 1]);
  for (const run of recorded.runs) {
    run.calls.sort((a, b) => a.start - b.start || a.row - b.row || a.endRow - b.endRow);
    if (!run.whole) run.whole = unfinishedRun(run);
    run.troubled = run.whole.detections > 0;
  }
}

// Of a file that could not be read to its end.
function unfinishedRun(run) {
  const nothing = {calls: run.calls.length, tokens: 0, usd: 0, s: 0, words: 'nothing'};
  const end = run.calls.reduce((latest, each) => Math.max(latest, each.end), 0);
  return {
    id: '?',
    headline: 'the file could not be read to its end',
    row: 1,
    endRow: 1,
    start: 0,
    end,
    results: 0,
    unfinished: 0,
    detections: run.marks.length,
    incidents: run.incidents.length,
    used: nothing,
    saved: {...nothing, calls: 0},
  };
}

// As the report in the terminal has it: more calls saved, then more time, then more to tell.
function worse(a, b) {
  const x = a.whole;
  const y = b.whole;
  return (
    b.troubled - a.troubled ||
    y.saved.calls - x.saved.calls ||
    y.saved.s - x.saved.s ||
    y.incidents - x.incidents ||
    a.shown - b.shown
  );
}
