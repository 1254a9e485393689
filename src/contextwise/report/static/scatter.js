// Draw the guesses of a study as dots: one measure against another, by choice of the reader.
//
// The data are columns: `guesses` has a structure per place, `values` what was measured for it with
// a number of rows and a set of weights. Arrow keys move from dot to dot; the table has all dots.
"use strict";

class Scatter {
  static WIDEST = 720;
  static EDGE = { left: 70, right: 12, top: 12, bottom: 46 };

  constructor(host) {
    this.host = host;
    this.data = JSON.parse(host.querySelector("script").textContent);
    this.plot = host.querySelector(".plot");
    this.readout = host.querySelector(".readout");
    this.facts = host.querySelector(".facts");
    this.table = host.querySelector("details");
    this.controls = Object.fromEntries(
      [...host.querySelectorAll("select")].map((select) => [select.name, select]));
    for (const select of Object.values(this.controls)) {
      select.addEventListener("change", () => this.draw());
    }
    this.plot.addEventListener("pointermove", (event) => this.point(event));
    this.plot.addEventListener("keydown", (event) => this.key(event));
    this.table.addEventListener("toggle", () => this.fill());
    window.addEventListener("resize", () => this.draw());
    this.draw();
  }

  chosen(name) {
    return this.controls[name].value;
  }

  // The dots of the chosen kind, truth, rows and set; over all sets a dot is the mean.
  dots() {
    const { guesses, values } = this.data;
    const [kind, truth, rows, set] = ["kind", "truth", "rows", "set"].map((name) => this.chosen(name));
    const [x, y] = [this.chosen("x"), this.chosen("y")];
    const groups = new Map();
    values.guess.forEach((g, k) => {
      if (kind !== "" && guesses.kind[g] !== Number(kind)) return;
      if (guesses.truth[g] !== Number(truth) || values.rows[k] !== Number(rows)) return;
      if (set !== "" && values.set[k] !== Number(set)) return;
      const [across, up] = [guesses[x] || values[x], values[y] || guesses[y]];
      const at = { x: across === values[x] ? across[k] : across[g], y: up === values[y] ? up[k] : up[g] };
      if (at.x === null || at.y === null) return;
      const name = set === "" ? guesses.group[g] : g;
      if (!groups.has(name)) groups.set(name, { guess: g, x: [], y: [] });
      groups.get(name).x.push(at.x);
      groups.get(name).y.push(at.y);
    });
    const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;
    return [...groups.values()].map(({ guess, x: xs, y: ys }) => {
      const [mx, my] = [mean(xs), mean(ys)];
      const squares = ys.reduce((sum, value) => sum + (value - my) ** 2, 0);
      const sd = ys.length > 1 ? Math.sqrt(squares / (ys.length - 1)) : 0;
      return { guess, x: mx, y: my, sd, kind: guesses.kind[guess] };
    }).sort((a, b) => a.x - b.x || a.y - b.y);
  }

  draw() {
    this.shown = this.dots();
    this.cursor = -1;
    this.width = Math.min(Scatter.WIDEST, Math.max(300, this.plot.clientWidth));
    this.height = Math.round(0.4 * this.width) + 130;
    this.plot.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    const { left, right, top, bottom } = Scatter.EDGE;
    const span = (low, high) => (low === high ? [low - 1, high + 1] : [low, high]);
    const [x0, x1] = span(...extent(this.shown.map((dot) => dot.x)));
    const [y0, y1] = span(...extent(this.shown.flatMap((dot) => [dot.y - dot.sd, dot.y + dot.sd])));
    this.across = (x) => left + (x - x0) / (x1 - x0) * (this.width - left - right);
    this.up = (y) => this.height - bottom - (y - y0) / (y1 - y0) * (this.height - top - bottom);
    const parts = [];
    for (const tick of ticks(x0, x1)) {
      parts.push(line(this.across(tick), top, this.across(tick), this.height - bottom, "grid"));
      parts.push(text(this.across(tick), this.height - bottom + 16, "middle", short(tick)));
    }
    for (const tick of ticks(y0, y1)) {
      parts.push(line(left, this.up(tick), this.width - right, this.up(tick), "grid"));
      parts.push(text(left - 6, this.up(tick) + 4, "end", short(tick)));
    }
    const label = (name) => this.controls[name].selectedOptions[0].textContent;
    parts.push(text((left + this.width) / 2, this.height - 8, "middle", label("x")));
    parts.push(`<g transform="rotate(-90 14 ${this.height / 2})">`
      + text(14, this.height / 2, "middle", label("y")) + "</g>");
    for (const dot of this.shown) {
      const at = this.across(dot.x);
      if (dot.sd) parts.push(line(at, this.up(dot.y - dot.sd), at, this.up(dot.y + dot.sd), "sd"));
    }
    for (const dot of this.shown) {
      parts.push(`<circle cx="${this.across(dot.x)}" cy="${this.up(dot.y)}" r="3" class="kind${dot.kind % 8}"/>`);
    }
    parts.push('<circle r="6" class="cursor" visibility="hidden"/>');
    this.plot.innerHTML = parts.join("");
    this.readout.textContent = this.shown.length
      ? `${this.shown.length} dots. Point at one, or use the arrow keys.` : "No dots for this choice.";
    this.facts.replaceChildren(...this.summary());
    this.fill();
  }

  // The colour of each kind that is shown, its rank correlation and its slope.
  summary() {
    const lines = this.data.labels.kinds.map((kind, k) => {
      const dots = this.shown.filter((dot) => dot.kind === k);
      if (!dots.length) return null;
      const [xs, ys] = [dots.map((dot) => dot.x), dots.map((dot) => dot.y)];
      const rank = correlation(ranks(xs), ranks(ys));
      const slope = correlation(xs, ys) * spread(ys) / spread(xs);
      const known = dots.length > 2 && Number.isFinite(rank);
      const facts = known ? `: rank correlation ${rank.toFixed(2)}, slope ${short(slope)}` : "";
      const mark = document.createElement("span");
      mark.className = `mark kind${k % 8}`;
      const entry = document.createElement("span");
      entry.append(mark, ` ${kind}${facts} `);
      return entry;
    });
    return lines.filter(Boolean);
  }

  describe(dot) {
    const { guesses, labels } = this.data;
    const g = dot.guess;
    const sd = dot.sd ? ` (SD ${short(dot.sd)})` : "";
    return `${labels.kinds[dot.kind]}, ${guesses.name[g]}: ${guesses.fp[g]} false positives, `
      + `${guesses.fn[g]} false negatives; ${this.controls.x.selectedOptions[0].textContent} `
      + `${short(dot.x)}, ${this.controls.y.selectedOptions[0].textContent} ${short(dot.y)}${sd}`;
  }

  select(place) {
    if (!this.shown.length) return;
    this.cursor = Math.max(0, Math.min(this.shown.length - 1, place));
    const dot = this.shown[this.cursor];
    const ring = this.plot.querySelector(".cursor");
    ring.setAttribute("cx", this.across(dot.x));
    ring.setAttribute("cy", this.up(dot.y));
    ring.setAttribute("visibility", "visible");
    this.readout.textContent = this.describe(dot);
  }

  point(event) {
    const box = this.plot.getBoundingClientRect();
    const scale = this.width / box.width;
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    const far = (dot) => (this.across(dot.x) - x) ** 2 + (this.up(dot.y) - y) ** 2;
    let best = -1;
    this.shown.forEach((dot, k) => { if (best < 0 || far(dot) < far(this.shown[best])) best = k; });
    if (best >= 0 && far(this.shown[best]) < 400) this.select(best);
  }

  key(event) {
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 20, PageDown: -20 };
    if (event.key === "Home") this.select(0);
    else if (event.key === "End") this.select(this.shown.length - 1);
    else if (steps[event.key]) this.select(this.cursor + steps[event.key]);
    else return;
    event.preventDefault();
  }

  fill() {
    if (!this.table.open) return;
    const { guesses, labels } = this.data;
    const heads = ["guess", "FP", "FN", ...["x", "y"].map((n) => this.controls[n].selectedOptions[0].textContent), "SD"];
    const rows = this.shown.map((dot) => [
      `${labels.kinds[dot.kind]}, ${guesses.name[dot.guess]}`, guesses.fp[dot.guess], guesses.fn[dot.guess],
      short(dot.x), short(dot.y), short(dot.sd)]);
    const body = document.createElement("table");
    body.createTHead().append(cells("th", heads));
    const rest = body.createTBody();
    rows.forEach((row) => rest.append(cells("td", row)));
    this.table.querySelector("div").replaceChildren(body);
  }
}

function cells(kind, texts) {
  const row = document.createElement("tr");
  for (const content of texts) {
    const cell = document.createElement(kind);
    cell.textContent = content;
    row.append(cell);
  }
  return row;
}

function extent(list) {
  return list.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], list.length ? [Infinity, -Infinity] : [0, 1]);
}

function ticks(low, high) {
  const raw = (high - low) / 6;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((k) => k * unit >= raw) * unit;
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k++) found.push(k * step);
  return found;
}

function short(value) {
  const size = Math.abs(value);
  return size && (size < 1e-3 || size >= 1e5) ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}

function text(x, y, anchor, content) {
  const safe = content.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);
  return `<text x="${x}" y="${y}" text-anchor="${anchor}">${safe}</text>`;
}

function line(x1, y1, x2, y2, kind) {
  return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" class="${kind}"/>`;
}

function ranks(list) {
  const order = list.map((_, k) => k).sort((a, b) => list[a] - list[b]);
  const result = new Array(list.length);
  for (let k = 0; k < order.length;) {
    let end = k;
    while (end < order.length && list[order[end]] === list[order[k]]) end++;
    for (let at = k; at < end; at++) result[order[at]] = (k + end - 1) / 2;
    k = end;
  }
  return result;
}

function spread(list) {
  const mean = list.reduce((a, b) => a + b, 0) / list.length;
  return Math.sqrt(list.reduce((sum, value) => sum + (value - mean) ** 2, 0));
}

function correlation(xs, ys) {
  const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;
  const [mx, my] = [mean(xs), mean(ys)];
  return xs.reduce((sum, x, k) => sum + (x - mx) * (ys[k] - my), 0) / (spread(xs) * spread(ys));
}

document.querySelectorAll(".scatter").forEach((host) => new Scatter(host));
