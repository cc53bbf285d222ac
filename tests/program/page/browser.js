// A headless Chromium, spoken to through a pipe: no port, and nothing to install beside the browser.
'use strict';
const {spawn} = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

class Browser {
  constructor(program) {
    this.profile = fs.mkdtempSync(path.join(os.tmpdir(), 'mend-page-'));
    const flags = [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--no-first-run',
      '--hide-scrollbars',
      `--user-data-dir=${this.profile}`,
      '--remote-debugging-pipe',
      'about:blank',
    ];
    this.child = spawn(program, flags, {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
    this.waiting = new Map();
    this.errors = [];
    this.requests = [];
    this.last = 0;
    this.rest = '';
    this.child.stdio[4].on('data', (data) => this.hear(data.toString()));
    this.child.on('exit', () => {
      for (const {reject} of this.waiting.values()) reject(new Error('the browser ended'));
    });
  }

  hear(text) {
    const messages = (this.rest + text).split('\0');
    this.rest = messages.pop();
    for (const message of messages.map((each) => JSON.parse(each))) {
      const answer = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (!answer) this.note(message);
      else if (message.error) answer.reject(new Error(message.error.message));
      else answer.resolve(message.result);
    }
  }

  note({method, params}) {
    if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url);
    if (method === 'Runtime.exceptionThrown') this.errors.push(params.exceptionDetails.exception.description);
    if (method === 'Log.entryAdded') this.errors.push(`${params.entry.level}: ${params.entry.text}`);
    if (method === 'Runtime.consoleAPICalled') this.errors.push(`console.${params.type}`);
    if (method === 'Page.loadEventFired' && this.loaded) this.loaded();
  }

  send(method, params = {}) {
    const id = ++this.last;
    const answer = new Promise((resolve, reject) => this.waiting.set(id, {resolve, reject}));
    this.child.stdio[3].write(`${JSON.stringify({id, method, params, sessionId: this.session})}\0`);
    return answer;
  }

  async begin() {
    const {targetInfos} = await this.send('Target.getTargets');
    const {targetId} = targetInfos.find((target) => target.type === 'page');
    this.session = (await this.send('Target.attachToTarget', {targetId, flatten: true})).sessionId;
    for (const part of ['Page', 'Runtime', 'Log', 'Network']) await this.send(`${part}.enable`);
  }

  // Loads a file; what it does wrong is in errors, what it asks for in requests.
  async open(file, {width = 1400, height = 900, dark = false, media = '', calm = true} = {}) {
    this.errors = [];
    this.requests = [];
    await this.send('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: 1, mobile: width < 600});
    const features = [{name: 'prefers-color-scheme', value: dark ? 'dark' : 'light'}];
    if (calm) features.push({name: 'prefers-reduced-motion', value: 'reduce'});
    await this.send('Emulation.setEmulatedMedia', {media, features});
    const loaded = new Promise((resolve) => {
      this.loaded = resolve;
    });
    await this.send('Page.navigate', {url: `file://${path.resolve(file)}`});
    await loaded;
    await this.frame();
  }

  async run(expression) {
    const {result, exceptionDetails} = await this.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception.description);
    return result.value;
  }

  // Until what was changed is drawn.
  frame() {
    return this.run('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))');
  }

  async key(key, {code = key, text, shift = false} = {}) {
    const of = {key, code, text, modifiers: shift ? 8 : 0, windowsVirtualKeyCode: {Tab: 9, Enter: 13}[key] || 0};
    await this.send('Input.dispatchKeyEvent', {type: 'keyDown', ...of});
    await this.send('Input.dispatchKeyEvent', {type: 'keyUp', ...of});
    await this.frame();
  }

  async mouse(type, x, y) {
    await this.send('Input.dispatchMouseEvent', {
      type,
      x,
      y,
      button: type === 'mouseMoved' ? 'none' : 'left',
      clickCount: 1,
    });
    await this.frame();
  }

  async screenshot(file, whole = false) {
    const {data} = await this.send('Page.captureScreenshot', {captureBeyondViewport: whole});
    fs.writeFileSync(file, Buffer.from(data, 'base64'));
  }

  async end() {
    const gone = new Promise((resolve) => this.child.on('exit', resolve));
    this.child.kill('SIGKILL');
    await gone;
    fs.rmSync(this.profile, {recursive: true, force: true, maxRetries: 10});
  }
}

module.exports = {Browser};
