// ---- Incidents ----

const HOW = {
  'tool.after': 'ended',
  'tool.error': 'failed',
  'tool.skipped': 'was skipped',
  'tool.aborted': 'was aborted',
  'tool.cancelled': 'was cancelled',
};

function wentOn(incident) {
  const {file} = incident.run;
  const {after = {}, ending} = incident;
  const said = [];
  if (after.again > 0)
    said.push(`it came ${count(after.again, 'time')} more, the last at ${file.row} ${number(after.againRow)}`);
  if (after.repeated > 0)
    said.push(`${count(after.repeated, 'more equal call')}, the last at ${file.row} ${number(after.repeatedRow)}`);
  if (ending)
    said.push(`the call ${HOW[ending.how]} after ${duration(ending.open)}, ${file.row} ${number(ending.row)}`);
  return said.join('; ');
}

const isStop = (incident) => {
  const {stop} = incident.run.whole;
  return (
    stop !== undefined &&
    stop.row === incident.row &&
    Math.abs(stop.at - incident.at) < 1e-6 &&
    incident.action !== 'none'
  );
};

function answerOf(of) {
  if (!of.answer) return null;
  return make(
    'div',
    '',
    `${of.answerId ? `${of.answerId} ` : ''}${of.failed ? 'failed:' : 'returned:'}`,
    code(of.answer)
  );
}

function incidentCard(incident, place) {
  const title = make('button', '', `${place}. `, foreign(incident.summary));
  title.type = 'button';
  title.title = 'Show in the timeline';
  title.addEventListener('click', () => timeline.goTo(incident, true));
  const head = make(
    'div',
    'incident-head',
    make('span', `badge ${incident.kind}`, incident.kind),
    make('h4', '', title),
    make(
      'span',
      'rung',
      incident.rung && incident.rung !== 'none'
        ? `${incident.rung}: ${incident.action === 'none' ? 'goes on' : incident.action}`
        : incident.action
    )
  );
  const call = [incident.tool, incident.call && `(${incident.call})`].filter(Boolean).join(' ');
  const card = make(
    'li',
    incident.kind,
    head,
    grid([
      ['When', incident.when],
      ['Call', call && foreign(call)],
      ['Arguments', incident.args && code(incident.args)],
      ['Evidence', foreign(incident.evidence), incident.pieces && code(incident.pieces.trimEnd())],
      ['Last answer', answerOf(incident)],
      ['Policy', foreign(incident.policy)],
      ['Saves', isStop(incident) ? incident.run.whole.saved.words : ''],
      ['Try', incident.steer && make('span', 'try', foreign(incident.steer))],
      ['Then', wentOn(incident)],
    ])
  );
  incident.card = card;
  return card;
}

function showIncidents(run) {
  const cards = run.incidents.map((incident, i) => incidentCard(incident, i + 1));
  $('incidents').replaceChildren(...cards);
  const left = run.whole.incidents - run.incidents.length;
  if (cards.length === 0)
    $('incidents').append(make('li', 'other', run.troubled ? '' : 'Nothing was detected in this run.'));
  if (left > 0) $('incidents').append(make('li', 'other', `${count(left, 'more incident')}: not on this page.`));
}

// ---- Calls as a table ----

const CALLS_AT_A_TIME = 100;
let firstCall = 0;

const outcomeOf = (of) =>
  of.count === 1
    ? OUTCOMES[of.outcome]
    : of.outcomes
        .map((n, i) => (n > 0 ? `${number(n)} ${OUTCOMES[i]}` : ''))
        .filter(Boolean)
        .join(', ');
const toolOf = (of) => of.tool || 'other tools';

function startOf(run, of) {
  return run.file.clock ? `${clock(run.file, of.start)} (+${duration(of.start - run.whole.start)})` : '';
}

function callRow(run, of) {
  const cell = (...children) => make('td', '', ...children);
  const tr = make(
    'tr',
    '',
    cell(number(of.row)),
    cell(startOf(run, of)),
    cell(run.file.clock ? duration(of.end - of.start) : ''),
    cell(foreign(toolOf(of)), of.count > 1 && ` x ${number(of.count)}`),
    make('td', of.outcome === ERROR ? 'error' : '', outcomeOf(of)),
    cell(foreign(of.args)),
    cell(foreign(of.answer))
  );
  return tr;
}

function showCalls(run, from) {
  firstCall = Math.max(0, from);
  const part = $('calls-part');
  part.hidden = run.calls.length === 0;
  if (!part.open) return;
  const calls = run.calls.slice(firstCall, firstCall + CALLS_AT_A_TIME);
  const to = firstCall + calls.length;
  $('calls').tBodies[0].replaceChildren(...calls.map((of) => callRow(run, of)));
  $('calls-shown').textContent = `${number(firstCall + 1)} to ${number(to)} of ${number(run.calls.length)}`;
  $('calls-back').disabled = firstCall === 0;
  $('calls-on').disabled = to >= run.calls.length;
}

// ---- Details of a call or a detection ----

function details(run, of) {
  if (of.incident) return detailsOfMark(of);
  if (of.value !== undefined) return detailsOfReading(run, of);
  const about = run.marks
    .filter((mark) => mark.incident.call && mark.incident.call === of.id)
    .map((mark) => mark.incident.summary);
  return [
    ['Tool', foreign(toolOf(of)), of.count > 1 && ` x ${number(of.count)}`],
    ['Outcome', outcomeOf(of)],
    ['Time', run.file.clock ? `${startOf(run, of)}, took ${duration(of.end - of.start)}` : ''],
    [
      run.file.row === 'line' ? 'Lines' : 'Elements',
      of.row === of.endRow ? number(of.row) : `${number(of.row)} to ${number(of.endRow)}`,
    ],
    ['Call id', of.id && foreign(of.id)],
    ['Arguments', of.args && code(of.args)],
    [of.outcome === ERROR ? 'Error' : 'Answer', of.answer && code(of.answer)],
    ['Detected', about.length > 0 && foreign([...new Set(about)].join('; '))],
  ].filter((pair) => pair[1]);
}

function detailsOfReading(run, reading) {
  return [
    ['Confidence', String(reading.value)],
    ['Of', reading.source && foreign(reading.source)],
    ['Time', run.file.clock ? startOf(run, {start: reading.at}) : ''],
    [run.file.row === 'line' ? 'Line' : 'Element', number(reading.row)],
  ].filter((pair) => pair[1]);
}

function detailsOfMark(mark) {
  const {incident} = mark;
  return [
    ['Detected', foreign(incident.summary)],
    ['Kind', `${incident.kind}, ${incident.reason}`],
    ['When', incident.when],
    ['Policy', foreign(incident.policy)],
  ];
}
