// ---- Lanes and scales ----

// The first place in a sorted array whose value is not below x.
function lowerBound(array, x) {
  let low = 0;
  let high = array.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (array[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Tools as lanes, those with most calls first; the rest of them together.
function makeLanes(run) {
  const counts = new Map();
  for (const of of run.calls) counts.set(of.tool, (counts.get(of.tool) || 0) + of.count);
  const names = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
  const kept = names.length > LANES_MAX ? names.slice(0, LANES_MAX - 1) : names;
  const lanes = kept.map((name) => ({name: name || 'other tools', calls: [], rows: 1}));
  const byName = new Map(kept.map((name, i) => [name, lanes[i]]));
  const others = {name: 'other tools', calls: [], rows: 1};
  if (names.length > kept.length) lanes.push(others);
  for (const of of run.calls) {
    of.lane = byName.get(of.tool) || others;
    of.lane.calls.push(of);
  }
  return lanes;
}

// Calls that overlap stand below each other.
function stack(lane) {
  lane.calls.sort((a, b) => a.x - b.x);
  const ends = [];
  for (const of of lane.calls) {
    let row = ends.findIndex((end) => end <= of.x);
    if (row < 0) row = ends.length < ROWS_MAX ? ends.length : ROWS_MAX - 1;
    ends[row] = Math.max(of.xEnd, ends[row] || 0);
    of.level = row;
  }
  lane.rows = Math.max(1, ends.length);
}

function roundStep(span, ticks) {
  const raw = Math.max(span / Math.max(1, ticks), 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= raw) || raw;
}

// As a duration, and where its two units are too coarse for the step as on a clock.
function timeAt(s, step) {
  const days = Math.floor(s / 86400);
  const coarse = days > 0 ? 3600 : 60;
  if (s < 3600 || step >= coarse) return duration(s);
  const two = (n) => String(n).padStart(2, '0');
  const minutes = `${Math.floor((s % 86400) / 3600)}:${two(Math.floor((s % 3600) / 60))}`;
  const clock = step < 60 ? `${minutes}:${two(s % 60)}` : minutes;
  return days > 0 ? `${days} d ${clock}` : clock;
}

function timeStep(span, ticks) {
  const raw = span / Math.max(1, ticks);
  const steps = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
    14400, 21600, 43200,
  ];
  return steps.find((step) => step >= raw) || Math.ceil(raw / 86400) * 86400;
}
