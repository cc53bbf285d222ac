// ---- Other settings ----

function cellWords(sweep, index, cell) {
  const settings = [];
  for (let i = sweep.axes.length - 1, rest = index; i >= 0; i--) {
    const {name, values} = sweep.axes[i];
    settings.unshift(`${name}=${values[rest % values.length]}`);
    rest = Math.floor(rest / values.length);
  }
  const what =
    cell === null
      ? 'left out: these options contradict each other'
      : `${count(cell[0], 'incident')} in ${count(cell[1], 'file')}${cell[2] ? `: ${cell[2]}` : ''}`;
  return `${settings.join(', ')}: ${what}${index === sweep.current ? ' (the current setting)' : ''}`;
}

function sweepCell(sweep, index, most) {
  const cell = sweep.cells[index];
  const td = make(
    'td',
    cell === null ? 'left-out' : cell[0] === 0 ? 'nothing' : '',
    cell === null ? '\u2013' : number(cell[0])
  );
  if (cell !== null && cell[0] > 0) td.style.setProperty('--part', String(cell[0] / most));
  if (index === sweep.current) {
    td.classList.add('current');
    td.setAttribute('aria-current', 'true');
  }
  td.tabIndex = -1;
  const words = cellWords(sweep, index, cell);
  td.setAttribute('aria-label', words);
  td.addEventListener('focus', () => {
    $('sweep-cell').textContent = words;
  });
  td.addEventListener('pointerenter', () => {
    $('sweep-cell').textContent = words;
  });
  return td;
}

function showSweepTable(sweep) {
  const axes = sweep.axes;
  const columns = axes.length > 1 ? axes[axes.length - 1] : {name: '', values: ['incidents']};
  const rows = axes[Math.max(0, axes.length - 2)];
  const table = $('sweep-table');
  const most = sweep.cells.reduce((a, cell) => Math.max(a, cell === null ? 0 : cell[0]), 1);
  let first = 0;
  for (const select of $('sweep-others').querySelectorAll('select'))
    first = first * select.options.length + select.selectedIndex;
  first *= rows.values.length * columns.values.length;
  const heading = (text, scope) => {
    const th = make('th', '', text);
    th.scope = scope;
    return th;
  };
  const corner = columns.name ? `${rows.name} \u2193  ${columns.name} \u2192` : rows.name;
  const head = make(
    'thead',
    '',
    make('tr', '', heading(corner, 'col'), ...columns.values.map((value) => heading(value, 'col')))
  );
  const body = make(
    'tbody',
    '',
    ...rows.values.map((value, i) =>
      make(
        'tr',
        '',
        heading(value, 'row'),
        ...columns.values.map((_, j) => sweepCell(sweep, first + i * columns.values.length + j, most))
      )
    )
  );
  table.replaceChildren(head, body);
  (table.querySelector('td.current') || table.querySelector('td')).tabIndex = 0;
}

function moveInSweep(event) {
  const move = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0]}[event.key];
  const td = event.target.closest('td');
  if (!move || !td) return;
  event.preventDefault();
  const row = $('sweep-table').tBodies[0].rows[td.parentNode.sectionRowIndex + move[0]];
  const next = row && row.cells[td.cellIndex + move[1]];
  if (!next || next.tagName !== 'TD') return;
  td.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function sweepSelect(sweep, axis, i) {
  const select = make('select', '', ...axis.values.map((value) => make('option', '', value)));
  let index = sweep.current || 0;
  for (let j = sweep.axes.length - 1; j > i; j--) index = Math.floor(index / sweep.axes[j].values.length);
  select.selectedIndex = index % axis.values.length;
  select.addEventListener('change', () => showSweepTable(sweep));
  return make('label', '', `${axis.name} `, select);
}

function showSweep(sweep) {
  $('sweep-others').replaceChildren(...sweep.axes.slice(0, -2).map((axis, i) => sweepSelect(sweep, axis, i)));
  const swatch = (className, text) => make('li', '', make('span', `swatch ${className}`), text);
  $('sweep-legend').append(
    swatch('', 'none'),
    swatch('much', 'few to most'),
    swatch('left-out', 'left out: options that contradict each other'),
    sweep.current !== undefined && swatch('current', 'the current setting')
  );
  $('sweep-table').addEventListener('keydown', moveInSweep);
  showSweepTable(sweep);
  $('sweep').hidden = false;
}
