// Draw the heat map of pairs on a canvas; zoom and pan need no server.
//
// Rows and columns are places in the order of drawing; variables are positions in the domain. Cells
// above the diagonal show false positives, cells below it false negatives. Where single pairs would
// be too small to see, a cell stands for a square of pairs: it shows their mean, or the worst of
// them on request, and a dot marks a cell in which a single pair has most of the errors.
"use strict";

const SMALLEST_CELL = 3; // pixels; smaller cells are drawn together
const LARGEST_CELL = 72;
const REACH = 6; // pixels around a click in which the worst small cell is meant
const LABEL = 11; // pixels that a label needs along its side
const LONE = 0.5; // the least share of a lone pair, which gets a dot

class HeatMap {
  static count = 0;

  constructor(host) {
    this.host = host;
    this.canvas = host.querySelector("canvas");
    this.context = this.canvas.getContext("2d");
    this.readout = host.closest(".map").querySelector(".readout");
    this.readout.id ||= `readout-${HeatMap.count++}`;
    this.canvas.setAttribute("aria-describedby", this.readout.id);
    this.data = null;
    this.chosen = null;
    this.cursor = null;
    this.pointers = new Map();
    this.listen();
  }

  // -- data ---------------------------------------------------------------------------------------

  setData(sent) {
    const before = this.data;
    const floats = (text) => new Float32Array(bytesOf(text).buffer);
    const whole = (text) => new Uint32Array(bytesOf(text).buffer);
    const data = {
      ...sent,
      order: whole(sent.order),
      pairs: whole(sent.pairs),
      tp: floats(sent.tp),
      fp: floats(sent.fp),
      fn: floats(sent.fn),
    };
    data.n = data.names.length;
    data.place = new Uint32Array(data.n);
    data.order.forEach((variable, place) => { data.place[variable] = place; });
    data.keys = Float64Array.from(data.tp, (_, k) => data.pairs[2 * k] * data.n + data.pairs[2 * k + 1]);
    data.levels = pyramid(data);
    this.data = data;
    this.ranked = null;
    this.cursor = null;
    const same = before && before.n === data.n && before.order.every((v, k) => v === data.order[k])
      && before.names.every((name, k) => name === data.names[k]);
    if (!same) this.view = { zoom: 1, left: 0, top: 0 };
    this.resize();
  }

  // The index of a pair of variables among the pairs that depend somewhere, or -1.
  pairIndex(a, b) {
    const { keys, n } = this.data;
    const key = Math.min(a, b) * n + Math.max(a, b);
    let low = 0;
    let high = keys.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (keys[middle] === key) return middle;
      if (keys[middle] < key) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  words({ row, column }) {
    const { order, names, tp, fp, fn } = this.data;
    const [a, b] = [order[row], order[column]];
    if (row === column) return names[a];
    const both = `${names[a]} – ${names[b]}: `;
    const k = this.pairIndex(a, b);
    if (k < 0) return `${both}never dependent`;
    if (Number.isNaN(tp[k])) return `${both}not decided in time`;
    if (this.data.kind === "one") return `${both}dependent in ${percent(tp[k])} of contexts`;
    const { words } = this.data;
    return `${both}${words.fp} in ${percent(fp[k])}, ${words.fn} in ${percent(fn[k])}, `
      + `${words.tp} in ${percent(tp[k])} of contexts`;
  }

  // -- geometry -----------------------------------------------------------------------------------

  resize() {
    if (!this.data) return;
    const room = Math.max(360, window.innerHeight - 430); // what is above and below it is seen, too
    const width = Math.min(this.host.clientWidth, 620, room);
    if (!width) return; // not on screen
    const ratio = window.devicePixelRatio || 1;
    this.context.font = "11px sans-serif";
    const longest = Math.max(...this.data.names.slice(0, 2000).map((name) => short(name).length), 1);
    this.margin = Math.min(Math.max(14, 6.2 * longest + 10), 0.25 * width);
    this.side = Math.min(width - this.margin - 2, LARGEST_CELL * this.data.n);
    const full = this.margin + this.side + 2;
    Object.assign(this.canvas.style, { width: `${full}px`, height: `${full}px` });
    this.canvas.width = this.canvas.height = Math.round(full * ratio);
    this.ratio = ratio;
    this.clamp();
    this.draw();
  }

  get cell() { return (this.side / this.data.n) * this.view.zoom; }

  get largestZoom() {
    return Math.max(1, Math.min(LARGEST_CELL / (this.side / this.data.n), this.data.n / 4));
  }

  clamp() {
    this.view.zoom = Math.min(Math.max(this.view.zoom, 1), this.largestZoom);
    const seen = this.data.n / this.view.zoom;
    this.view.left = Math.min(Math.max(this.view.left, 0), this.data.n - seen);
    this.view.top = Math.min(Math.max(this.view.top, 0), this.data.n - seen);
    this.canvas.classList.toggle("zoomed", this.view.zoom > 1.001);
  }

  // Where the middle of a cell is, in the coordinates of the window; tests click there.
  cellCentre(first, second) {
    const [row, column] = [first, second].map((name) => this.data.place[this.data.names.indexOf(name)]);
    const box = this.canvas.getBoundingClientRect();
    return {
      x: box.left + this.margin + (column + 0.5 - this.view.left) * this.cell,
      y: box.top + this.margin + (row + 0.5 - this.view.top) * this.cell,
      cell: this.cell,
    };
  }

  // The cell at a place of the window; of small cells, the worst near it.
  cellAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left - this.margin;
    const y = event.clientY - box.top - this.margin;
    if (x < 0 || y < 0 || x >= this.side || y >= this.side) return null;
    const column = Math.min(Math.floor(this.view.left + x / this.cell), this.data.n - 1);
    const row = Math.min(Math.floor(this.view.top + y / this.cell), this.data.n - 1);
    return this.cell >= REACH ? { row, column } : this.worstNear(row, column);
  }

  worstNear(row, column) {
    const { n, levels: [{ sum, open }] } = this.data;
    const reach = Math.ceil(REACH / this.cell);
    let best = { row, column };
    let worst = 0;
    let nearest = Infinity;
    for (let r = Math.max(0, row - reach); r <= Math.min(n - 1, row + reach); r++) {
      for (let c = Math.max(0, column - reach); c <= Math.min(n - 1, column + reach); c++) {
        const value = open[r * n + c] ? 2 : sum[r * n + c];
        const apart = Math.hypot(r - row, c - column);
        if (value > worst || (value === worst && value && apart < nearest)) {
          [best, worst, nearest] = [{ row: r, column: c }, value, apart];
        }
      }
    }
    return best;
  }

  // -- moving -------------------------------------------------------------------------------------

  // Zoom by a factor; the cell under a place of the plot (in pixels) stays under it, or comes there.
  zoomBy(factor, x = this.side / 2, y = this.side / 2, from = { x, y }) {
    const across = this.view.left + from.x / this.cell;
    const down = this.view.top + from.y / this.cell;
    this.view.zoom *= factor;
    this.view.zoom = Math.min(Math.max(this.view.zoom, 1), this.largestZoom);
    this.view.left = across - x / this.cell;
    this.view.top = down - y / this.cell;
    this.clamp();
    this.draw();
  }

  panBy(dx, dy) {
    this.view.left -= dx / this.cell;
    this.view.top -= dy / this.cell;
    this.clamp();
    this.draw();
  }

  fit() {
    this.view = { zoom: 1, left: 0, top: 0 };
    this.clamp();
    this.draw();
  }

  showWorst(worst, button) {
    this.showsWorst = worst;
    button?.setAttribute("aria-pressed", worst);
    this.draw();
  }

  reveal({ row, column }) {
    const seen = this.data.n / this.view.zoom;
    const shift = (at, from) => (at < from ? at : at + 1 > from + seen ? at + 1 - seen : from);
    this.view.left = shift(column, this.view.left);
    this.view.top = shift(row, this.view.top);
    this.clamp();
  }

  setCursor(cell) {
    const last = this.data.n - 1;
    this.cursor = {
      row: Math.min(Math.max(cell.row, 0), last),
      column: Math.min(Math.max(cell.column, 0), last),
    };
    this.reveal(this.cursor);
    this.say(this.words(this.cursor));
    this.draw();
  }

  // The next or previous pair with errors, the largest first.
  nextError(step) {
    const { fp, fn, pairs, place } = this.data;
    this.ranked ??= [...fp.keys()].filter((k) => fp[k] + fn[k] > 0)
      .sort((a, b) => fp[b] + fn[b] - fp[a] - fn[a]);
    if (!this.ranked.length) return;
    const { length } = this.ranked;
    this.rank = this.rank === undefined ? 0 : (this.rank + step + length) % length;
    const k = this.ranked[this.rank];
    const [one, other] = [place[pairs[2 * k]], place[pairs[2 * k + 1]]].sort((a, b) => a - b);
    this.setCursor(fp[k] >= fn[k] ? { row: one, column: other } : { row: other, column: one });
  }

  choose(cell) {
    if (!cell || cell.row === cell.column) return;
    const { names, order } = this.data;
    const detail = { first: names[order[cell.row]], second: names[order[cell.column]] };
    this.host.dispatchEvent(new CustomEvent("heatmap-choose", { bubbles: true, detail }));
  }

  mark(pair) {
    this.chosen = pair;
    if (this.data) this.draw();
  }

  say(words) {
    if (this.readout.textContent !== words) this.readout.textContent = words;
  }

  // -- listening ----------------------------------------------------------------------------------

  listen() {
    const { canvas } = this;
    new ResizeObserver(() => this.resize()).observe(this.host);
    new MutationObserver(() => this.data && this.draw())
      .observe(document.documentElement, { attributeFilter: ["data-bs-theme"] });
    for (const media of ["(prefers-color-scheme: dark)", "print"]) {
      window.matchMedia(media).addEventListener("change", () => this.data && this.draw());
    }
    canvas.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.onDown(event));
    canvas.addEventListener("pointermove", (event) => this.onMove(event));
    canvas.addEventListener("pointerup", (event) => this.onUp(event));
    canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("keydown", (event) => this.onKey(event));
    canvas.addEventListener("focus", () => this.data && this.draw());
    canvas.addEventListener("blur", () => this.data && this.draw());
    window.addEventListener("scroll", () => { this.scrolled = performance.now(); }, true);
    this.host.closest(".map").addEventListener("click", (event) => {
      const button = event.target.closest("[data-heat]");
      if (!button || !this.data) return;
      const actions = {
        in: () => this.zoomBy(2),
        out: () => this.zoomBy(0.5),
        fit: () => this.fit(),
        worst: () => this.showWorst(!this.showsWorst, button),
      };
      actions[button.dataset.heat]();
    });
  }

  get scrolling() { return performance.now() - (this.scrolled ?? -1000) < 250; }

  onWheel(event) {
    if (!this.data) return;
    const out = event.deltaY > 0;
    if (out && this.view.zoom <= 1.001 && !event.ctrlKey) return; // the page scrolls
    if (this.scrolling) return; // the wheel keeps scrolling the page
    event.preventDefault();
    const box = this.canvas.getBoundingClientRect();
    const factor = Math.exp(-Math.max(-100, Math.min(100, event.deltaY)) / 200);
    this.zoomBy(factor, event.clientX - box.left - this.margin, event.clientY - box.top - this.margin);
  }

  onDown(event) {
    if (!this.data || event.button > 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.moved = this.pointers.size > 1 ? 100 : 0;
  }

  onMove(event) {
    if (!this.data) return;
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      const cell = this.cellAt(event);
      if (cell) this.say(this.words(cell));
      return;
    }
    const now = { x: event.clientX, y: event.clientY };
    const apart = this.fingers();
    this.pointers.set(event.pointerId, now);
    this.moved += Math.hypot(now.x - before.x, now.y - before.y);
    if (this.pointers.size === 2) this.pinch(apart);
    else if (this.moved > 4 && this.view.zoom > 1) this.panBy(now.x - before.x, now.y - before.y);
  }

  onUp(event) {
    if (!this.pointers.delete(event.pointerId) || this.moved > 4) return;
    const cell = this.cellAt(event);
    if (!cell) return;
    this.cursor = null;
    this.say(this.words(cell));
    this.choose(cell);
  }

  // The middle of two fingers, and how far apart they are.
  fingers() {
    const [one, other] = [...this.pointers.values()];
    if (!other) return null;
    const middle = { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 };
    return { ...middle, apart: Math.hypot(one.x - other.x, one.y - other.y) };
  }

  // What was between the fingers stays between them.
  pinch(before) {
    const now = this.fingers();
    const box = this.canvas.getBoundingClientRect();
    const inPlot = ({ x, y }) => ({ x: x - box.left - this.margin, y: y - box.top - this.margin });
    const { x, y } = inPlot(now);
    this.zoomBy(now.apart / Math.max(before.apart, 1), x, y, inPlot(before));
  }

  onKey(event) {
    if (!this.data || event.ctrlKey || event.metaKey || event.altKey) return;
    const start = this.cursor ?? this.chosenCell() ?? { row: 0, column: Math.min(1, this.data.n - 1) };
    const step = event.shiftKey ? 10 : 1;
    const middle = () => [
      this.margin && (start.column + 0.5 - this.view.left) * this.cell,
      (start.row + 0.5 - this.view.top) * this.cell,
    ];
    const moves = {
      ArrowUp: () => this.setCursor({ ...start, row: start.row - step }),
      ArrowDown: () => this.setCursor({ ...start, row: start.row + step }),
      ArrowLeft: () => this.setCursor({ ...start, column: start.column - step }),
      ArrowRight: () => this.setCursor({ ...start, column: start.column + step }),
      Enter: () => this.choose(start),
      " ": () => this.choose(start),
      "+": () => this.zoomBy(2, ...middle()),
      "=": () => this.zoomBy(2, ...middle()),
      "-": () => this.zoomBy(0.5, ...middle()),
      0: () => this.fit(),
      n: () => this.nextError(1),
      p: () => this.nextError(-1),
    };
    const move = moves[event.key] ?? moves[event.key.toLowerCase()];
    if (!move) return;
    event.preventDefault();
    move();
  }

  chosenCell() {
    if (!this.chosen) return null;
    const [row, column] = this.chosen.map((name) => this.data.place[this.data.names.indexOf(name)]);
    return row === undefined || column === undefined ? null : { row, column };
  }

  // -- drawing ------------------------------------------------------------------------------------

  draw() {
    const { context: pen, side, margin, ratio } = this;
    if (!side) return;
    const ink = getComputedStyle(this.host).color;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, margin + side + 2, margin + side + 2);
    this.drawLabels(pen, ink);
    pen.save();
    pen.translate(margin, margin);
    pen.beginPath();
    pen.rect(0, 0, side, side);
    pen.clip();
    this.drawCells(pen);
    this.drawLines(pen);
    this.drawMarks(pen, ink);
    pen.restore();
    pen.strokeStyle = "#7f7f7f";
    pen.lineWidth = 1;
    pen.strokeRect(margin - 0.5, margin - 0.5, side + 1, side + 1);
  }

  drawCells(pen) {
    const { levels } = this.data;
    let k = 0;
    while (k < levels.length - 1 && this.cell * 2 ** k < SMALLEST_CELL) k++;
    const level = levels[k];
    const size = this.cell * level.block;
    const first = (from) => Math.max(0, Math.floor(from / level.block));
    const last = (from) => Math.min(
      level.n - 1, Math.floor((from + this.data.n / this.view.zoom) / level.block),
    );
    const [c0, r0] = [first(this.view.left), first(this.view.top)];
    const [width, height] = [last(this.view.left) - c0 + 1, last(this.view.top) - r0 + 1];
    const picture = new ImageData(width, height);
    const pixels = new Uint32Array(picture.data.buffer);
    const paint = this.paint();
    const dots = [];
    for (let r = 0; r < height; r++) {
      for (let c = 0; c < width; c++) {
        const cell = cellOf(level, r + r0, c + c0, this.data.n);
        const shown = this.showsWorst ? cell.worst : cell.mean;
        pixels[r * width + c] = cell.open ? paint.open
          : shown > 0 ? paint[cell.kind][this.step(shown)] : paint.covered(cell.covered);
        if (cell.lone) dots.push([r, c, cell.kind]);
      }
    }
    this.sheet ??= document.createElement("canvas");
    Object.assign(this.sheet, { width, height });
    this.sheet.getContext("2d").putImageData(picture, 0, 0);
    pen.imageSmoothingEnabled = false;
    const left = c0 * size - this.view.left * this.cell;
    const top = r0 * size - this.view.top * this.cell;
    pen.drawImage(this.sheet, left, top, width * size, height * size);
    if (level.block > 1 && !this.showsWorst) {
      const side = Math.max(1.2, size / 4);
      for (const [r, c, kind] of dots) {
        pen.fillStyle = paint.colours[kind];
        pen.fillRect(left + (c + 0.5) * size - side / 2, top + (r + 0.5) * size - side / 2, side, side);
      }
    }
    this.level = k;
    this.describe(level.block, dots.length > 0);
  }

  // Say what a cell shows, which depends on the zoom.
  describe(block, dots) {
    const words = this.host.closest(".map").querySelector(".cell-words");
    if (!words) return;
    const dot = dots ? ` A dot marks a cell in which a single pair has most of the ${this.data.kind === "one" ? "dependence" : "differences"}.` : "";
    const largest = this.host.closest(".map").querySelector('[data-heat="worst"]');
    if (largest) largest.style.visibility = block === 1 && !this.showsWorst ? "hidden" : "visible";
    // A small map needs no zoom.
    if (largest) largest.parentElement.style.visibility = this.data.n <= 12 ? "hidden" : "visible";
    const text = block === 1 ? "Each cell is a pair of variables."
      : `Each cell shows the ${this.showsWorst ? "largest" : "mean"} of ${block} × ${block} pairs; zoom in for single pairs.`
        + (this.showsWorst ? "" : dot);
    if (words.textContent !== text) words.textContent = text;
  }

  step(share) {
    return this.data.steps.findIndex((most) => share <= most + 1e-8);
  }

  paint() {
    const { opacities, covered, unknown, light, dark } = this.data;
    const isDark = onDarkPage();
    const colours = isDark ? dark : light;
    return {
      colours,
      fp: opacities.map((opacity) => rgba(colours.fp, opacity)),
      fn: opacities.map((opacity) => rgba(colours.fn, opacity)),
      open: rgba(unknown, 1),
      covered: (share) => (share ? rgba(covered[0], covered[1] * share * (isDark ? 1.6 : 1)) : 0),
    };
  }

  drawLines(pen) {
    const { cell, side, view } = this;
    const at = (place, from) => (place - from) * cell;
    pen.strokeStyle = "rgba(127, 127, 127, 0.45)";
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(at(0, view.left), at(0, view.top));
    pen.lineTo(at(this.data.n, view.left), at(this.data.n, view.top));
    if (cell >= 10) {
      for (let k = Math.ceil(view.left); at(k, view.left) < side; k++) {
        pen.moveTo(at(k, view.left), 0);
        pen.lineTo(at(k, view.left), side);
      }
      for (let k = Math.ceil(view.top); at(k, view.top) < side; k++) {
        pen.moveTo(0, at(k, view.top));
        pen.lineTo(side, at(k, view.top));
      }
    }
    pen.stroke();
  }

  drawMarks(pen, ink) {
    const outline = ({ row, column }, dashes, width) => {
      const size = Math.max(this.cell, 9);
      const x = (column + 0.5 - this.view.left) * this.cell - size / 2;
      const y = (row + 0.5 - this.view.top) * this.cell - size / 2;
      pen.setLineDash(dashes);
      pen.lineWidth = width;
      pen.strokeStyle = ink;
      pen.strokeRect(x, y, size, size);
      pen.setLineDash([]);
    };
    const chosen = this.chosenCell();
    if (chosen) {
      outline(chosen, [], 2);
      outline({ row: chosen.column, column: chosen.row }, [], 2);
    }
    if (this.cursor && document.activeElement === this.canvas) outline(this.cursor, [3, 2], 2);
  }

  drawLabels(pen, ink) {
    const { margin, side, view, cell, data } = this;
    const every = Math.max(1, Math.ceil(LABEL / cell));
    const chosen = this.chosenCell();
    const strong = new Set(chosen ? [chosen.row, chosen.column] : []);
    const size = Math.max(8, Math.min(11, cell * every));
    pen.fillStyle = ink;
    pen.textBaseline = "middle";
    const write = (place, from, turn) => {
      const at = margin + (place + 0.5 - from) * cell;
      if (at < margin || at > margin + side) return;
      pen.save();
      pen.font = `${strong.has(place) ? "bold " : ""}${size}px sans-serif`;
      pen.translate(turn ? at : margin - 5, turn ? margin - 5 : at);
      if (turn) pen.rotate(-Math.PI / 2);
      pen.textAlign = turn ? "left" : "right";
      pen.fillText(short(data.names[data.order[place]]), 0, 0, margin - 8);
      pen.restore();
    };
    const crowded = (place) => every > 1
      && [...strong].some((other) => other !== place && Math.abs(other - place) < every);
    for (const [from, turn] of [[view.left, true], [view.top, false]]) {
      const begin = Math.ceil(Math.max(0, from - 0.5) / every) * every;
      for (let place = begin; place < Math.min(data.n, from + data.n / view.zoom + 1); place += every) {
        if (!strong.has(place) && !crowded(place)) write(place, from, turn);
      }
      const [one, other] = [...strong].sort((a, b) => a - b);
      if (one !== undefined) write(one, from, turn);
      if (other !== undefined && other - one >= every) write(other, from, turn);
    }
  }
}

// -- what needs no map ------------------------------------------------------------------------------

// The theme of the page, or the reader's; paper is light.
function onDarkPage() {
  if (window.matchMedia("print").matches) return false;
  const theme = document.documentElement.dataset.bsTheme;
  return theme ? theme === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
}

function bytesOf(text) {
  const signs = atob(text);
  const bytes = new Uint8Array(signs.length); // a loop: a call per byte takes ten times as long
  for (let k = 0; k < signs.length; k++) bytes[k] = signs.charCodeAt(k);
  return bytes;
}

function short(name, most = 18) {
  const half = (most - 1) >> 1;
  return name.length <= most ? name : `${name.slice(0, half)}…${name.slice(-half)}`;
}

// The same words as in Python: never 0 or 100 unless it is.
function percent(share) {
  if (share > 0 && share < 0.0001) return "<0.01 %";
  if (share > 0.9999 && share < 1) return ">99.99 %";
  // Three digits would round the shares from 99.95 % on to 100 %.
  return `${Number((100 * share).toPrecision(share >= 0.9995 && share < 1 ? 4 : 3))} %`;
}

function rgba(colour, opacity) {
  const [red, green, blue] = [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));
  return ((Math.round(255 * Math.min(opacity, 1)) << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

// Levels of squares of 1, 2, 4, ... pairs a side: sums, worst values, and covered and open pairs.
// `below` is the part of a sum that is below the diagonal, for squares on the diagonal.
function pyramid({ n, pairs, place, tp, fp, fn }) {
  const level = emptyLevel(n, 1);
  const set = (row, column, share, open) => {
    const at = row * n + column;
    level.covered[at] = 1;
    if (open) level.open[at] = 1;
    else level.sum[at] = level.worst[at] = share;
    if (row > column) level.below[at] = level.sum[at];
  };
  for (let k = 0; k < tp.length; k++) {
    const [one, other] = [place[pairs[2 * k]], place[pairs[2 * k + 1]]];
    const open = Number.isNaN(tp[k]);
    set(Math.min(one, other), Math.max(one, other), fp[k], open);
    set(Math.max(one, other), Math.min(one, other), fn[k], open);
  }
  const levels = [level];
  while (levels.at(-1).n > 64) levels.push(coarser(levels.at(-1)));
  return levels;
}

function emptyLevel(n, block) {
  const floats = () => new Float32Array(n * n);
  return { n, block, sum: floats(), worst: floats(), below: floats(), covered: floats(), open: new Uint8Array(n * n) };
}

function coarser(fine) {
  const level = emptyLevel((fine.n + 1) >> 1, 2 * fine.block);
  for (let r = 0; r < fine.n; r++) {
    for (let c = 0; c < fine.n; c++) {
      const from = r * fine.n + c;
      const at = (r >> 1) * level.n + (c >> 1);
      level.sum[at] += fine.sum[from];
      level.below[at] += fine.below[from];
      level.covered[at] += fine.covered[from];
      level.open[at] |= fine.open[from];
      if (fine.worst[from] > level.worst[at]) level.worst[at] = fine.worst[from];
    }
  }
  return level;
}

// What a cell of a level shows, in a map of n variables.
function cellOf(level, row, column, n) {
  const at = row * level.n + column;
  const rows = Math.min(level.block, n - row * level.block);
  const columns = Math.min(level.block, n - column * level.block);
  const count = rows * columns - (row === column ? rows : 0);
  const mean = level.sum[at] / Math.max(count, 1);
  const worst = level.worst[at];
  const below = row === column ? level.below[at] > level.sum[at] / 2 : row > column;
  return {
    kind: below ? "fn" : "fp",
    mean,
    worst,
    open: level.open[at] > 0,
    covered: level.covered[at] / Math.max(count, 1),
    lone: worst >= LONE && 2 * worst > level.sum[at],
  };
}

// -- maps whose data is in the page -----------------------------------------------------------------

async function showMap(map) {
  const script = map.querySelector("script[type='application/octet-stream']");
  const packed = bytesOf(script.textContent.trim());
  script.remove();
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const data = JSON.parse(await new Response(plain).text());
  const host = map.querySelector(".heat-map");
  host.heatMap = new HeatMap(host);
  host.heatMap.setData(data);
}

function showMaps() {
  document.querySelectorAll(".map:has(> script[type='application/octet-stream'])").forEach(showMap);
}

showMaps();
new MutationObserver(showMaps).observe(document.body ?? document, { childList: true, subtree: true });
