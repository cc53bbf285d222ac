// ---- Colours and signs ----

const colours = {};
function readColours() {
  const probe = make('span', '');
  document.body.append(probe);
  for (const name of [
    'surface',
    'raised',
    'line',
    'edge',
    'text',
    'dim',
    'accent',
    'ok',
    'error',
    'none',
    'saved',
    'on-kind',
    ...KINDS,
  ]) {
    probe.style.color = `var(--${name})`;
    colours[name] = getComputedStyle(probe).color;
  }
  probe.remove();
}

// Outcomes differ in shape: a full bar, a taller one with stripes, a frame, an open end.
function drawBar(pen, of, x, y, width) {
  if (of.outcome === ERROR) {
    drawError(pen, of, x, y, width);
    return;
  }
  if (of.outcome === OK) {
    pen.fillStyle = colours.ok;
    pen.fillRect(x, y + 1, width, BAR - 2);
  } else if (of.outcome === UNFINISHED) {
    pen.fillStyle = colours.ok;
    pen.fillRect(x, y + 4, width, BAR - 8);
    pen.fillRect(x, y + 1, Math.min(3, width), BAR - 2);
  } else {
    pen.strokeStyle = colours.none;
    pen.lineWidth = 1.5;
    pen.strokeRect(x + 0.75, y + 1.75, Math.max(1, width - 1.5), BAR - 3.5);
  }
  if (of.count > 1) underline(pen, x, y, width);
}

function drawError(pen, of, x, y, width) {
  pen.fillStyle = colours.error;
  const part = of.count > 1 ? Math.max(0.15, of.outcomes[ERROR] / of.count) : 1;
  if (part < 1) {
    pen.fillStyle = colours.ok;
    pen.fillRect(x, y + 1, width, BAR - 2);
    pen.fillStyle = colours.error;
  }
  pen.fillRect(x, y - 1, width, (BAR + 2) * part);
  if (of.count > 1) underline(pen, x, y, width);
  if (width < 7) return;
  pen.save();
  pen.beginPath();
  pen.rect(x, y - 1, width, (BAR + 2) * part);
  pen.clip();
  pen.strokeStyle = colours.surface;
  pen.lineWidth = 1.2;
  pen.beginPath();
  for (let at = x - BAR; at < x + Math.min(width, 4000); at += 6) {
    pen.moveTo(at, y + BAR + 1);
    pen.lineTo(at + BAR + 2, y - 1);
  }
  pen.stroke();
  pen.restore();
}

// Several calls as one block.
function underline(pen, x, y, width) {
  pen.fillStyle = colours.text;
  pen.fillRect(x, y + BAR, width, 1.5);
}

// A triangle warns, a square acts, an octagon aborts; the letter is the kind's.
const SHAPES = {
  warn: [3, -Math.PI / 2, 11],
  act: [4, Math.PI / 4, 11],
  none: [4, Math.PI / 4, 11],
  abort: [8, Math.PI / 8, 10.5],
};
function drawSign(pen, mark, x, y, letter = mark.incident.kind[0].toUpperCase()) {
  const {kind} = mark.incident;
  const [corners, turn, radius] = SHAPES[mark.rung] || SHAPES.act;
  pen.fillStyle = colours[kind];
  pen.beginPath();
  for (let i = 0; i < corners; i++)
    pen.lineTo(
      x + Math.cos(turn + (i * 2 * Math.PI) / corners) * radius,
      y + (corners === 3 ? 1 : 0) + Math.sin(turn + (i * 2 * Math.PI) / corners) * radius
    );
  pen.fill();
  pen.fillStyle = colours['on-kind'];
  pen.textAlign = 'center';
  const font = pen.font;
  pen.font = `bold ${corners === 3 ? 9 : 11}px ${font.slice(font.indexOf(' ') + 1)}`;
  pen.fillText(letter, x, y + (corners === 3 ? 2.5 : 0.5));
  pen.font = font;
}

// ---- Signs explained ----

function sample(text, paint) {
  const canvas = make('canvas', '');
  const ratio = devicePixelRatio || 1;
  canvas.width = 26 * ratio;
  canvas.height = 24 * ratio;
  canvas.style.width = '26px';
  canvas.style.height = '24px';
  canvas.setAttribute('aria-hidden', 'true');
  const pen = canvas.getContext('2d');
  pen.scale(ratio, ratio);
  pen.font = `12px ${getComputedStyle(document.documentElement).fontFamily}`;
  pen.textBaseline = 'middle';
  paint(pen);
  return make('li', '', canvas, text);
}

function showLegend(run) {
  const bar = (text, outcome) => sample(text, (pen) => drawBar(pen, {outcome, count: 1}, 2, 6, 22));
  const rung = (text, shape) =>
    sample(text, (pen) => drawSign(pen, {rung: shape, incident: {kind: 'other'}}, 13, 12, ''));
  const kind = (name) => sample(name, (pen) => drawSign(pen, {rung: 'act', incident: {kind: name}}, 13, 12));
  const kinds = KINDS.filter((name) => run.incidents.some((incident) => incident.kind === name)).map(kind);
  const rungs = [rung('warn', 'warn'), rung('act', 'act'), rung('abort', 'abort')];
  $('legend').replaceChildren(
    bar('ok', OK),
    bar('error', ERROR),
    bar('cancelled, aborted, skipped', 4),
    bar('unfinished', UNFINISHED),
    ...kinds,
    ...(kinds.length > 0 ? rungs : []),
    ...(run.whole.stop ? [make('li', '', 'shaded: would have been saved')] : [])
  );
}
