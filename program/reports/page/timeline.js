// A timeline: the view of a run in which one can move, point at things and choose them.

class Timeline extends View {
  constructor() {
    super($('timeline'), $('canvas'), $('map'));
    this.byTime = true;
    new ResizeObserver(() => this.redraw()).observe(this.box);
    this.listen();
    new Hand(this);
  }

  // ---- What is shown

  show(run) {
    this.run = run;
    this.lanes = makeLanes(run);
    this.selected = this.hovered = null;
    const canTime = run.file.clock && run.whole.end > run.whole.start;
    $('scales').hidden = !canTime;
    $('steps').hidden = run.marks.length < 1;
    this.box.setAttribute(
      'aria-label',
      `Timeline of ${count(run.whole.used.calls, 'call')}, ${count(run.marks.length, 'detection')}`
    );
    this.showScale(canTime && this.byTime);
    this.tell(null);
  }

  showScale(time) {
    $('by-time').setAttribute('aria-pressed', String(time));
    $('by-order').setAttribute('aria-pressed', String(!time));
    this.scale(time);
    this.setView(0, this.size);
  }

  // ---- Where it looks

  setView(from, to) {
    const least = this.time ? Math.max(this.size * 1e-6, 1e-3) : 2;
    const span = Math.min(this.size, Math.max(least, to - from));
    this.from = Math.max(0, Math.min(from, this.size - span));
    this.to = this.from + span;
    this.redraw();
  }

  glide(from, to) {
    cancelAnimationFrame(this.gliding);
    if (calm.matches) {
      this.setView(from, to);
      return;
    }
    const a = this.from;
    const b = this.to;
    const begun = performance.now();
    const step = (now) => {
      const part = Math.min(1, (now - begun) / 180);
      const eased = part * (2 - part);
      this.setView(a + (from - a) * eased, b + (to - b) * eased);
      if (part < 1) this.gliding = requestAnimationFrame(step);
    };
    this.gliding = requestAnimationFrame(step);
  }

  zoom(factor, at = (this.from + this.to) / 2) {
    this.setView(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }
  pan(part) {
    const by = (this.to - this.from) * part;
    this.setView(this.from + by, this.to + by);
  }

  ensureVisible(of) {
    const span = this.to - this.from;
    const end = of.xEnd === undefined ? of.x : of.xEnd;
    if (end >= this.from + span * 0.02 && of.x <= this.to - span * 0.02) return;
    this.setView(of.x - span / 3, of.x + (span * 2) / 3);
  }

  // ---- Selecting

  select(of, follow = true) {
    this.selected = of;
    if (follow) this.ensureVisible(of);
    this.tell(of);
    this.redraw();
  }

  tell(of) {
    const hint =
      this.run.calls.length > 0
        ? 'Point at a call, or step to it with the arrow keys, to see what it was.'
        : 'There are no tool calls in this run.';
    $('details').replaceChildren(of ? grid(details(this.run, of)) : make('p', 'dim', hint));
    for (const incident of this.run.incidents)
      incident.card.classList.toggle(
        'current',
        Boolean(of) && (of.incident === incident || (incident.call !== undefined && incident.call === of.id))
      );
  }

  callOf(mark) {
    const {incident} = mark;
    const {calls} = this.run;
    const named = incident.call ? calls.filter((of) => of.id === incident.call) : [];
    const around = named.length > 0 ? named : calls.filter((of) => of.row <= mark.row && of.endRow >= mark.row);
    return around.reduce(
      (best, of) => (!best || Math.abs(of.row - mark.row) < Math.abs(best.row - mark.row) ? of : best),
      null
    );
  }

  goTo(incident, focus) {
    const mark = this.run.marks.find((each) => each.incident === incident);
    const of = this.callOf(mark) || mark;
    const first = incident.first && this.run.calls.find((each) => each.id === incident.first);
    const low = Math.min(mark.x, of.x, first ? first.x : of.x);
    const high = Math.max(mark.x, of.xEnd || of.x);
    const span = Math.min(this.size, Math.max((high - low) * 1.6, this.size / 50, this.time ? 0 : 30));
    const middle = (low + high) / 2;
    this.lastMark = mark;
    this.select(of, false);
    this.glide(middle - span / 2, middle + span / 2);
    if (focus) {
      this.box.focus({preventScroll: true});
      this.box.scrollIntoView({block: 'nearest', behavior: calm.matches ? 'auto' : 'smooth'});
    }
  }

  stepIncident(by) {
    const {incidents} = this.run;
    if (incidents.length === 0) return;
    const at =
      this.lastMark && this.lastMark.incident.run === this.run
        ? incidents.indexOf(this.lastMark.incident)
        : by > 0
          ? -1
          : 0;
    this.goTo(incidents[(at + by + incidents.length) % incidents.length], false);
  }

  stepCall(by) {
    const {calls} = this.run;
    if (calls.length === 0) return;
    const at = calls.indexOf(this.selected);
    const first = by === 1 || by === -Infinity ? 0 : calls.length - 1;
    this.select(calls[at < 0 ? first : Math.max(0, Math.min(calls.length - 1, at + by))]);
  }

  stepLane(by) {
    if (!this.selected || !this.selected.lane) {
      this.stepCall(1);
      return;
    }
    const lane = this.lanes[this.lanes.indexOf(this.selected.lane) + by];
    if (!lane) return;
    const x = this.selected.x;
    this.select(lane.calls.reduce((best, of) => (Math.abs(of.x - x) < Math.abs(best.x - x) ? of : best)));
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const keys = {
      ArrowRight: () => (event.shiftKey ? this.pan(0.2) : this.stepCall(1)),
      ArrowLeft: () => (event.shiftKey ? this.pan(-0.2) : this.stepCall(-1)),
      ArrowDown: () => this.stepLane(1),
      ArrowUp: () => this.stepLane(-1),
      Home: () => this.stepCall(-Infinity),
      End: () => this.stepCall(Infinity),
      PageDown: () => this.pan(0.8),
      PageUp: () => this.pan(-0.8),
      '+': () => this.zoomKept(0.5),
      '=': () => this.zoomKept(0.5),
      '-': () => this.zoomKept(2),
      0: () => this.glide(0, this.size),
      n: () => this.stepIncident(1),
      p: () => this.stepIncident(-1),
      Escape: () => {
        this.selected = null;
        this.hover(null);
        this.tell(null);
      },
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }

  zoomKept(factor) {
    const of = this.selected;
    this.zoom(factor, of && of.x >= this.from && of.x <= this.to ? of.x : undefined);
  }

  // ---- Buttons and pointing

  listen() {
    this.box.addEventListener('keydown', (event) => this.key(event));
    $('zoom-in').addEventListener('click', () => this.zoomKept(0.5));
    $('zoom-out').addEventListener('click', () => this.zoomKept(2));
    $('fit').addEventListener('click', () => this.glide(0, this.size));
    $('previous').addEventListener('click', () => this.stepIncident(-1));
    $('next').addEventListener('click', () => this.stepIncident(1));
    for (const [id, time] of [
      ['by-time', true],
      ['by-order', false],
    ]) {
      $(id).addEventListener('click', () => {
        this.byTime = time;
        this.showScale(time);
      });
    }
  }

  hover(of, event) {
    const changed = of !== this.hovered;
    this.hovered = of;
    const tip = $('tip');
    tip.hidden = !of;
    if (of && changed) tip.replaceChildren(grid(details(this.run, of)));
    if (of && event) this.placeTip(tip, event);
    if (changed) this.redraw();
  }

  placeTip(tip, event) {
    const x = event.offsetX + 14;
    const room = this.box.clientWidth - tip.offsetWidth - 4;
    const below = event.offsetY + 18;
    const fits = below + tip.offsetHeight < this.box.clientHeight;
    tip.style.left = `${Math.max(4, Math.min(x, room))}px`;
    tip.style.top = `${fits ? below : Math.max(4, event.offsetY - tip.offsetHeight - 12)}px`;
  }

  // What is under a point: a detection, or a call.
  hit(x, y) {
    if (y < STRIP) return this.run.marks.find((mark) => Math.abs(this.px(mark.x) - x) < 9) || null;
    if (this.curve && y >= this.curve - 6) return this.hitReading(x, y);
    const lane = this.lanes.find((each) => y >= each.top && y < each.top + each.height);
    if (!lane) return null;
    const level = Math.floor((y - lane.top - 4) / ROW);
    const place = this.placeAt(x);
    const near = this.placeAt(x + 4) - place;
    let best = null;
    let distance = near;
    for (const of of lane.calls) {
      if (of.level !== level) continue;
      const away = Math.max(of.x - place, place - of.xEnd, 0);
      if (away < distance || (away === 0 && distance === 0)) {
        best = of;
        distance = away;
      }
    }
    return best;
  }

  hitReading(x, y) {
    const away = (reading) => Math.hypot(this.px(reading.x) - x, this.curve + (1 - reading.value) * CURVE - y);
    return this.run.readings.find((reading) => away(reading) < 7) || null;
  }
}
