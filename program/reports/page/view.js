const LANES_MAX = 24;
const ROWS_MAX = 4;
const BAR = 12;
const ROW = 15;
const STRIP = 30;
const AXIS = 22;
const CURVE = 110;
const RIGHT = 14;

// A run drawn: lanes of calls, the detections above them, the curve of confidence below.
class View {
  constructor(box, canvas, map) {
    this.box = box;
    this.canvas = canvas;
    this.map = map;
    this.frame = 0;
  }

  // Places are seconds since the run's start, or the number among the rows at which something of it happened.
  scale(time) {
    const run = this.run;
    this.time = time;
    if (!time) this.rows = this.rowsOf(run);
    const base = run.whole.start;
    for (const of of run.calls) {
      of.x = time ? of.start - base : this.rank(of.row);
      of.xEnd = time ? of.end - base : Math.max(this.rank(of.endRow), of.x + 1);
    }
    for (const each of [...run.readings, ...run.marks]) each.x = time ? each.at - base : this.rank(each.row);
    this.stop = run.whole.stop ? (time ? run.whole.stop.at - base : this.rank(run.whole.stop.row)) : null;
    this.lanes.forEach(stack);
    this.size = time ? run.whole.end - base : Math.max(1, this.rows.length);
  }

  rowsOf(run) {
    const rows = new Set([run.whole.row]);
    for (const of of run.calls) rows.add(of.row).add(of.endRow);
    for (const each of [...run.readings, ...run.marks]) rows.add(each.row);
    return Float64Array.from(rows).sort();
  }
  rank(row) {
    return lowerBound(this.rows, row);
  }

  // ---- Drawing

  px(place) {
    return this.left + ((place - this.from) / (this.to - this.from)) * this.width;
  }
  placeAt(px) {
    return this.from + ((px - this.left) / this.width) * (this.to - this.from);
  }

  redraw() {
    if (this.frame || !this.run) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  layOut() {
    const wide = this.box.clientWidth;
    this.left = wide < 560 ? 84 : 150;
    this.width = Math.max(40, wide - this.left - RIGHT);
    let top = STRIP;
    for (const lane of this.lanes) {
      lane.top = top;
      lane.height = lane.rows * ROW + 7;
      top += lane.height;
    }
    this.bottom = top;
    this.curve = this.run.readings.length > 0 ? top + AXIS + 14 : 0;
    this.height = this.curve ? this.curve + CURVE + 12 : top + AXIS;
  }

  fit(canvas, height) {
    const ratio = devicePixelRatio || 1;
    const width = this.box.clientWidth;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.height = `${height}px`;
    }
    const pen = canvas.getContext('2d');
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = `12px ${getComputedStyle(document.documentElement).fontFamily}`;
    pen.textBaseline = 'middle';
    return pen;
  }

  draw() {
    this.layOut();
    const pen = (this.pen = this.fit(this.canvas, this.height));
    this.drawLanes(pen);
    this.drawAxis(pen);
    pen.save();
    pen.beginPath();
    pen.rect(this.left, 0, this.width + RIGHT, this.height);
    pen.clip();
    this.drawSaved(pen);
    for (const lane of this.lanes) this.drawBars(pen, lane);
    this.drawMarks(pen);
    if (this.curve) this.drawCurve(pen);
    this.drawChosen(pen, this.hovered, colours.edge);
    this.drawChosen(pen, this.selected, colours.accent);
    pen.restore();
    this.drawMap();
  }

  drawLanes(pen) {
    this.lanes.forEach((lane, i) => {
      pen.fillStyle = colours.raised;
      if (i % 2 === 0) pen.fillRect(0, lane.top, this.left + this.width + RIGHT, lane.height);
      pen.fillStyle = colours.text;
      pen.textAlign = 'left';
      pen.fillText(this.shorten(pen, lane.name), 10, lane.top + lane.height / 2 + 0.5, this.left - 16);
    });
  }

  shorten(pen, name) {
    const room = this.left - 18;
    if (pen.measureText(name).width <= room) return name;
    let short = name.slice(0, 40);
    while (short.length > 1 && pen.measureText(`${short}\u2026`).width > room) short = short.slice(0, -1);
    return `${short}\u2026`;
  }

  drawAxis(pen) {
    const span = this.to - this.from;
    const step = this.time ? timeStep(span, this.width / 90) : roundStep(span, this.width / 90);
    pen.strokeStyle = colours.line;
    pen.lineWidth = 1;
    pen.fillStyle = colours.dim;
    pen.textAlign = 'center';
    const last = this.time ? this.to : Math.min(this.to, this.rows.length - 1);
    for (let place = Math.ceil(this.from / step) * step; place <= last; place += step) {
      const x = Math.round(this.px(place)) + 0.5;
      pen.beginPath();
      pen.moveTo(x, STRIP - 4);
      pen.lineTo(x, this.bottom + 4);
      pen.stroke();
      pen.fillText(
        this.tick(place, step),
        Math.max(this.left + 4, Math.min(x, this.left + this.width - 8)),
        this.bottom + 13
      );
    }
    pen.textAlign = 'left';
    pen.fillText(this.time ? 'since start' : this.run.file.row, 10, this.bottom + 13);
  }

  tick(place, step) {
    if (!this.time) return number(this.rows[Math.min(this.rows.length - 1, Math.round(place))] || 0);
    return step < 1 ? `${+place.toFixed(3)} s` : timeAt(Math.round(place), step);
  }

  // What ending the run would have saved.
  drawSaved(pen) {
    if (this.stop === null) return;
    const x = this.px(this.stop);
    const right = this.left + this.width + RIGHT;
    if (x < right) {
      pen.fillStyle = colours.saved;
      pen.fillRect(Math.max(x, this.left), STRIP, right - Math.max(x, this.left), this.bottom - STRIP);
    }
    pen.strokeStyle = colours.text;
    pen.setLineDash([5, 3]);
    pen.beginPath();
    pen.moveTo(x, STRIP - 2);
    pen.lineTo(x, this.bottom + 4);
    pen.stroke();
    pen.setLineDash([]);
  }

  // Bars that would hide each other are drawn once.
  drawBars(pen, lane) {
    const drawn = new Map();
    for (const of of lane.calls) {
      if (of.xEnd < this.from) continue;
      if (of.x > this.to) break;
      const x = this.px(of.x);
      const width = Math.max(2, this.px(of.xEnd) - x - (this.width / (this.to - this.from) > 4 && !this.time ? 1 : 0));
      const key = of.level * 8 + of.outcome;
      const last = drawn.get(key);
      if (last !== undefined && x + width < last + 1) continue;
      drawn.set(key, x + width);
      drawBar(
        pen,
        of,
        Math.max(x, this.left - 4),
        lane.top + 4 + of.level * ROW,
        Math.min(width, x + width - this.left + 4)
      );
    }
  }

  drawMarks(pen) {
    let last = null;
    for (const mark of this.run.marks) {
      const x = this.px(mark.x);
      if (x < this.left - 10 || x > this.left + this.width + RIGHT) continue;
      const colour = colours[mark.incident.kind];
      pen.strokeStyle = colour;
      pen.lineWidth = 1.5;
      pen.beginPath();
      pen.moveTo(x, STRIP - 6);
      pen.lineTo(x, this.curve ? this.curve + CURVE : this.bottom);
      pen.stroke();
      if (last !== null && x - last < 4) continue; // one sign for all in one place
      last = x;
      drawSign(pen, mark, x, 13);
    }
  }

  drawCurve(pen) {
    const y = (value) => this.curve + (1 - value) * CURVE;
    pen.lineWidth = 1;
    pen.fillStyle = colours.dim;
    for (const value of [0, 0.5, 1]) {
      pen.strokeStyle = colours.line;
      pen.beginPath();
      pen.moveTo(this.left, Math.round(y(value)) + 0.5);
      pen.lineTo(this.left + this.width + RIGHT, Math.round(y(value)) + 0.5);
      pen.stroke();
    }
    const sources = [...new Set(this.run.readings.map((reading) => reading.source))];
    sources.forEach((source, i) =>
      this.drawSeries(
        pen,
        this.run.readings.filter((reading) => reading.source === source),
        y,
        i
      )
    );
    pen.restore();
    pen.textAlign = 'right';
    pen.fillStyle = colours.dim;
    for (const value of [0, 0.5, 1]) pen.fillText(value.toFixed(1), this.left - 8, y(value));
    pen.textAlign = 'left';
    pen.fillText('confidence', 10, y(0.75));
    pen.save();
    pen.beginPath();
    pen.rect(this.left, 0, this.width + RIGHT, this.height);
    pen.clip();
  }

  drawSeries(pen, readings, y, nth) {
    pen.strokeStyle = pen.fillStyle = nth % 2 === 0 ? colours.accent : colours.text;
    pen.lineWidth = 1.5;
    pen.setLineDash([[], [6, 3], [2, 3], [8, 3, 2, 3]][nth % 4]);
    pen.beginPath();
    readings.forEach((reading, i) =>
      i === 0 ? pen.moveTo(this.px(reading.x), y(reading.value)) : pen.lineTo(this.px(reading.x), y(reading.value))
    );
    pen.stroke();
    pen.setLineDash([]);
    const visible = readings.filter((reading) => reading.x >= this.from && reading.x <= this.to);
    if (visible.length > this.width / 8) return;
    for (const reading of visible) {
      pen.beginPath();
      pen.arc(this.px(reading.x), y(reading.value), 2.5, 0, 7);
      pen.fill();
    }
  }

  drawChosen(pen, of, colour) {
    if (!of || !of.lane) return;
    const x = this.px(of.x);
    const width = Math.max(3, this.px(of.xEnd) - x);
    pen.strokeStyle = colour;
    pen.lineWidth = 2;
    pen.strokeRect(x - 2, of.lane.top + 2 + of.level * ROW, width + 4, BAR + 4);
  }

  // All of the run, with what is in view in a frame.
  drawMap() {
    const pen = this.fit(this.map, 34);
    const x = (place) => this.left + (place / this.size) * this.width;
    const columns = new Float64Array(Math.ceil(this.width / 3) + 1);
    const errors = new Float64Array(columns.length);
    for (const of of this.run.calls) {
      const column = Math.min(columns.length - 1, Math.floor(((of.x / this.size) * this.width) / 3));
      columns[column] += of.count;
      if (of.outcome === ERROR) errors[column] += of.count > 1 ? of.outcomes[ERROR] : 1;
    }
    const most = Math.log1p(columns.reduce((a, b) => Math.max(a, b), 1));
    columns.forEach((n, i) => {
      if (n === 0) return;
      const height = 3 + (Math.log1p(n) / most) * 20;
      pen.fillStyle = colours.ok;
      pen.fillRect(this.left + i * 3, 32 - height, 2, height);
      pen.fillStyle = colours.error;
      pen.fillRect(this.left + i * 3, 32 - (height * errors[i]) / n, 2, (height * errors[i]) / n);
    });
    for (const mark of this.run.marks) {
      pen.fillStyle = colours[mark.incident.kind];
      pen.fillRect(x(mark.x) - 1, 1, 2.5, 7);
    }
    const a = x(this.from);
    const b = x(this.to);
    pen.strokeStyle = colours.accent;
    pen.lineWidth = 1.5;
    pen.strokeRect(Math.max(this.left, a), 1, Math.max(4, b - a), 32);
    pen.fillStyle = colours.dim;
    pen.textAlign = 'left';
    pen.fillText('all of it', 10, 17);
  }
}
