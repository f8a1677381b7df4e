'use strict';
// The page is complete without this: it only sorts, filters, copies and zooms.
(() => {
  const make = (tag, properties, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  };
  const button = (text, action) => {
    const node = make('button', { type: 'button', textContent: text });
    node.addEventListener('click', action);
    return node;
  };
  const data = (id) => JSON.parse(document.getElementById(id).textContent);
  const numberIn = (text) => parseFloat(text.replace(/[\s,\u202f]/g, ''));

  // Every word has to be found, or holds as a comparison: "hidden_dim>=4096 swiglu".
  const matcher = (query, columns) => {
    const tests = query.trim().toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
      const parts = /^([a-z0-9_./%]+)(<=|>=|<|>|=)([-+0-9.e]+)$/.exec(word);
      const column = parts ? columns.indexOf(parts[1]) : -1;
      if (column < 0) return (cells) => cells.some((cell) => cell.toLowerCase().includes(word));
      const bound = parseFloat(parts[3]);
      const holds = { '<': (v) => v < bound, '>': (v) => v > bound, '<=': (v) => v <= bound, '>=': (v) => v >= bound, '=': (v) => v === bound };
      return (cells) => holds[parts[2]](numberIn(cells[column]));
    });
    return (cells) => tests.every((test) => test(cells));
  };

  const kMostRows = 100;
  for (const table of document.querySelectorAll('table.data')) {
    const heads = [...table.tHead.rows[0].cells];
    const columns = heads.map((th) => th.textContent.trim().toLowerCase().replace(/\s+/g, '_'));
    const body = table.tBodies[0];
    const own = [...body.rows].map((row) => ({ row, cells: [...row.cells].map((cell) => cell.textContent.trim()) }));
    // Rows beyond those that stand in the page come from its data.
    const more = table.dataset.more ? data(table.dataset.more).map((cells) => ({ row: null, cells })) : [];
    const all = own.concat(more);
    let order = all, accepts = () => true;
    const status = make('span', { className: 'dim' });
    status.setAttribute('role', 'status');
    const show = () => {
      const found = order.filter((entry) => accepts(entry.cells));
      body.replaceChildren(...found.slice(0, kMostRows).map((entry) => {
        entry.row ??= make('tr', {}, ...entry.cells.map((text, i) => make('td', { className: heads[i].className, textContent: text })));
        return entry.row;
      }));
      status.textContent = `${found.length} of ${all.length} rows` + (found.length > kMostRows ? `, the first ${kMostRows} shown` : '');
    };
    heads.forEach((th, column) => {
      if (!th.textContent.trim()) return;
      const sort = button('', () => {
        const down = th.getAttribute('aria-sort') === 'ascending';
        for (const other of heads) other.removeAttribute('aria-sort');
        th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        const keyed = all.map((entry) => [numberIn(entry.cells[column]), entry.cells[column], entry]);
        keyed.sort(([a, s], [b, t]) => (Number.isNaN(a) && Number.isNaN(b) ? s.localeCompare(t) : Number.isNaN(a) ? 1 : Number.isNaN(b) ? -1 : a - b));
        order = keyed.map((key) => key[2]);
        if (down) order.reverse();
        show();
      });
      sort.append(...th.childNodes);
      th.append(sort);
    });
    if (all.length > 8) {
      const input = make('input', { type: 'search', placeholder: 'filter, as in ' + (columns.find((c) => /ms|µs/.test(c)) ?? columns[0]) + '<1' });
      input.setAttribute('aria-label', 'Filter ' + (table.caption ? table.caption.textContent : 'rows'));
      input.addEventListener('input', () => { accepts = matcher(input.value, columns); show(); });
      (table.closest('.scroll') ?? table).before(make('div', { className: 'tools' }, input, status));
      if (more.length) show();
    }
  }

  // One of several, by name.
  const chooser = (label, names, chosen, action) => {
    const node = make('select', {}, ...names.map((name, i) => make('option', { value: i, textContent: name })));
    node.value = chosen;
    node.addEventListener('change', () => action(Number(node.value)));
    return make('label', {}, `${label} `, node);
  };

  for (const text of document.querySelectorAll('pre.copy')) {
    const said = make('span', {});
    said.setAttribute('role', 'status');
    const tools = make('div', { className: 'tools' });
    text.before(tools);
    if (text.dataset.choices) {
      const { base, all } = data(text.dataset.choices);
      tools.append(chooser('Shape', all.map((each) => each[0]), 0, (i) => {
        const chosen = Object.entries({ ...base, ...all[i][1] }).filter(([, value]) => value !== null);
        text.textContent = JSON.stringify(Object.fromEntries(chosen), null, 2) + '\n';
        said.textContent = '';
      }));
    }
    tools.append(button('Copy', async () => {
      try {
        await navigator.clipboard.writeText(text.textContent);
        said.textContent = 'copied';
      } catch {
        getSelection().selectAllChildren(text);
        said.textContent = 'selected: copy it with the keyboard';
      }
    }), said);
  }

  // Two runs beside each other: their values lie in the page, the table shows one pair.
  for (const host of document.querySelectorAll('[data-compare]')) {
    const { names, digits, totals, runs } = data(host.dataset.compare);
    const table = host.querySelector('table'), body = table.tBodies[0];
    const kMost = 40;
    const chosen = [runs.length - 2, runs.length - 1];
    const show = () => {
      const [before, after] = chosen.map((i) => new Map(runs[i][1]));
      table.caption.textContent = `${runs[chosen[0]][0]} and ${runs[chosen[1]][0]}`;
      const rows = [];
      for (let n = 0; n < names.length; ++n) {
        const a = before.get(n), b = after.get(n);
        if (a === undefined && b === undefined) continue;
        rows.push({ n, a, b, moved: n < totals ? Infinity : Math.abs((b ?? 0) - (a ?? 0)) });
      }
      rows.sort((x, y) => (x.moved === y.moved ? x.n - y.n : y.moved - x.moved));
      const cell = (text, className) => make('td', { className, textContent: text });
      const value = (v, n) => (v === undefined ? '–' : v.toFixed(digits[n]));
      body.replaceChildren(...rows.slice(0, kMost).map(({ n, a, b }) => {
        const change = a === undefined || b === undefined || a === 0 ? '' : 100 * (b / a - 1);
        const says = change === '' ? '' : `${change < 0 ? '' : '+'}${change.toFixed(2)} %`;
        return make('tr', {}, cell(names[n], 'text'), cell(value(a, n), 'number'), cell(value(b, n), 'number'), cell(says, 'number'));
      }));
    };
    const labels = runs.map((run) => run[0]);
    (table.closest('.scroll') ?? table).before(make('div', { className: 'tools' },
      ...['Before', 'After'].map((label, i) => chooser(label, labels, chosen[i], (run) => { chosen[i] = run; show(); }))));
  }

  const kSvg = 'http://www.w3.org/2000/svg';
  for (const figure of document.querySelectorAll('figure.zoom')) {
    const plot = figure.querySelector('svg.plot'), axes = figure.querySelector('g.axes');
    if (!plot) continue;
    const whole = plot.getAttribute('viewBox').split(' ').map(Number);
    let view = [...whole];
    const scale = JSON.parse(figure.dataset.axes);
    const value = (axis, share) => (axis.log ? axis.low * (axis.high / axis.low) ** share : axis.low + (axis.high - axis.low) * share);
    const draw = () => {
      plot.setAttribute('viewBox', view.join(' '));
      const marks = [];
      for (let i = 0; i <= 5; ++i) {
        for (const [horizontal, axis] of [[true, scale.x], [false, scale.y]]) {
          const share = horizontal ? (view[0] + view[2] * i / 5) / whole[2] : 1 - (view[1] + view[3] * i / 5) / whole[3];
          const text = document.createElementNS(kSvg, 'text');
          const x = horizontal ? scale.left + whole[2] * i / 5 : scale.left - 6, y = horizontal ? scale.top + whole[3] + 16 : scale.top + whole[3] * i / 5 + 4;
          for (const [name, v] of [['x', x], ['y', y], ['text-anchor', horizontal ? 'middle' : 'end'], ['class', 'ink'], ['fill', '#222']]) text.setAttribute(name, v);
          text.textContent = Number(value(axis, share).toPrecision(4));
          marks.push(text);
        }
      }
      axes.replaceChildren(...marks);
    };
    const zoom = (factor, cx = 0.5, cy = 0.5) => {
      const w = Math.min(whole[2], view[2] * factor), h = Math.min(whole[3], view[3] * factor);
      view = [view[0] + (view[2] - w) * cx, view[1] + (view[3] - h) * cy, w, h];
      move(0, 0);
    };
    const move = (dx, dy) => {
      view[0] = Math.max(0, Math.min(whole[2] - view[2], view[0] + dx * view[2]));
      view[1] = Math.max(0, Math.min(whole[3] - view[3], view[1] + dy * view[3]));
      draw();
    };
    const said = make('span', { className: 'dim' });
    said.setAttribute('role', 'status');
    figure.querySelector('.scroll').before(make('div', { className: 'tools' }, button('Zoom in', () => zoom(0.5)), button('Zoom out', () => zoom(2)),
      button('◀', () => move(-0.25, 0)), button('▶', () => move(0.25, 0)), button('▲', () => move(0, -0.25)), button('▼', () => move(0, 0.25)),
      button('Whole', () => { view = [...whole]; draw(); }), said));
    figure.querySelectorAll('.tools button').forEach((node, i) => { if (i > 1 && i < 6) node.setAttribute('aria-label', ['Left', 'Right', 'Up', 'Down'][i - 2]); });
    const place = (event) => {
      const box = plot.getBoundingClientRect();
      return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    };
    plot.addEventListener('dblclick', (event) => zoom(0.5, ...place(event)));
    if (!figure.dataset.points) continue;
    const points = data(figure.dataset.points);
    plot.addEventListener('pointermove', (event) => {
      const [sx, sy] = place(event);
      const x = view[0] + sx * view[2], y = view[1] + sy * view[3], reach = 12 * view[2] / whole[2];
      let best = null, least = reach * reach;
      for (const point of points) {
        const distance = (point[0] - x) ** 2 + (point[1] - y) ** 2;
        if (distance < least) { least = distance; best = point; }
      }
      said.textContent = best ? best[2] : '';
    });
  }
})();
