// Tests of the pure modules, on random input.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Point, line, scale, visible } from "../src/draw/plot.ts";
import { held, negative } from "../src/draw/robustness.ts";
import { svg } from "../src/draw/pen.ts";
import { place, timeOf } from "../src/draw/time.ts";
import { track as drawTrack } from "../src/draw/track.ts";
import { tree } from "../src/draw/tree.ts";
import { chain } from "../src/model/cause.ts";
import { firstDifference, layOver } from "../src/model/difference.ts";
import { flightLanes } from "../src/model/flight.ts";
import { below, collapsedBelow, estimate, fit, hit, layout, size } from "../src/model/layout.ts";
import { forecast, limitsOn, margin } from "../src/model/margin.ts";
import { lines, merged, near } from "../src/model/lines.ts";
import { type Box, type History, done, redone, same, undone } from "../src/model/outline.ts";
import { type Coordinates, type Data, type Logic, type Run, read, since, statusAt, statusesAt, valueAt } from "../src/model/run.ts";
import { after, before } from "../src/model/sorted.ts";
import { clock, duration, exactly, multiples, number, offsetOf, roundStep, timeStep } from "../src/model/text.ts";
import { type Track, frameOf, nearest, pixel, track } from "../src/model/track.ts";
import { Store } from "../src/store.ts";
import { parseTime } from "../src/views/transport.tsx";

/** random returns a generator of numbers in [0, 1) that repeats itself (mulberry32). */
function random(seed: number) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const packed = (values: Float32Array | Float64Array) => Buffer.from(values.buffer).toString("base64");

/** randomRun is a run of a random tree with random changes and signals. */
function randomRun(r: () => number, tasks: number): Run {
  const time = Float64Array.from({ length: 50 }, () => 100 * r()).sort();
  const statuses = ["Success", "Failure", "Accept", "Activating", "Running", "Finished", "Aborted", "Deactivating"];
  const changes = { back: [] as number[], why: [] as string[], t: [] as number[], micro: [] as number[], task: [] as number[], from: [] as number[], to: [] as number[] };
  const lanes = Array.from({ length: tasks }, (_, task) => {
    const t = [0, ...Array.from({ length: Math.floor(6 * r()) }, () => Math.floor(100 * r()))].sort((a, b) => a - b);
    return { task, depth: 0, t, s: t.map(() => Math.floor(8 * r())) };
  });
  for (const l of lanes) l.t.slice(1).forEach((t, i) => {
    changes.t.push(t);
    changes.micro.push(1);
    changes.task.push(l.task);
    changes.from.push(l.s[i]!);
    changes.to.push(l.s[i + 1]!);
  });
  const data: Data = {
    mission: "m", text: "", verdict: { outcome: "complete", word: "Complete", at: "", horizon: "", reason: "" }, facts: [], flight: false, axis: "", start: 0, end: 100,
    statuses, transient: statuses.map((s) => ["Success", "Failure", "Accept"].includes(s)),
    tasks: lanes.map((l) => ({ name: `task ${l.task}`, label: `task ${l.task}`, kind: "Sequence", symbol: r() < 0.5 ? "→" : "", role: r() < 0.3 ? "condition" : "composite",
      parent: l.task === 0 ? -1 : Math.floor(r() * l.task), note: "n".repeat(Math.floor(60 * r())), detail: [], leaf: false, rests: false })),
    lanes, time: packed(time),
    signals: ["x", "y"].map((name) => ({ name, unit: "1", text: "", type: "", names: null, time: "", values: packed(Float32Array.from(time, () => r() - 0.5)) })),
    plots: [], changes, events: [], gap: null, notes: { history: null, table: null },
    properties: null, verdicts: null, activities: null, extremes: null, parameters: null, documents: null, fence: null, rally: null,
  };
  return read(JSON.parse(JSON.stringify(data)) as Data);
}

test("searches in sorted lists count", () => {
  const r = random(1);
  for (let n = 0; n < 500; n++) {
    const list = Array.from({ length: Math.floor(9 * r()) }, () => Math.floor(5 * r())).sort();
    const x = Math.floor(7 * r()) - 1;
    assert.equal(after(list, x), list.filter((v) => v <= x).length);
    assert.equal(before(list, x), list.filter((v) => v < x).length);
  }
});

test("a status holds from its change to the next", () => {
  const r = random(2);
  for (let n = 0; n < 50; n++) {
    const run = randomRun(r, 5);
    for (let t = 0; t <= 100; t++) {
      for (const lane of run.lanes) {
        let want = -1;
        lane.t.forEach((at, i) => { if (at <= t) want = lane.s[i]!; });
        assert.equal(statusAt(lane, t), want);
        const [from, to] = since(run, lane, t);
        assert.ok(from <= t && t <= to);
        assert.equal(statusAt(lane, (from + Math.min(to, 100)) / 2), want);
      }
    }
  }
});

test("stepping visits each instant once, in both directions", () => {
  const r = random(3);
  for (let n = 0; n < 50; n++) {
    const run = randomRun(r, 6);
    const store = new Store(run);
    store.seek(0);
    const instants = [...run.instants].filter((t) => t > 0);
    for (const t of instants) {
      store.step(1, null);
      assert.equal(store.time.value, t);
    }
    store.step(1, null);
    assert.equal(store.time.value, 100);
    for (const t of instants.toReversed()) {
      if (t === 100) continue;
      store.step(-1, null);
      assert.equal(store.time.value, t);
    }
    store.seek(0);
    for (const t of new Set(run.laneOf[2]!.t.filter((at) => at > 0))) {
      store.step(1, 2);
      assert.equal(store.time.value, t);
    }
  }
});

test("a view stays within the run and keeps the cursor", () => {
  const r = random(4);
  const store = new Store(randomRun(r, 3));
  for (let n = 0; n < 2000; n++) {
    const k = Math.floor(4 * r());
    if (k === 0) store.zoom(100 * r(), 4 * r());
    else if (k === 1) store.pan(200 * r() - 100);
    else if (k === 2) store.show(100 * r(), 100 * r());
    else store.seek(140 * r() - 20);
    const { from, to } = store.view.value;
    assert.ok(0 <= from && from < to && to <= 100 + 1e-6, `${from} ${to}`);
    if (k === 3) assert.ok(from <= store.time.value && store.time.value <= to);
  }
});

test("an address gives back what was seen", () => {
  const r = random(5);
  for (let n = 0; n < 100; n++) {
    const run = randomRun(r, 5);
    const a = new Store(run);
    a.show(50 * r(), 50 + 50 * r());
    a.seek(a.view.value.from + r() * (a.view.value.to - a.view.value.from));
    if (r() < 0.5) a.select(Math.floor(5 * r()));
    const b = new Store(run);
    b.read(`#${a.address()}`);
    assert.deepEqual([b.time.value, b.view.value, b.selected.value], [a.time.value, a.view.value, a.selected.value]);
  }
});

test("boxes of a tree do not overlap, and children follow their parents", () => {
  const r = random(6);
  for (let n = 0; n < 100; n++) {
    const run = randomRun(r, 1 + Math.floor(60 * r()));
    const collapsed = new Set(run.data.tasks.flatMap((_, i) => r() < 0.1 && run.children[i]!.length > 0 ? [i] : []));
    const l = layout(run, collapsed, estimate);
    for (const a of l.boxes) {
      assert.equal(hit(l, a.x + a.width / 2, a.y + size.height / 2), a.task);
      assert.ok(a.x >= 0 && a.y >= 0 && a.x + a.width <= l.width && a.y + size.height <= l.height);
      for (const b of l.boxes) {
        if (a === b) continue;
        assert.ok(a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + size.height <= b.y || b.y + size.height <= a.y, `${a.task} and ${b.task}`);
      }
      const parent = l.of[run.data.tasks[a.task]!.parent];
      if (parent !== undefined) assert.ok(parent.x + parent.width < a.x);
    }
    const hidden = l.boxes.reduce((sum, b) => sum + b.hidden, 0);
    assert.equal(l.boxes.length + hidden, run.data.tasks.length);
  }
});

test("a chain of 20,000 tasks and a tree of 5,000 are placed in time", () => {
  const r = random(7);
  const chain = randomRun(r, 3);
  chain.children.length = 0;
  const task = chain.data.tasks[0]!;
  chain.data.tasks = Array.from({ length: 20000 }, (_, i) => ({ ...task, parent: i - 1 }));
  chain.children.push(...chain.data.tasks.map((_, i) => (i < 19999 ? [i + 1] : [])));
  assert.equal(layout(chain, new Set(), estimate).boxes.length, 20000);
  assert.equal(below(chain, 0), 19999);
  const wide = randomRun(r, 5000);
  const open = wide.data.tasks.length - [...collapsedBelow(wide, 400)].reduce((n, t) => n + below(wide, t), 0);
  assert.ok(open >= 100 && open < 5000, `${open}`);
});

test("of runs of two plans, each task is laid over, or there is only one of it", () => {
  const r = random(23);
  for (let n = 0; n < 100; n++) {
    const a = randomRun(r, 40);
    const data = JSON.parse(JSON.stringify(a.data)) as Data;
    const renamed = data.tasks.map((task, i) => r() < 0.3 ? ((task.name = `other ${i}`), true) : false);
    const b = read(data);
    const over = layOver(a, b);
    a.data.tasks.forEach((_, i) => assert.equal(over.lanes[i], renamed[i] ? undefined : b.laneOf[i]));
    const list = renamed.flatMap((is, i) => (is ? [i] : []));
    assert.deepEqual(over.missing, list);
    assert.deepEqual(over.only.map((l) => l.task).sort((x, y) => x - y), list.filter((i) => b.laneOf[i] !== undefined));
  }
});

test("the first difference of two runs is the first", () => {
  const r = random(19);
  for (let n = 0; n < 300; n++) {
    const a = randomRun(r, 4);
    const data = JSON.parse(JSON.stringify(a.data)) as Data;
    for (let changes = Math.floor(3 * r()); changes > 0; changes--) {
      const lane = data.lanes![Math.floor(4 * r())]!;
      lane.s[Math.floor(lane.s.length * r())] = Math.floor(8 * r());
    }
    const b = read(data);
    let want: number | null = null;
    for (let t = 0; t <= 100 && want === null; t++) if (a.lanes.some((l, i) => statusAt(l, t) !== statusAt(b.lanes[i], t))) want = t;
    const found = firstDifference(a, b);
    assert.equal(found?.t ?? null, want);
    if (found !== null) assert.notEqual(found.statuses[0], found.statuses[1]);
  }
});

test("a frame contains the track and its fence, with one scale for both axes", () => {
  const r = random(17);
  for (let n = 0; n < 200; n++) {
    const size = 10 ** (6 * r() - 2);
    const coordinates = (): Coordinates => ({ north: size * (r() - 0.5), east: size * (r() - 0.5) });
    const t: Track = {
      names: ["east", "north"], unit: "m", time: Float64Array.from({ length: 20 }, (_, i) => i), home: r() < 0.5,
      x: Float32Array.from({ length: 20 }, () => size * r()), y: Float32Array.from({ length: 20 }, () => size * r()), route: [[size * r(), size * r()]],
      areas: [{ forbidden: false, corners: [coordinates(), coordinates(), coordinates()], centre: { north: 0, east: 0 }, radius: 0 },
        { forbidden: true, corners: null, centre: coordinates(), radius: size / 3 }], rally: [coordinates()],
    };
    const f = frameOf(t, 300, 400);
    assert.equal(f.scale[0], -f.scale[1]);
    const inside = (x: number, y: number) => {
      const [px, py] = pixel(f, x, y);
      assert.ok(px >= 17.9 && px <= 282.1 && py >= 17.9 && py <= 382.1, `${px} ${py}`);
    };
    t.x.forEach((x, i) => inside(x, t.y[i]!));
    for (const c of [...t.areas[0]!.corners!, ...t.rally]) inside(c.east, c.north);
    const { centre, radius } = t.areas[1]!;
    inside(centre.east + radius, centre.north - radius);
    const i = Math.floor(20 * r());
    const [px, py] = pixel(f, t.x[i]!, t.y[i]!);
    assert.equal(nearest(t, f, px, py)!.t, i);
  }
});

test("circles are the places to which tasks sent the vehicle, each once", () => {
  const r = random(23);
  for (let n = 0; n < 100; n++) {
    const run = randomRun(r, 1);
    const places = Array.from({ length: 1 + Math.floor(6 * r()) }, () => [Math.floor(9 * r()), Math.floor(9 * r())] as const);
    const sent = Array.from({ length: 50 }, (_, i) => places[Math.floor(i * places.length / 50)]!);
    const signal = (name: string, v: (i: number) => number) => ({ ...run.data.signals![0]!, name, unit: "m",
      values: packed(Float32Array.from({ length: 50 }, (_, i) => i < 5 ? NaN : v(i))) });
    const t = track(read({ ...run.data, signals: [signal("east", () => r()), signal("north", () => r()),
      signal("target_east", (i) => sent[i]![0]), signal("target_north", (i) => sent[i]![1])] }))!;
    const f = frameOf(t, 300, 300);
    const drawn: string[] = [];
    const none = () => {};
    const pen = { path: (d: string, p: { stroke?: string }) => p.stroke === "change" && drawn.push(d), text: none, rect: none, inside: none, scaled: none };
    drawTrack(pen, t, null, f, { from: 0, to: 100 }, 50, 300, 300);
    const want = new Set(sent.slice(5).map(([x, y]) => pixel(f, x, y)).map(([x, y]) => `M${(x - 4).toFixed(1)} ${y.toFixed(1)}`));
    assert.deepEqual(new Set(drawn.map((d) => d.split("a")[0])), want);
    assert.equal(drawn.length, want.size);
  }
});

test("the thresholds of conditions on a signal are drawn, of the selected one alone, and not more than 12", () => {
  const r = random(24);
  for (let n = 0; n < 300; n++) {
    const run = randomRun(r, 4);
    const limits = run.data.tasks.map(() => Array.from({ length: Math.floor(8 * r()) }, () => Math.floor(30 * r())));
    const of = read({ ...run.data, tasks: run.data.tasks.map((task, i) => ({ ...task,
      ...(limits[i]!.length === 0 ? {} : { on: { op: "or", args: [{ op: "threshold", signal: "y", limit: 99 }, ...limits[i]!.map((limit) => ({ op: "threshold", signal: "x", limit }))] } as Logic }),
    })) });
    const selected = r() < 0.5 ? null : Math.floor(4 * r());
    const one = selected === null || limits[selected]!.length === 0 ? limits.flat() : limits[selected]!;
    const want = new Set(one);
    const found = limitsOn(of, "x", selected);
    assert.deepEqual(new Set(found.map((l) => l.value)), want.size > 12 ? new Set() : want);
    for (const l of found) assert.ok(limits.some((list, i) => list.includes(l.value) && l.text.includes(`task ${i}`)));
  }
});

test("angles are read in degrees, with their thresholds", () => {
  const run = randomRun(random(18), 2);
  const { data } = run;
  const one = read({ ...data, signals: [{ ...data.signals![0]!, unit: "rad" }],
    tasks: [{ ...data.tasks[0]!, on: { op: "not", args: [{ op: "threshold", signal: "x", limit: Math.PI / 4 }] } }, data.tasks[1]!] });
  assert.equal(one.signals[0]!.unit, "°");
  assert.ok(Math.abs(one.signals[0]!.values[3]! - run.signals[0]!.values[3]! * 180 / Math.PI) < 1e-4);
  assert.ok(Math.abs(margin(one, one.data.tasks[0]!.on!, 50).limit - 45) < 1e-9);
});

test("of a large run, an instant is found without reading the whole, and a layout measures each text a few times", () => {
  const r = random(25);
  const run = randomRun(r, 5000);
  let reads = 0;
  const counted = (list: number[]) => new Proxy(list, { get: (of, key, receiver) => {
    if (typeof key === "string" && /^\d+$/.test(key)) reads++;
    return Reflect.get(of, key, receiver) as unknown;
  } });
  const changes = 4096;
  const long = { ...run, laneOf: run.laneOf.map((_, task) => ({ task, depth: 0,
    t: counted(Array.from({ length: changes }, (_, i) => i / 40)), s: counted(Array.from({ length: changes }, (_, i) => i % 8)) })) };
  statusesAt(long, 100 * r());
  assert.ok(reads <= 5000 * (Math.log2(changes) + 2), `${reads} reads`);
  let measured = 0;
  const l = layout(run, new Set(), (text, of, bold) => {
    measured++;
    return estimate(text, of, bold);
  });
  assert.equal(l.boxes.length, 5000);
  assert.ok(measured <= 5000 * 20, `${measured} texts`);
});

test("of a large tree, only what is seen is drawn", () => {
  const r = random(16);
  const run = randomRun(r, 5000);
  const l = layout(run, new Set(), estimate);
  const area = { x: l.width / 3, y: l.height / 2, width: 1200, height: 600 };
  const drawn: [number, number][] = [];
  const none = () => {};
  const pen = { path: none, text: none, rect: (x: number, y: number) => drawn.push([x, y]), inside: none, scaled: none };
  tree(pen, l, run, 50, null, area, estimate);
  const seen = l.boxes.filter((b) => b.x + b.width >= area.x && b.x <= area.x + area.width && b.y + size.height >= area.y && b.y <= area.y + area.height);
  assert.ok(seen.length > 0 && seen.length < 200);
  assert.deepEqual(new Set(drawn.map(String)), new Set(seen.map((b) => `${b.x},${b.y}`)));
});

/** value is the truth of a structure at a time, evaluated the dumb way. */
function value(run: Run, l: Logic, t: number): boolean {
  switch (l.op) {
    case "threshold": return valueAt(run.signals.find((s) => s.name === l.signal)!, t) >= l.limit!;
    case "not": return !value(run, l.args![0]!, t);
    case "and": return l.args!.every((a) => value(run, a, t));
    case "or": return l.args!.some((a) => value(run, a, t));
    default: return l.op === "true";
  }
}

test("a margin is positive where a condition holds, and its signal can change it by that much", () => {
  const r = random(8);
  const random1 = (depth: number): Logic => {
    const k = depth === 0 ? 0 : Math.floor(4 * r());
    if (k === 0) return r() < 0.1 ? { op: r() < 0.5 ? "true" : "false" } : { op: "threshold", signal: r() < 0.5 ? "x" : "y", limit: r() - 0.5 };
    if (k === 1) return { op: "not", args: [random1(depth - 1)] };
    return { op: k === 2 ? "and" : "or", args: [random1(depth - 1), random1(depth - 1)] };
  };
  const run = randomRun(r, 2);
  const [from, to] = [run.signals[0]!.time[0]!, run.signals[0]!.time.at(-1)!];
  for (let n = 0; n < 3000; n++) {
    const l = random1(3);
    const t = from + (to - from) * r();
    const m = margin(run, l, t);
    if (Math.abs(m.value) > 1e-9) assert.equal(m.value > 0, value(run, l, t));
    if (m.signal === "") continue;
    const v = valueAt(run.signals.find((s) => s.name === m.signal)!, t);
    assert.ok(Math.abs(Math.abs(v - m.limit) - Math.abs(m.value)) < 1e-12);
    assert.equal(m.below ? v < m.limit : v >= m.limit, m.value >= 0 && !(m.below && m.value === 0));
  }
});

test("a condition would change where a line through the last two times of its signal comes to the limit", () => {
  const r = random(31);
  const { data } = randomRun(r, 1);
  for (let n = 0; n < 200; n++) {
    const [v, rate, limit] = [r() - 0.5, r() < 0.1 ? 0 : r() - 0.5, r() - 0.5];
    const time = [0, 50, 100, ...(r() < 0.5 ? [100] : [])]; // perhaps with both sides of an event
    const run = read({ ...data, time: packed(Float64Array.from(time)),
      signals: data.signals!.map((s) => ({ ...s, values: packed(Float32Array.from(time, (t) => v + rate * (t - 50))) })) });
    const m = margin(run, { op: "threshold", signal: "x", limit }, 100);
    const at = 50 + (limit - v) / rate;
    const found = forecast(run, m, 100);
    if (at > 100.001 && at < 1e6) assert.ok(Math.abs(found! - at) < 1e-3 * (1 + at - 50), `${found}, not ${at}`);
    else if (!(at > 99.999)) assert.equal(found, null);
    assert.equal(forecast(run, m, 99), null);
  }
});

test("a part that is not known leaves a condition open unless another part decides", () => {
  const run = randomRun(random(9), 2);
  const unknown: Logic = { op: "opaque" };
  assert.ok(Number.isNaN(margin(run, { op: "and", args: [unknown, { op: "true" }] }, 50).value));
  assert.equal(margin(run, { op: "and", args: [unknown, { op: "false" }] }, 50).value, -Infinity);
  assert.ok(Number.isNaN(margin(run, { op: "or", args: [unknown, { op: "false" }] }, 50).value));
  assert.equal(margin(run, { op: "or", args: [unknown, { op: "true" }] }, 50).value, Infinity);
  assert.ok(Number.isNaN(margin(run, { op: "threshold", signal: "absent", limit: 0 }, 50).value));
});

test("a thinned line keeps the extremes of each column", () => {
  const r = random(10);
  const w = { from: 0, to: 100, width: 50 };
  for (let n = 0; n < 50; n++) {
    const points = Array.from({ length: 1000 }, (_, i): Point => [i / 10, r() < 0.01 ? NaN : r()]);
    const drawn = [...line(points, w, (v) => v).matchAll(/([ML])([\d.]+) ([\d.]+)/g)].map((m) => [Number(m[2]), Number(m[3])]);
    for (let c = 0; c < 50; c++) {
      const inside = points.filter(([t, v]) => Math.floor(place(w, t)) === c && Number.isFinite(v)).map(([, v]) => v);
      if (inside.length === 0) continue;
      const shown = drawn.filter(([x]) => Math.floor(x!) === c).map(([, y]) => y!);
      assert.ok(Math.abs(Math.max(...shown) - Math.max(...inside)) < 0.006 && Math.abs(Math.min(...shown) - Math.min(...inside)) < 0.006);
    }
    assert.ok(drawn.length <= 4 * (50 + points.filter(([, v]) => Number.isNaN(v)).length + 1));
  }
});

test("a scale contains what is seen", () => {
  const r = random(11);
  for (let n = 0; n < 500; n++) {
    const size = 10 ** (20 * r() - 10);
    const points = Array.from({ length: 1 + Math.floor(5 * r()) }, (_, i): Point => [i, size * (r() - 0.5)]);
    const s = scale([points])!;
    for (const [, v] of points) assert.ok(s.least < v && v < s.greatest);
    assert.ok(multiples(roundStep((s.greatest - s.least) / 6), s.least, s.greatest).length <= 7);
  }
  assert.equal(scale([[[0, NaN]]]), null);
});

test("what is visible of a curve begins and ends at the window", () => {
  const run = randomRun(random(12), 2);
  const s = run.signals[0]!;
  const [a, b] = [s.time[10]! + 0.01, s.time[40]! - 0.01];
  const points = visible(s, { from: a, to: b, width: 100 });
  assert.equal(points[0]![0], a);
  assert.equal(points.at(-1)![0], b);
  for (const [t, v] of points) assert.ok(Math.abs(valueAt(s, t) - v) < 1e-12);
});

test("times are written as they are read", () => {
  const r = random(13);
  for (let n = 0; n < 5000; n++) {
    const t = Math.exp(25 * r() - 8);
    for (const step of [1, 1e-3, 60]) {
      const text = clock(t, step);
      const back = parseTime(step === 60 ? `${text}:00` : text);
      assert.ok(back <= t + 2e-3 && back > t - step - 1e-3, `${t} ${text} ${back}`);
    }
  }
  for (const [text, want] of [["90", 90], ["1:30", 5400], ["0:01:30.5", 90.5], ["-1", -1], ["x", NaN], ["1:2:3:4", NaN], ["", NaN], ["1::2", NaN]] as const) {
    assert.equal(parseTime(text), want, text);
  }
});

test("an infinite robustness is held up to the next point, as valueAt reads it", () => {
  const r = random(20);
  for (let n = 0; n < 300; n++) {
    const points = Array.from({ length: 2 + Math.floor(6 * r()) }, (_, i): Point => [2 * i, [Infinity, -Infinity, r() - 0.5][Math.floor(3 * r())]!]);
    const drawn = held(points, 9);
    assert.ok(drawn.every(([t, v], i) => Number.isFinite(v) && (i === 0 || t >= drawn[i - 1]![0])));
    const packedPoints = { time: packed(Float64Array.from(points, ([t]) => t)), values: packed(Float32Array.from(points, ([, v]) => v)) };
    const run = randomRun(r, 1);
    const { robustness } = read({ ...run.data, properties: [{ ...packedPoints, text: "p", kind: "property", verdict: "open", margin: null, at: null,
      decided: null, always: true }] }).properties[0]!;
    const shown = { ...robustness, time: Float64Array.from(drawn, ([t]) => t), values: Float32Array.from(drawn, ([, v]) => v) };
    for (let t = 0; t < points.at(-1)![0]; t += 0.25) {
      const v = valueAt(robustness, t);
      assert.ok(Math.abs(valueAt(shown, t) - (Number.isFinite(v) ? v : Math.sign(v) * 9)) < 1e-6, `${t} of ${points}`);
    }
  }
});

test("who commands, lost sources and answers of commands are as the last event says", () => {
  const r = random(22);
  const holders: Record<string, string> = { attached: "Canopy", resumed: "Canopy", observed: "only observed", rebooted: "nobody",
    "pilot took over": "pilot", "another station took over": "another station", "failsafe took over": "failsafe" };
  const kinds = [...Object.keys(holders), "link lost", "link back", "unknown", "known", "commanded", "proved", "refused", "waiting", "text"];
  for (let n = 0; n < 200; n++) {
    const events = Array.from({ length: Math.floor(25 * r()) }, () => 1 + Math.floor(97 * r())).sort((a, b) => a - b)
      .map((t) => ({ t, micro: 0, kind: kinds[Math.floor(kinds.length * r())]!, text: ["arm", "arm: command 400 [1 0]", "speed", "gps"][Math.floor(4 * r())]! }));
    const run = read({ ...randomRun(r, 1).data, flight: true, events });
    const lanes = flightLanes(run);
    const at = (name: string, t: number) => lanes.find((l) => l.name === name)?.blocks.findLast((b) => b.from <= t && t < b.to);
    for (const { blocks } of lanes) blocks.forEach((b, i) => assert.ok(b.from <= b.to && b.to <= (blocks[i + 1]?.from ?? 100)));
    for (let t = 0; t < 100; t++) {
      const past = events.filter((e) => e.t <= t);
      const link = past.findLast((e) => e.kind.startsWith("link") || holders[e.kind] !== undefined);
      const holder = holders[past.findLast((e) => holders[e.kind] !== undefined)?.kind ?? "rebooted"];
      assert.equal(at("commanded by", t)!.text, link?.kind === "link lost" ? "link lost" : holder);
      for (const source of ["arm", "gps"]) {
        const last = past.findLast((e) => e.text === source && e.kind.endsWith("known"));
        assert.equal(at(`source ${source}`, t) !== undefined, last?.kind === "unknown");
      }
      const last = past.findLast((e) => e.text.startsWith("arm") && ["commanded", "proved", "refused"].includes(e.kind));
      assert.equal(at("command arm", t) !== undefined, last?.kind === "commanded");
    }
    for (const slot of ["arm", "speed"]) {
      const commands = events.filter((e) => e.kind === "commanded" && e.text.startsWith(slot));
      assert.deepEqual(lanes.find((l) => l.name === `command ${slot}`)?.blocks.map((b) => b.from) ?? [], commands.map((e) => e.t));
    }
    assert.deepEqual(flightLanes(read({ ...run.data, flight: false })).map((l) => l.name).filter((name) => !name.startsWith("source")), []);
  }
});

test("a chain of causes leads from the last change of a task to a reason", () => {
  const r = random(26);
  for (let n = 0; n < 300; n++) {
    const size = 1 + Math.floor(30 * r());
    const known = Math.floor((size + 1) * r());
    const back = Array.from({ length: known }, (_, i) => r() < 0.4 ? 0 : Math.min(i, 1 + Math.floor(3 * r())));
    const column = (v: (i: number) => number) => Array.from({ length: size }, (_, i) => v(i));
    const t = column((i) => Math.floor(i / 3));
    const task = column(() => Math.floor(3 * r()));
    const run = read({ ...randomRun(r, 3).data, changes: { back, why: back.map((b, i) => b === 0 ? `reason ${i}` : ""), t, task,
      micro: column(() => 1), from: column(() => 0), to: column(() => 4) } });
    for (let at = 0; at < 12; at++) {
      for (let of = 0; of < 3; of++) {
        const found = chain(run, of, at);
        const last = t.findLastIndex((when, i) => when <= at && task[i] === of);
        if (last < 0 || last >= known) {
          assert.equal(found, null);
          continue;
        }
        assert.deepEqual([found!.t, found!.changes[0]], [t[last], last]);
        found!.changes.forEach((k, i) => assert.equal(k - back[k]!, i + 1 < found!.changes.length ? found!.changes[i + 1] : k));
        assert.equal(found!.reason, `reason ${found!.changes.at(-1)}`);
      }
    }
  }
});

test("where lines are below 0 is found", () => {
  const r = random(21);
  for (let n = 0; n < 300; n++) {
    const points = Array.from({ length: 2 + Math.floor(9 * r()) }, (_, i): Point => [i, r() < 0.2 ? 0 : r() - 0.5]);
    const found = negative(points);
    const [time, values] = [Float64Array.from(points, ([t]) => t), Float32Array.from(points, ([, v]) => v)];
    const signal = { name: "", unit: "1", text: "", type: "", names: null, time, values };
    for (let t = 0.013; t < points.at(-1)![0]; t += 0.05) {
      const v = valueAt(signal, t);
      if (Math.abs(v) > 1e-6) assert.equal(found.some(([a, b]) => a <= t && t <= b), v < 0, `${t} of ${points}`);
    }
  }
});

test("texts of numbers and times", () => {
  assert.deepEqual([clock(0, 60), clock(86400, 60), clock(59.9995, 1), clock(-1, 1), exactly(69700.5)],
    ["0:00", "24:00", "0:01:00", "−0:00:01", "19:21:40.500"]);
  assert.deepEqual([duration(5), duration(3600), duration(0.1234567), duration(-5)], ["5 s", "1:00:00", "0.1235 s", "−5 s"]);
  assert.deepEqual([number(0.5), number(-13000), number(NaN), number(1e-9), number(123456789)],
    ["0.5", "−13\u2009000", "–", "1.000e−9", "1.235e+8"]);
  assert.deepEqual([timeStep(0.3), timeStep(61), timeStep(86401), timeStep(4000)], [0.5, 120, 172800, 7200]);
});

test("place and timeOf are inverse", () => {
  const r = random(14);
  for (let n = 0; n < 1000; n++) {
    const w = { from: r(), to: 1 + r(), width: 1 + 1000 * r() };
    const t = w.from + r() * (w.to - w.from);
    assert.ok(Math.abs(timeOf(w, place(w, t)) - t) < 1e-9);
  }
});

test("a text is cut to its width", () => {
  const r = random(15);
  for (let n = 0; n < 500; n++) {
    const text = Array.from({ length: Math.floor(40 * r()) }, () => "iW→é𝄞 "[Math.floor(6 * r())] ?? "x").join("");
    const cut = fit(text, 12, false, 100, estimate);
    assert.ok(cut === text || (cut.endsWith("…") && estimate(cut, 12, false) <= 100));
  }
});

test("markup of a drawing holds no text as markup", () => {
  const evil = '</svg><script>alert("1")</script>&';
  const markup = svg(10, 10, (pen) => pen.text(0, 0, evil), undefined, evil);
  assert.ok(!markup.includes("<script") && markup.includes("&lt;script&gt;"));
});

test("an offset is that of its line and column", () => {
  const r = random(41);
  for (let n = 0; n < 500; n++) {
    const lines = Array.from({ length: 1 + Math.floor(4 * r()) }, () => Array.from({ length: Math.floor(6 * r()) }, () => "aé😀 "[Math.floor(3 * r())] === "\ud83d" ? "😀" : "aé"[Math.floor(2 * r())]!));
    const text = lines.map((l) => l.join("")).join("\n");
    const line = 1 + Math.floor(lines.length * r());
    const column = 1 + Math.floor((lines[line - 1]!.length + 1) * r());
    const before = [...lines.slice(0, line - 1).map((l) => l.join("")), lines[line - 1]!.slice(0, column - 1).join("")].join("\n");
    assert.equal(offsetOf(text, line, column), before.length);
  }
  assert.equal(offsetOf("ab", 7, 7), 2);
});

test("what is undone is what was, and what is redone is what was undone", () => {
  const r = random(51);
  for (let n = 0; n < 300; n++) {
    const letters = () => Array.from({ length: Math.floor(3 * r()) }, () => "ab\n😀"[Math.floor(4 * r())]).join("");
    const texts = ["abcab"];
    let history: History | undefined;
    for (let k = 0; k < 20; k++) {
      const text = texts.at(-1)!;
      const at = Math.floor(r() * (text.length + 1));
      const now = text.slice(0, at) + letters() + text.slice(at + Math.floor(2 * r()));
      history = done(history, text, now);
      if (now !== text) texts.push(now);
    }
    let text = texts.at(-1)!;
    const back = (step: typeof undone) => {
      const seen = [text];
      for (let h = step(history, text); h !== null; h = step(history, text)) {
        history = h;
        seen.push(text = h.of);
      }
      return seen;
    };
    const seen = back(undone);
    assert.equal(text, texts[0]);
    assert.ok(seen.every((t) => texts.includes(t)));
    assert.deepEqual(back(redone), seen.toReversed());
    assert.equal(done(history, "another text", "x").undo.length, 1, "a text that others have changed");
  }
});

test("what is typed in a row is one edit", () => {
  let history: History | undefined;
  let text = "x";
  for (const c of "abc\nde") {
    history = done(history, text, text + c);
    text += c;
  }
  const texts = [];
  for (let h = undone(history, text); h !== null; h = undone(h, text)) texts.push(text = h.of);
  assert.deepEqual(texts, ["xabc\n", "xabc", "x"]);
});

test("a box is still found when others come or go", () => {
  const r = random(52);
  for (let n = 0; n < 300; n++) {
    const box = (label: string): Box => ({ element: "Action", label, symbol: "", role: "action", parent: -1, attributes: [], disabled: false, at: 0, from: 0, to: 0 });
    const old = Array.from({ length: 1 + Math.floor(9 * r()) }, (_, i) => box(`a${i}`));
    const now = [...old];
    const at = Math.floor(r() * old.length);
    if (r() < 0.5) now.splice(at, Math.ceil(3 * r()));
    else now.splice(at, 0, box("b"), box("b"));
    const of = same(old, now);
    old.forEach((b, i) => assert.equal(of(i), now.includes(b) ? now.indexOf(b) : undefined));
  }
});

test("changes of two people are merged unless they touch, whoever comes first", () => {
  const r = random(54);
  let both = 0;
  for (let n = 0; n < 1000; n++) {
    const old = Array.from({ length: 2 + Math.floor(8 * r()) }, (_, i) => `line ${i}`);
    const change = (who: string): { at: number; end: number; now: string[] } => {
      const at = Math.floor(r() * (old.length + 1));
      const end = Math.min(old.length, at + Math.floor(3 * r()));
      return { at, end, now: Array.from({ length: Math.floor(3 * r()) + (end === at ? 1 : 0) }, (_, i) => `${who} ${i}`) };
    };
    const [mine, theirs] = [change("mine"), change("theirs")];
    const made = (...list: typeof mine[]) => list.toSorted((a, b) => b.at - a.at).reduce((text, c) => text.toSpliced(c.at, c.end - c.at, ...c.now), old).join("\n");
    const [before, a, b] = [old.join("\n"), made(mine), made(theirs)];
    const apart = mine.end < theirs.at || theirs.end < mine.at;
    assert.equal(merged(before, a, b), a === b ? a : apart ? made(mine, theirs) : null);
    assert.equal(merged(before, b, a), merged(before, a, b));
    assert.equal(merged(before, a, before), a);
    assert.equal(merged(before, a, a), a);
    both += apart ? 1 : 0;
  }
  assert.ok(both > 200 && both < 900, String(both));
});

test("the difference of two texts has both, with the fewest lines that differ", () => {
  const r = random(53);
  for (let n = 0; n < 300; n++) {
    const text = () => Array.from({ length: Math.floor(9 * r()) }, () => "abc"[Math.floor(3 * r())]).join("\n");
    const [a, b] = [text(), text()];
    const list = lines(a, b);
    const of = (kind: string) => list.filter((l) => l.kind !== kind).map((l) => l.text).join("\n");
    assert.equal(of("new"), a);
    assert.equal(of("old"), b);
    const [p, q] = [a.split("\n"), b.split("\n")];
    const common = Array.from({ length: p.length + 1 }, () => new Array<number>(q.length + 1).fill(0));
    for (let i = 1; i <= p.length; i++) {
      for (let j = 1; j <= q.length; j++) common[i]![j] = p[i - 1] === q[j - 1] ? common[i - 1]![j - 1]! + 1 : Math.max(common[i - 1]![j]!, common[i]![j - 1]!);
    }
    assert.equal(list.filter((l) => l.kind === "same").length, common[p.length]![q.length]);
    const shown = near(list, 1);
    assert.deepEqual(shown.filter((l) => l?.kind !== "same" && l !== null), list.filter((l) => l.kind !== "same"));
  }
  const long = Array.from({ length: 3000 }, (_, i) => String(i)).join("\n");
  assert.equal(lines(long, long.replaceAll("1", "one")).filter((l) => l.kind === "old").map((l) => l.text).length > 400, true);
});
