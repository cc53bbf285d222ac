// A mouse or fingers on a timeline: they drag it, and with two fingers or Ctrl and the wheel they zoom.
class Hand {
  constructor(timeline) {
    this.timeline = timeline;
    this.drag = null;
    this.pointers = new Map();
    timeline.canvas.addEventListener('wheel', (event) => this.wheel(event), {passive: false});
    timeline.canvas.addEventListener('pointerdown', (event) => this.press(event));
    timeline.canvas.addEventListener('pointermove', (event) => this.move(event));
    for (const name of ['pointerup', 'pointercancel'])
      timeline.canvas.addEventListener(name, (event) => this.release(event));
    timeline.canvas.addEventListener('pointerleave', () => timeline.hover(null));
    timeline.canvas.addEventListener('dblclick', (event) => timeline.zoom(0.4, timeline.placeAt(event.offsetX)));
    timeline.map.addEventListener('pointerdown', (event) => {
      timeline.map.setPointerCapture(event.pointerId);
      this.lookAt(event);
    });
    timeline.map.addEventListener('pointermove', (event) => {
      if (event.buttons) this.lookAt(event);
    });
  }

  wheel(event) {
    const across = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!event.ctrlKey && !across) return; // the page scrolls
    event.preventDefault();
    if (event.ctrlKey) this.timeline.zoom(Math.exp(event.deltaY * 0.004), this.timeline.placeAt(event.offsetX));
    else this.timeline.pan(event.deltaX / this.timeline.width);
  }

  press(event) {
    this.timeline.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, event.offsetX);
    this.drag = {x: event.offsetX, from: this.timeline.from, to: this.timeline.to, moved: false};
  }

  move(event) {
    if (!this.pointers.has(event.pointerId)) {
      this.timeline.hover(this.timeline.hit(event.offsetX, event.offsetY), event);
      return;
    }
    const before = [...this.pointers.values()];
    this.pointers.set(event.pointerId, event.offsetX);
    if (this.pointers.size === 2) {
      this.pinch(before, [...this.pointers.values()]);
      return;
    }
    const by = event.offsetX - this.drag.x;
    if (Math.abs(by) > 3) this.drag.moved = true;
    if (!this.drag.moved) return;
    this.timeline.box.classList.add('panning');
    const moved = (by * (this.drag.to - this.drag.from)) / this.timeline.width;
    this.timeline.setView(this.drag.from - moved, this.drag.to - moved);
  }

  pinch(before, now) {
    this.drag.moved = true;
    const was = Math.abs(before[0] - before[1]);
    const is = Math.abs(now[0] - now[1]);
    if (was > 8 && is > 8) this.timeline.zoom(was / is, this.timeline.placeAt((now[0] + now[1]) / 2));
    this.drag = {x: now[0], from: this.timeline.from, to: this.timeline.to, moved: true};
  }

  release(event) {
    this.pointers.delete(event.pointerId);
    this.timeline.box.classList.remove('panning');
    if (event.type !== 'pointerup' || this.drag.moved) return;
    const of = this.timeline.hit(event.offsetX, event.offsetY);
    if (!of) return;
    this.timeline.select(of, false);
    if (of.incident) this.timeline.lastMark = of;
  }

  lookAt(event) {
    const middle = ((event.offsetX - this.timeline.left) / this.timeline.width) * this.timeline.size;
    const half = (this.timeline.to - this.timeline.from) / 2;
    this.timeline.setView(middle - half, middle + half);
  }
}
