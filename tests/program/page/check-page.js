'use strict';
const assert = require('assert');
const {execFileSync} = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const {Browser} = require('./browser.js');

const [program, mend] = process.argv.slice(2);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mend-pages-'));

// The page of what is replayed; that something was detected is no failure.
function page(name, ...args) {
  const file = path.join(folder, `${name}.html`);
  try {
    execFileSync(mend, ['replay', '--quiet', '--html', file, ...args], {stdio: 'ignore'});
  } catch (failure) {
    if (failure.status !== 1) throw failure;
  }
  return file;
}

function sweepPage(name, settings, ...args) {
  const file = path.join(folder, `${name}.html`);
  execFileSync(mend, ['replay', '--sweep', settings, '--html', file, ...args], {stdio: 'ignore'});
  return file;
}

const line = (ts, topic, run, call, rest) => JSON.stringify({ts, topic, run_id: run, call_id: call, ...rest});

function recording(name, lines) {
  const file = path.join(folder, name);
  fs.writeFileSync(file, Buffer.concat(lines.map((each) => Buffer.concat([Buffer.from(each), Buffer.from('\n')]))));
  return file;
}

// A call that hangs, and confidence that falls.
function troubledRun() {
  const tools = ['read_file', 'search_code', 'search_code', 'run_tests', 'edit_file', 'bash', 'edit_file', 'bash'];
  const readings = [0.91, 0.88, 0.87, 0.74, 0.66, 0.61, 0.48, 0.44, 0.39, 0.31];
  const lines = [];
  let ts = 1000;
  tools.forEach((tool_name, i) => {
    const call = `c${i + 1}`;
    lines.push(line(ts, 'tool.before', 'flaky', call, {tool_name, args: {step: i}}));
    ts += tool_name === 'run_tests' ? 300 : 5;
    const end = {run_tests: 'tool.cancelled', bash: 'tool.error'}[tool_name] || 'tool.after';
    if (i < 7) lines.push(line(ts, end, 'flaky', call, {tool_name, result: 'done', error_message: 'exit status 1'}));
    if (i !== 6) return;
    const reading = {source: 'coder', tool_name};
    readings.forEach((confidence, n) =>
      lines.push(line(ts + n, 'metacognition.confidence', 'flaky', `r${n}`, {...reading, confidence}))
    );
    ts += readings.length;
  });
  return recording('troubled.jsonl', lines);
}
const troubled = troubledRun();
const healthy = recording('healthy.jsonl', [
  line(1000, 'tool.before', 'calm', 'c1', {tool_name: 'write_file', args: {path: 'a'}}),
  line(1001, 'tool.after', 'calm', 'c1', {tool_name: 'write_file', result: 'done'}),
]);

// Texts that want to be more than texts, in every place where one is shown.
const MARKUP = '</script><img src=x onerror="document.title=\'owned\'"><!--<script>';
function hostile() {
  const texts = [MARKUP, '\u202Eright to left\u2066', '\u2028\u2029 lines', 'a\u0000b\u001b[31m', '{{7*7}}${7*7}'];
  const lines = [];
  texts.forEach((text, i) => {
    for (let n = 0; n < 6; n++) {
      lines.push(
        line(1000 + i * 100 + n * 2, 'tool.before', `run ${text}`, `${text} ${n}`, {tool_name: text, args: {text}})
      );
      lines.push(
        line(1001 + i * 100 + n * 2, 'tool.error', `run ${text}`, `${text} ${n}`, {
          tool_name: text,
          error_message: text,
        })
      );
    }
  });
  const raw = Buffer.from(line(2000, 'tool.before', 'bytes', 'b', {tool_name: 'XX', args: {}}));
  raw[raw.indexOf('XX')] = 0xff;
  raw[raw.indexOf('X')] = 0xc3;
  lines.push(
    raw,
    '{"ts": 2001, "event": "tool.before", "run_id": "\\ud800", "call_id": "\\udfff", "tool": "\\ud83d", "args": {}}'
  );
  return recording('hostile<b>.jsonl', lines);
}

function many(calls) {
  const lines = [];
  for (let i = 0; i < calls; i++) {
    const tool_name = ['bash', 'read_file', 'edit_file'][i % 3];
    lines.push(line(1000 + i, 'tool.before', 'long', `c${i}`, {tool_name, args: {i}}));
    lines.push(
      line(1000.5 + i, i % 20 === 0 ? 'tool.error' : 'tool.after', 'long', `c${i}`, {
        tool_name,
        result: i,
        error_message: 'no',
      })
    );
  }
  return recording(`${calls}.jsonl`, lines);
}

// ---- What must hold ----

const text = (browser, selector) => browser.run(`document.querySelector(${JSON.stringify(selector)}).textContent`);

// How many colours the lanes of the timeline have.
const colours = (browser) =>
  browser.run(`(() => {
    const {canvas} = timeline;
    const {data} = canvas.getContext('2d').getImageData(150, 30, canvas.width - 160, canvas.height - 60);
    return new Set(new Uint32Array(data.buffer)).size;
  })()`);

// Where a call of a tool is on the screen.
const placeOf = (browser, tool) =>
  browser.run(`(() => {
    const box = timeline.canvas.getBoundingClientRect();
    const of = timeline.run.calls.find((each) => each.tool === '${tool}');
    return [box.left + timeline.px(of.x) + 20, box.top + of.lane.top + 10];
  })()`);

// How long a picture takes, in ms: the median of some.
const timeOfPicture = (browser) =>
  browser.run(`(() => {
    const times = [0.7, 0.7, 0.7, 0.7, 1.4, 1.4, 1.4, 1.4, 1.4].map((factor) => {
      const begun = performance.now();
      timeline.zoom(factor);
      timeline.draw();
      return performance.now() - begun;
    });
    return times.sort((a, b) => a - b)[4];
  })()`);

const setTo = (browser, selector, member, value, event) =>
  browser.run(`(() => {
    const element = document.querySelector('${selector}');
    element.${member} = ${JSON.stringify(value)};
    element.dispatchEvent(new Event('${event}'));
  })()`);

const tests = {
  async 'a page opens, draws and asks for nothing'(browser) {
    await browser.open(page('troubled', troubled));
    assert.match(await text(browser, 'h1'), /1 call hung for 5 min/);
    assert.strictEqual(await browser.run("document.querySelectorAll('#incidents > li').length"), 2);
    assert.ok((await colours(browser)) > 5, 'the timeline is empty');
  },

  async 'a browser would refuse another script, and any request'(browser) {
    await browser.run(
      "document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.intruder = 1' }))"
    );
    await browser.run("fetch('https://127.0.0.1:9/').catch(() => 0)");
    assert.strictEqual(await browser.run('window.intruder'), undefined);
    for (const refused of [/inline script/, /127\.0\.0\.1:9/])
      assert.ok(
        browser.errors.some((each) => refused.test(each)),
        `${browser.errors}`
      );
    browser.errors = [];
    browser.requests.length = 1;
  },

  async 'the keyboard reaches everything, and steps from call to call'(browser) {
    await browser.open(page('troubled', troubled));
    const reached = new Set();
    for (let i = 0; i < 20; i++) {
      await browser.key('Tab');
      reached.add(await browser.run('document.activeElement.id || document.activeElement.textContent'));
    }
    for (const id of ['theme', 'by-order', 'next', 'zoom-in', 'timeline'])
      assert.ok(reached.has(id), `Tab does not reach ${id}`);
    assert.ok(
      [...reached].some((each) => each.startsWith('1. run_tests')),
      'Tab does not reach an incident'
    );
    await browser.run("document.getElementById('timeline').focus()");
    await browser.key('ArrowRight');
    const first = await text(browser, '#details');
    await browser.key('ArrowRight');
    const second = await text(browser, '#details');
    await browser.key('ArrowLeft');
    assert.match(first, /Toolread_file/);
    assert.notStrictEqual(first, second);
    assert.strictEqual(await text(browser, '#details'), first);
    await browser.key('End');
    assert.match(await text(browser, '#details'), /Outcomeunfinished/);
    await browser.key('n', {text: 'n'});
    assert.match(await text(browser, '#details'), /Toolrun_tests/);
  },

  async "an incident's button shows its call in the timeline"(browser) {
    await browser.open(page('troubled', troubled));
    await browser.run("document.querySelectorAll('#incidents h4 button')[0].focus()");
    await browser.key('Enter', {text: '\r'});
    assert.strictEqual(await browser.run('document.activeElement.id'), 'timeline');
    assert.match(await text(browser, '#details'), /Toolrun_tests.*Outcomecancelled.*Call idc4/);
    assert.ok(await browser.run("document.querySelectorAll('#incidents > li')[0].classList.contains('current')"));
    await browser.run('timeline.goTo(current.incidents[1], false)');
    assert.ok(await browser.run('timeline.to - timeline.from < timeline.size'), 'it is not zoomed');
  },

  async 'the mouse shows what it points at, and drags'(browser) {
    await browser.open(page('troubled', troubled));
    const [x, y] = await placeOf(browser, 'run_tests');
    await browser.mouse('mouseMoved', x, y);
    assert.match(await text(browser, '#tip'), /Toolrun_tests/);
    await browser.run('timeline.zoom(0.2)');
    const from = await browser.run('timeline.from');
    await browser.mouse('mousePressed', x, y);
    await browser.mouse('mouseMoved', x - 80, y);
    await browser.mouse('mouseReleased', x - 80, y);
    assert.ok((await browser.run('timeline.from')) > from, 'it was not dragged');
  },

  async 'dark and light, by the system and by the button'(browser) {
    const ground = () => browser.run('getComputedStyle(document.body).backgroundColor');
    const file = page('troubled', troubled);
    await browser.open(file);
    const light = await ground();
    await browser.open(file, {dark: true});
    const dark = await ground();
    assert.notStrictEqual(light, dark);
    await browser.run("document.getElementById('theme').click()");
    assert.strictEqual(await ground(), light);
    assert.ok((await colours(browser)) > 5);
  },

  async 'hostile texts are shown as texts'(browser) {
    await browser.open(page('hostile', hostile()));
    assert.notStrictEqual(await browser.run('document.title'), 'owned');
    assert.strictEqual(await browser.run('document.images.length'), 0);
    assert.strictEqual(await browser.run("document.querySelectorAll('script').length"), 2);
    const runs = await text(browser, '#run-list');
    assert.ok(runs.includes(MARKUP), 'the markup is not shown');
    assert.ok(runs.includes('\\u202eright to left\\u2066'), 'the mark of direction is not shown');
    assert.ok(runs.includes('a\\x00b\\x1b[31m'), 'the control characters are not shown');
    assert.ok(!/[\u202e\u2066\u2028]/.test(await text(browser, 'body')), 'something moves the text around it');
    for (let i = 0, runCount = await browser.run('recorded.runs.length'); i < runCount; i++) {
      await browser.run(`document.querySelectorAll("#run-list button")[${i}].click()`);
      await browser.frame();
    }
  },

  async 'runs are found, the worst first'(browser) {
    await browser.open(page('both', healthy, troubled));
    assert.match(await text(browser, '#run-list li'), /troubled/);
    await setTo(browser, '#search', 'value', 'write_file', 'input');
    assert.strictEqual(await browser.run("document.querySelectorAll('#run-list li').length"), 1);
    assert.match(await text(browser, '#run-list li'), /healthy/);
    await browser.run("document.querySelector('#run-list button').click()");
    assert.match(await text(browser, '#run-title'), /healthy/);
    assert.match(await text(browser, '#incidents'), /Nothing was detected/);
  },

  async 'a sweep is a heat map'(browser) {
    await browser.open(sweepPage('sweep', 'mode=seed/evidence,loop.k=2..10,loop.n=9..10', troubled));
    assert.strictEqual(await browser.run("document.querySelectorAll('#sweep-table td').length"), 18);
    assert.strictEqual(await browser.run("document.querySelectorAll('#sweep-table td.left-out').length"), 3);
    await browser.run("document.querySelector('#sweep-table td.current').focus()");
    assert.match(
      await text(browser, '#sweep-cell'),
      /mode=evidence, loop.k=3, loop.n=10: 2 incidents in 1 file: .*\(the current setting\)/
    );
    await browser.key('ArrowDown');
    assert.match(await text(browser, '#sweep-cell'), /loop.k=4, loop.n=10/);
    await setTo(browser, '#sweep-others select', 'selectedIndex', 0, 'change');
    assert.strictEqual(await browser.run("document.querySelector('#sweep-table td.current')"), null);
  },

  async '20,000 calls move smoothly, more are blocks'(browser) {
    await browser.open(page('many', many(30000)));
    assert.match(await text(browser, '#drawn'), /of 30,000, [0-9,]+ are drawn in/);
    const ms = await timeOfPicture(browser);
    assert.ok(ms < 150, `a picture took ${Math.round(ms)} ms`);
    await browser.run("document.getElementById('calls-part').open = true");
    await browser.frame();
    assert.strictEqual(await browser.run("document.querySelectorAll('#calls tbody tr').length"), 100);
  },

  async 'nothing to show is said'(browser) {
    const empty = recording('empty.jsonl', []);
    await assert.rejects(async () => page('empty', empty));
    await browser.open(path.join(folder, 'empty.html'));
    assert.match(await text(browser, 'h1'), /could not be read/);
    assert.match(await text(browser, '#file-list'), /it is empty/);
  },

  async 'it fits a telephone and a wall'(browser) {
    const file = page('both', healthy, troubled);
    for (const width of [360, 700, 1200, 2560]) {
      await browser.open(file, {width});
      assert.strictEqual(
        await browser.run('document.documentElement.scrollWidth > innerWidth'),
        false,
        `it is wider than ${width}`
      );
    }
  },
};

async function main() {
  const browser = new Browser(program);
  let passed = 0;
  let failed = 0;
  try {
    await browser.begin();
    for (const [name, test] of Object.entries(tests)) {
      try {
        await test(browser);
        assert.deepStrictEqual(browser.errors, [], 'the console has errors');
        assert.ok(
          browser.requests.every((url) => url.startsWith('file://')) && browser.requests.length === 1,
          `requests: ${browser.requests}`
        );
        passed++;
      } catch (failure) {
        failed++;
        console.log(`${name}: ${failure.message}`);
      }
    }
  } finally {
    await browser.end();
    fs.rmSync(folder, {recursive: true, force: true});
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

main();
