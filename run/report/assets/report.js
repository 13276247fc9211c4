// Draws the report's history and its table of changes from the data in the element "log". Everything shares one view, the
// interval of simulated time that is seen. Text of the log enters the page only as textContent.
"use strict";
(() => {
const byId = (id) => document.getElementById(id);
const log = JSON.parse(byId("log").textContent);
const unpack = (text, Type) => new Type(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
const logTime = unpack(log.time, Float64Array); // of the curves that have no times of their own
const transient = log.statuses.map((s) => ["Success", "Failure", "Accept", "Skipped"].includes(s));
const rare = ["Skipped", "Dropped"]; // in the key only if a task has them
const changes = log.changes.t ?? [];
const events = log.events ?? [];

const whole = { from: log.start, to: log.end > log.start ? log.end : log.start + 1 };
let view = { ...whole, width: 0 };
let printing = false;

const left = 54; // px for the labels of the value axes
const right = 24;
const place = (t) => (t - view.from) / (view.to - view.from) * view.width; // px from the left of the plots

// Numbers and times

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

// timeStep is the least round distance [s] not below the wanted one.
function timeStep(wanted) {
  if (wanted < 1) return roundStep(wanted);
  return steps.find((s) => s >= wanted) ?? 86400 * roundStep(wanted / 86400);
}

function roundStep(wanted) {
  const power = 10 ** Math.floor(Math.log10(wanted));
  return power * [1, 2, 5, 10].find((f) => f * power >= wanted * (1 - 1e-9));
}

// clock writes t as h:mm, h:mm:ss or with decimals, as far as the step asks for; like the table of canopy run, it counts
// what is over, and forgives what is missing by rounding.
function clock(t, step) {
  const digits = step >= 1 ? 0 : Math.min(12, Math.ceil(-Math.log10(step) - 1e-9));
  const n = Math.floor(Math.abs(t) * 10 ** digits + 1e-3);
  const s = Math.floor(n / 10 ** digits);
  const two = (v) => String(v).padStart(2, "0");
  let text = (t < 0 && n > 0 ? "−" : "") + Math.floor(s / 3600) + ":" + two(Math.floor(s / 60) % 60);
  if (step < 60) text += ":" + two(s % 60);
  if (digits > 0) text += "." + String(n % 10 ** digits).padStart(digits, "0");
  return text;
}

// exactly writes the time of an instant, to a millisecond.
const exactly = (t) => clock(t, 1e-3);

function duration(t) {
  return t < 60 ? `${Number(t.toPrecision(4))} s` : clock(t, 1);
}

const grouped = (text) => text.replace(/^(-?)(\d{5,})/, (_, sign, whole) =>
  sign + whole.replace(/\B(?=(\d{3})+$)/g, "\u2009")).replace("-", "−");

function number(v) {
  if (!Number.isFinite(v)) return "–";
  const size = Math.abs(v);
  if (size !== 0 && (size < 1e-3 || size >= 1e7)) return v.toExponential(3).replace("-", "−");
  return grouped(String(Number(v.toPrecision(size >= 1e4 ? 6 : 5))));
}

function tickText(v, step) {
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  if (Math.abs(v) >= 1e7 || digits > 7) return String(Number(v.toPrecision(4))).replace("-", "−");
  return grouped(v.toFixed(digits));
}

function multiples(step, from, to) {
  const list = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + 1e-9 * step; k++) list.push(k * step);
  return list;
}

// after is the number of elements of a sorted list that are not greater than t.
function after(list, t) {
  let a = 0;
  let b = list.length;
  while (a < b) {
    const m = (a + b) >> 1;
    if (list[m] <= t) a = m + 1;
    else b = m;
  }
  return a;
}

// before is the number of elements of a sorted list that are less than t.
function before(list, t) {
  let a = 0;
  let b = list.length;
  while (a < b) {
    const m = (a + b) >> 1;
    if (list[m] < t) a = m + 1;
    else b = m;
  }
  return a;
}

// valueAt reads the curve as it is drawn, straight between samples.
function valueAt({ time, values }, t) {
  const k = after(time, t);
  if (k === 0) return NaN;
  if (time[k - 1] === t) return values[k - 1];
  if (k === time.length) return NaN;
  const part = (t - time[k - 1]) / (time[k] - time[k - 1]);
  return values[k - 1] + part * (values[k] - values[k - 1]);
}

// Building blocks

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

const figure = byId("figure");
const rows = []; // everything in the figure that is drawn over the time axis: {draw(), point(t, y)}

// addRow puts a label cell and a drawing under each other row. What follows the cursor is kept apart from the drawing.
function addRow(labelClass, rowClass = "row") {
  const row = make("div", rowClass);
  const label = make("div", labelClass);
  row.append(label);
  row.insertAdjacentHTML("beforeend",
    '<svg><g></g><rect class="range" y="0" height="100%" width="0"></rect><line class="cursor" y1="0" y2="100%"></line></svg>');
  figure.append(row);
  const svg = row.lastElementChild;
  const r = { label, svg, drawing: svg.children[0], range: svg.children[1], cursor: svg.children[2], point() {} };
  rows.push(r);
  return r;
}

// labelWidth is about the width [px] of the label of the time axis at t.
const labelWidth = (t, step) => (printing ? 5.2 : 6.3) * clock(t, step).length;

// gridStep is the distance [s] of the labels of the time axis, so that they leave some room between them.
function gridStep() {
  let apart = printing ? 56 : 80; // px
  for (;;) {
    const step = timeStep((view.to - view.from) * apart / view.width);
    const needed = labelWidth(view.to, step) + 14;
    if (needed <= apart || apart > view.width) return step;
    apart = needed;
  }
}

// frame sets the size of a row's drawing and returns the grid lines of the time axis.
function frame(r, height) {
  r.svg.setAttribute("width", left + view.width + right);
  r.svg.setAttribute("height", height);
  const d = multiples(gridStep(), view.from, view.to)
    .map((t) => `M${Math.round(left + place(t))}.5 0V${height}`).join("");
  return `<path class="grid" d="${d}"></path>`;
}

// inside clips markup to the plot area.
const inside = (height, markup) =>
  `<svg x="${left}" y="0" width="${view.width}" height="${height}" style="overflow:hidden">${markup}</svg>`;

// Time axes

function addAxis(bottom) {
  const r = addRow("label");
  r.label.textContent = bottom ? "" : `${log.axis} [h:min]`;
  r.draw = () => {
    const height = 20;
    const step = gridStep();
    r.label.textContent = bottom ? "" : `${log.axis} [h:min${step < 60 ? ":s" : ""}]`;
    r.svg.setAttribute("width", left + view.width + right);
    r.svg.setAttribute("height", height);
    const edge = bottom ? 0.5 : height - 0.5;
    let markup = `<path class="axis" d="M${left} ${edge}h${view.width}"></path>`;
    let free = 0; // px where the next label may begin
    for (const t of multiples(step, view.from, view.to)) {
      const x = Math.round(left + place(t)) + 0.5;
      markup += `<path class="axis" d="M${x} ${edge}v${bottom ? 4 : -4}"></path>`;
      const half = labelWidth(t, step) / 2;
      const middle = Math.max(half, Math.min(x, left + view.width + right - half));
      if (middle - half < free) continue;
      free = middle + half + 4;
      markup += `<text x="${middle}" y="${bottom ? 16 : 11}" text-anchor="middle">${clock(t, step)}</text>`;
    }
    r.drawing.innerHTML = markup + '<g class="bubble" visibility="hidden"><rect rx="2" height="16"></rect>' +
      '<text y="12" text-anchor="middle"></text></g>';
    r.bubble = r.drawing.lastElementChild;
    r.bubble.children[0].setAttribute("y", bottom ? 4 : 0);
    r.bubble.children[1].setAttribute("y", bottom ? 16 : 12);
  };
  r.point = (t) => {
    r.bubble.setAttribute("visibility", t === null ? "hidden" : "visible");
    if (t === null) return;
    const [box, text] = r.bubble.children;
    text.textContent = clock(t, Math.min(1, roundStep((view.to - view.from) / view.width)));
    const width = text.getComputedTextLength() + 10;
    const x = Math.min(Math.max(left + place(t), left + width / 2), left + view.width - width / 2);
    text.setAttribute("x", x);
    box.setAttribute("x", x - width / 2);
    box.setAttribute("width", width);
  };
}

// Plots

// visible lists the points of a curve within the view, cut off exactly at its ends.
function visible(curve) {
  const { time, values } = curve;
  const points = [];
  const a = before(time, view.from);
  const b = after(time, view.to);
  if (a > 0 && a < time.length && time[a] > view.from) points.push([view.from, valueAt(curve, view.from)]);
  for (let i = a; i < b; i++) points.push([time[i], values[i]]);
  if (b > 0 && b < time.length && time[b - 1] < view.to) points.push([view.to, valueAt(curve, view.to)]);
  return points;
}

// curvePath joins points by straight lines. Where there are many to a pixel it keeps the first, the extremes and the last
// of each column, which look the same.
function curvePath(points, y) {
  const dense = points.length > 4 * view.width;
  let d = "";
  let pen = "M";
  const put = (x, v) => {
    d += pen + x.toFixed(2) + " " + y(v).toFixed(2);
    pen = "L";
  };
  let column = null; // {at, first, least, greatest, last}
  const flush = () => {
    if (column === null) return;
    put(column.at, column.first);
    put(column.at, column.least);
    put(column.at, column.greatest);
    put(column.at, column.last);
    column = null;
  };
  for (const [t, v] of points) {
    if (!Number.isFinite(v)) {
      flush();
      pen = "M";
      continue;
    }
    const x = place(t);
    if (!dense) {
      put(x, v);
      continue;
    }
    const at = Math.floor(x) + 0.5;
    if (column !== null && column.at !== at) flush();
    column ??= { at, first: v, least: v, greatest: v, last: v };
    column.least = Math.min(column.least, v);
    column.greatest = Math.max(column.greatest, v);
    column.last = v;
  }
  flush();
  return d;
}

// valueRange gives a value axis: a little more than what is seen, 0 where it is near, and never so little that rounding
// errors fill the plot.
function valueRange(curves) {
  let least = Infinity;
  let greatest = -Infinity;
  for (const points of curves) {
    for (const [, v] of points) {
      if (!Number.isFinite(v)) continue;
      least = Math.min(least, v);
      greatest = Math.max(greatest, v);
    }
  }
  if (least > greatest) return null;
  if (least > 0 && least < 0.35 * greatest) least = 0;
  if (greatest < 0 && greatest > 0.35 * least) greatest = 0;
  const size = Math.max(Math.abs(least), Math.abs(greatest));
  const margin = greatest > least ? Math.max(0.06 * (greatest - least), 1e-5 * size) : 0.05 * size || 1;
  return { least: least - margin, greatest: greatest + margin };
}

const faults = events.filter((e) => /error|conflict|chatter|loop|fail/i.test(e.kind));

function faultLines(height) {
  return faults.filter((e) => e.t >= view.from && e.t <= view.to)
    .map((e) => `<path class="fault" d="M${Math.round(place(e.t))}.5 0V${height}"></path>`).join("");
}

const curveClass = (i) => `curve n${i % 7}${i >= 7 ? " again" : ""}`;

function addPlot(plot) {
  const r = addRow("label", "row plot");
  const units = [...new Set(plot.signals.map((s) => s.unit))];
  const title = make("h3", "", plot.title + " ");
  if (units.length === 1) title.append(make("span", "", `[${units[0]}]`));
  r.label.append(title);
  const data = plot.signals.map((s) => ({
    time: s.time ? unpack(s.time, Float64Array) : logTime, values: unpack(s.values, Float32Array),
  }));
  const readings = plot.signals.map((s, i) => {
    const key = make("div", "key");
    key.insertAdjacentHTML("beforeend",
      `<svg width="20" height="10"><path class="${curveClass(i)}" d="M0 5H20"></path></svg>`);
    const name = make("span", "", units.length === 1 ? s.name : `${s.name} [${s.unit}]`);
    const reading = make("span");
    key.title = s.text ? `${s.name}: ${s.text}` : s.name;
    key.append(name, reading);
    r.label.append(key);
    return reading;
  });
  r.draw = () => {
    const height = Math.max(printing ? 92 : 128, 26 + 16 * plot.signals.length);
    const curves = data.map(visible);
    const range = valueRange(curves);
    let markup = frame(r, height);
    let under = "";
    if (range === null) {
      markup += `<text x="${left + view.width / 2}" y="${height / 2}" text-anchor="middle">no values</text>`;
    } else {
      const y = (v) => 5 + (height - 10) * (range.greatest - v) / (range.greatest - range.least);
      const step = roundStep((range.greatest - range.least) / (height / (printing ? 18 : 21)));
      for (const v of multiples(step, range.least, range.greatest)) {
        const at = Math.round(y(v)) + 0.5;
        markup += `<path class="grid" d="M${left} ${at}h${view.width}"></path>` +
          `<text x="${left - 6}" y="${at + 3.5}" text-anchor="end">${tickText(v, step)}</text>`;
      }
      under = curves.map((points, i) => `<path class="${curveClass(i)}" d="${curvePath(points, y)}"></path>`).reverse().join("");
    }
    r.drawing.innerHTML = markup + inside(height, faultLines(height) + under) +
      `<rect class="frame" x="${left + 0.5}" y="0.5" width="${view.width - 1}" height="${height - 1}"></rect>`;
  };
  r.point = (t) => readings.forEach((reading, i) => {
    reading.textContent = t === null ? "" : number(valueAt(data[i], t));
  });
}

// Events and status lanes

const laneHeight = () => printing ? 13 : 18;

function addEvents() {
  const r = addRow("label names");
  const times = events.map((e) => e.t);
  r.label.append(make("div", "composite", log.gap ? "events (some)" : `events (${events.length})`));
  r.draw = () => {
    const height = laneHeight();
    const mark = (list) => list.filter((e) => e.t >= view.from && e.t <= view.to)
      .map((e) => `M${Math.round(place(e.t))}.5 3V${height - 3}`).join("");
    r.label.style.setProperty("--lane", `${height}px`);
    const gap = log.gap?.map((t) => Math.min(view.width, Math.max(0, place(t))));
    r.drawing.innerHTML = frame(r, height) + inside(height,
      (gap ? `<rect class="gap" x="${gap[0]}" y="3" width="${gap[1] - gap[0]}" height="${height - 6}"></rect>` : "") +
      `<path class="mark" d="${mark(events)}"></path><path class="mark fault" d="${mark(faults)}"></path>`);
  };
  r.describe = (t) => {
    const reach = 5 / view.width * (view.to - view.from);
    const near = events.slice(before(times, t - reach), after(times, t + reach));
    if (near.length === 0) {
      return log.gap && t >= log.gap[0] && t <= log.gap[1] ? ["", "events that are in run.mcap only"] : null;
    }
    const text = near.slice(0, 8).map((e) => `${exactly(e.t)}  ${e.kind}: ${e.text}`);
    if (near.length > 8) text.push(`and ${near.length - 8} more`);
    return ["", text.join("\n")];
  };
}

// Levels of the transient statuses within a lane of height 1: [top, bottom]. The others fill it.
const levels = { Success: [0.14, 0.3], Failure: [0.7, 0.86], Accept: [0.45, 0.55], Skipped: [0.45, 0.55] };
const level = (status) => levels[log.statuses[status]] ?? [0.14, 0.86];

// block is a path round one interval of a lane.
function block(status, x1, x2, y, height) {
  const [top, bottom] = level(status);
  return `M${x1.toFixed(2)} ${(y + top * height).toFixed(1)}H${x2.toFixed(2)}V${(y + bottom * height).toFixed(1)}H${x1.toFixed(2)}Z`;
}

// laneMarkup draws one lane: a path for each status, and a line where a task was active for no time.
function laneMarkup(lane, y, height) {
  const paths = log.statuses.map(() => "");
  const instants = log.statuses.map(() => "");
  const kind = log.tasks[lane.task].leaf ? "" : " composite";
  const first = Math.max(0, before(lane.t, view.from) - 1);
  for (let i = first; i < lane.t.length && lane.t[i] <= view.to; i++) {
    const end = lane.t[i + 1] ?? log.end;
    const status = lane.s[i];
    if (end > lane.t[i] || i === lane.t.length - 1) {
      const x1 = Math.max(-4, place(lane.t[i]));
      const x2 = Math.min(view.width + 4, Math.max(place(end), x1 + (transient[status] ? 0 : 0.8)));
      if (x2 >= 0) paths[status] += block(status, x1, x2, y, height);
    } else if (!transient[status] && passed(lane, i)) {
      instants[status] += `M${place(lane.t[i]).toFixed(2)} ${(y + 0.14 * height).toFixed(1)}V${(y + 0.86 * height).toFixed(1)}`;
    }
  }
  return paths.map((d, s) => d && `<path class="s-${log.statuses[s]}${kind}" d="${d}"></path>`).join("") +
    instants.map((d, s) => d && `<path class="instant i-${log.statuses[s]}" d="${d}"></path>`).join("");
}

// passed tells whether the task was transient before and after the instant in which it had its status number i.
function passed(lane, i) {
  let a = i;
  let b = i;
  while (a > 0 && lane.t[a] === lane.t[i]) a--;
  while (b < lane.t.length - 1 && lane.t[b + 1] === lane.t[i]) b++;
  return transient[lane.s[a]] && transient[lane.s[b]];
}

function addLanes(lanes) {
  const r = addRow("label names");
  for (const lane of lanes) {
    const task = log.tasks[lane.task];
    const name = make("div", task.leaf ? "" : "composite", task.name);
    name.style.paddingLeft = `${Math.min(lane.depth, 12) * 9}px`;
    name.title = `${task.name}: ${task.kind}${task.detail ? "\n" + task.detail : ""}`;
    r.label.append(name);
  }
  r.draw = () => {
    const height = laneHeight();
    r.label.style.setProperty("--lane", `${height}px`);
    let under = "";
    lanes.forEach((lane, i) => {
      if (i % 2 === 0) under += `<rect class="band" y="${i * height}" width="${view.width}" height="${height}"></rect>`;
    });
    const total = lanes.length * height;
    r.drawing.innerHTML = inside(total, under) + frame(r, total) +
      inside(total, lanes.map((lane, i) => laneMarkup(lane, i * height, height)).join(""));
  };
  r.describe = (t, y) => {
    const lane = lanes[Math.floor(y / laneHeight())];
    if (lane === undefined) return null;
    const task = log.tasks[lane.task];
    const i = Math.max(0, after(lane.t, t) - 1);
    const end = lane.t[i + 1] ?? log.end;
    return [task.name, `${task.kind}${task.detail ? ": " + task.detail : ""}\n` +
      `${log.statuses[lane.s[i]]} from ${exactly(lane.t[i])} to ${exactly(end)}, ${duration(end - lane.t[i])}`];
  };
}

function addStatusKey() {
  const row = make("div", "row");
  row.append(make("div", "label"));
  row.firstElementChild.append(make("h3", "", "Status of the tasks"));
  const list = make("div", "statuses");
  for (let s = 0; s < log.statuses.length; s++) {
    if (rare.includes(log.statuses[s]) && !log.lanes.some((lane) => lane.s.includes(s))) continue;
    const item = make("span");
    item.insertAdjacentHTML("beforeend", `<svg width="26" height="16"><path class="s-${log.statuses[s]}" d="${block(s, 0, 26, 0, 16)}"></path></svg>`);
    item.append(log.statuses[s]);
    list.append(item);
  }
  row.append(list);
  figure.append(row);
}

// Hatchings serve all drawings of the page.
function addHatchings() {
  const hatch = (name, kind, lines) => `<pattern id="canopy-${name}" width="5" height="5" patternUnits="userSpaceOnUse">` +
    `<rect class="back-${kind}" width="5" height="5" fill-opacity="0.25"></rect>` +
    `<path class="hatch-${kind}" stroke-width="1.4" d="${lines}"></path></pattern>`;
  figure.insertAdjacentHTML("beforebegin", '<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>' +
    hatch("Activating", "change", "M-1 1L1 -1M0 5L5 0M4 6L6 4") +
    hatch("Deactivating", "change", "M-1 4L1 6M0 0L5 5M4 -1L6 1") +
    hatch("Finished", "good", "M0 1H5M0 3.5H5") +
    hatch("Aborted", "bad", "M1 0V5M3.5 0V5") + "</defs></svg>");
}

// The view

function draw() {
  const label = printing ? 128 : 190;
  const total = printing ? 700 : figure.clientWidth;
  view.width = Math.max(120, total - label - 10 - left - right);
  for (const r of rows) r.draw();
  byId("all").hidden = view.from === whole.from && view.to === whole.to;
  point(null);
}

let waiting = false;
function show(from, to) {
  const least = Math.min(1e-6, whole.to - whole.from); // s: below it the digits of a time of day end
  if (!(to - from >= least)) to = from + least;
  view.from = Math.max(whole.from, from);
  view.to = Math.min(whole.to, to);
  if (!waiting) requestAnimationFrame(() => {
    waiting = false;
    draw();
  });
  waiting = true;
}

const showAll = () => show(whole.from, whole.to);

// point moves the cursor of all rows to time t; null takes it away.
function point(t) {
  for (const r of rows) {
    r.cursor.setAttribute("visibility", t === null ? "hidden" : "visible");
    if (t !== null) {
      const x = Math.round(left + place(t)) + 0.5;
      r.cursor.setAttribute("x1", x);
      r.cursor.setAttribute("x2", x);
    }
    r.point(t);
  }
}

function selectRange(x1, x2) {
  for (const r of rows) {
    r.range.setAttribute("x", left + Math.min(x1, x2));
    r.range.setAttribute("width", Math.abs(x2 - x1));
  }
}

const tip = byId("tip");
function showTip(event, described) {
  tip.hidden = described === null;
  if (described === null) return;
  const [name, text] = described;
  tip.replaceChildren();
  if (name) tip.append(make("b", "", name), "\n");
  tip.append(text);
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, window.innerWidth - box.width - 8))}px`;
  const below = event.clientY + 16;
  tip.style.top = `${below + box.height < window.innerHeight ? below : event.clientY - box.height - 10}px`;
}

let dragFrom = null; // px
// across is the place of the pointer in the plot area [px].
function across(event) {
  return event.clientX - rows[0].svg.getBoundingClientRect().left - left;
}
const clamp = (x) => Math.min(Math.max(x, 0), view.width);
const timeAt = (x) => view.from + clamp(x) / view.width * (view.to - view.from);

figure.addEventListener("pointerdown", (event) => {
  const x = across(event);
  if (event.button !== 0 || event.pointerType === "touch" || x < 0 || x > view.width) return;
  dragFrom = x;
  figure.setPointerCapture(event.pointerId);
});
figure.addEventListener("pointermove", (event) => {
  const x = across(event);
  if (dragFrom !== null) selectRange(dragFrom, clamp(x));
  if (dragFrom === null && (x < 0 || x > view.width)) {
    point(null);
    showTip(event, null);
    return;
  }
  point(timeAt(x));
  const row = rows.find((r) => {
    const box = r.svg.getBoundingClientRect();
    return event.clientY >= box.top && event.clientY < box.bottom;
  });
  const described = dragFrom === null && row?.describe?.(timeAt(x), event.clientY - row.svg.getBoundingClientRect().top);
  showTip(event, described || null);
});
figure.addEventListener("pointerup", (event) => {
  if (dragFrom === null) return;
  const [a, b] = [dragFrom, clamp(across(event))].sort((p, q) => p - q);
  dragFrom = null;
  selectRange(0, 0);
  if (b - a > 4) show(timeAt(a), timeAt(b));
});
figure.addEventListener("pointercancel", () => {
  dragFrom = null;
  selectRange(0, 0);
});
figure.addEventListener("pointerleave", (event) => {
  point(null);
  showTip(event, null);
});
figure.addEventListener("dblclick", showAll);
byId("all").addEventListener("click", showAll);
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  const span = view.to - view.from;
  if (event.key === "Escape") showAll();
  if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
  const by = event.key === "ArrowLeft" ? Math.max(-span / 4, whole.from - view.from) : Math.min(span / 4, whole.to - view.to);
  show(view.from + by, view.to + by);
});
window.addEventListener("resize", () => {
  if (!printing) draw();
});
let opened = []; // for printing: paper cannot be clicked
window.addEventListener("beforeprint", () => {
  printing = true;
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const d of opened) d.open = true;
  draw();
});
window.addEventListener("afterprint", () => {
  printing = false;
  for (const d of opened) d.open = false;
  draw();
});

// The table

// entries are the lines of the table: status changes and events in the order of their instants and iterations.
const entries = changes.map((t, i) => ({
  t, micro: log.changes.micro[i], kind: "status", what: log.tasks[log.changes.task[i]].name,
  from: log.statuses[log.changes.from[i]], to: log.statuses[log.changes.to[i]],
})).concat(events.map((e) => ({ t: e.t, micro: e.micro, kind: e.kind, what: e.text, from: "", to: "", fault: faults.includes(e) })));
entries.forEach((e, i) => {
  e.order = i;
  e.text = `${e.kind} ${e.what} ${e.from} ${e.to}`.toLowerCase();
});
const natural = (a, b) => a.t - b.t || a.micro - b.micro || a.order - b.order;
entries.sort(natural);

const page = 500; // lines shown before all are asked for
let sortKey = "t";
let descending = false;
let everything = false;

function fillTable() {
  const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const kind = byId("kind").value;
  const found = entries.filter((e) => (kind === "" || e.kind === kind) && words.every((w) => e.text.includes(w)));
  if (sortKey !== "t") found.sort((a, b) => (a[sortKey] > b[sortKey]) - (a[sortKey] < b[sortKey]) || natural(a, b));
  if (descending) found.reverse();
  const shown = everything ? found : found.slice(0, page);
  byId("count").textContent = `${found.length} of ${entries.length} lines.`;
  byId("more").hidden = shown.length === found.length;
  byId("more").textContent = `Show all ${found.length}`;
  byId("rest").hidden = shown.length === found.length;
  byId("rest").textContent = `The first ${shown.length} of ${found.length} lines; status.csv and run.mcap have all.`;
  byId("changes").tBodies[0].replaceChildren(...shown.map((e) => {
    const line = make("tr", e.fault ? "fault" : "");
    const what = make("td", "", e.what);
    line.append(make("td", "number", exactly(e.t)), make("td", "number", e.micro), make("td", "", e.kind), what);
    if (e.kind === "status") line.append(make("td", "", e.from), make("td", "", e.to));
    else what.colSpan = 3;
    line.addEventListener("click", () => {
      const half = (whole.to - whole.from) / 200;
      show(e.t - half, e.t + half);
      byId("history").scrollIntoView({ behavior: "smooth" });
    });
    return line;
  }));
}

for (const button of byId("changes").querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    descending = sortKey === button.dataset.key && !descending;
    sortKey = button.dataset.key;
    for (const th of byId("changes").querySelectorAll("th")) th.removeAttribute("aria-sort");
    button.closest("th").setAttribute("aria-sort", descending ? "descending" : "ascending");
    fillTable();
  });
}
for (const kind of new Set(entries.map((e) => e.kind))) byId("kind").append(new Option(kind, kind));
byId("filter").addEventListener("input", fillTable);
byId("kind").addEventListener("input", fillTable);
byId("more").addEventListener("click", () => {
  everything = true;
  fillTable();
});

// Everything in order

const lanesPerRow = 25; // so that a long tree can break over printed pages
addHatchings();
addAxis(false);
for (const plot of log.plots ?? []) addPlot(plot);
addEvents();
if ((log.plots ?? []).length > 0) addAxis(true);
if (log.lanes.length > 0) {
  addStatusKey();
  for (let i = 0; i < log.lanes.length; i += lanesPerRow) addLanes(log.lanes.slice(i, i + lanesPerRow));
  addAxis(true);
}
draw();
fillTable();
})();
