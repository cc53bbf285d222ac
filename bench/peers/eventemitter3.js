// eventemitter3.js listeners N | topics N | memory: prints the nanoseconds of one emit to N listeners of one event, or
// to the one listener of one of N events; or the bytes of a listener (with node --expose-gc).
'use strict';
const EventEmitter = require('eventemitter3');
const [what, number] = process.argv.slice(2);

let calls = 0;
const listener = () => (event) => { calls += event.call; };

function nanoseconds(emitter, name) {
  const event = {call: 1};
  const round = (count) => {
    const start = process.hrtime.bigint();
    for (let i = 0; i < count; i++) emitter.emit(name, event);
    return Number(process.hrtime.bigint() - start);
  };
  for (let warm = 0; warm < 20; warm++) round(10000);
  let count = 10000;
  while (round(count) < 5e6) count *= 2;
  return round(count * 10) / (count * 10);
}

function bytes() {
  const many = 100000, emitter = new EventEmitter();
  const used = () => { global.gc(); return process.memoryUsage().heapUsed; };
  const shared = listener(), before = used();
  for (let i = 0; i < many; i++) emitter.on('tool.before', shared, emitter);
  const after = used();
  return Math.round((after - before) / emitter.listenerCount('tool.before')); // so that it is still there
}

const emitter = new EventEmitter();
if (what === 'listeners') {
  for (let i = 0; i < Number(number); i++) emitter.on('tool.before', listener());
  console.log(nanoseconds(emitter, 'tool.before'));
} else if (what === 'topics') {
  for (let i = 0; i < Number(number); i++) emitter.on(`own.topic.${i}`, listener());
  console.log(nanoseconds(emitter, 'own.topic.777'));
} else {
  console.log(bytes());
}
