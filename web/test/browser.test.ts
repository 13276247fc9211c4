// Tests of the report in a real browser: REPORT is the page of the solar day, LARGE one of 5,000 tasks, HOSTILE one with
// markup in all names, TRACK one of a copter with a fence, OVERLAY two runs of
// the day, VIOLATED a day that violates a property, FLIGHT one of a fake
// autopilot over a rough link. CHROMIUM names the browser.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import puppeteer, { type Browser, type ElementHandle, type Page } from "puppeteer-core";

const file = (name: string) => pathToFileURL(process.env[name]!).href;
const axe = readFileSync(createRequire(`${process.cwd()}/`).resolve("axe-core/axe.min.js"), "utf8");

let browser: Browser;
let page: Page;
let faults: string[];
let requests: string[];

before(async () => {
  browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM!, args: ["--no-sandbox", "--disable-gpu"] });
});
after(() => browser.close());

beforeEach(async () => {
  await page?.close();
  page = await browser.newPage();
  faults = [];
  requests = [];
  page.on("pageerror", (e) => faults.push(String(e)));
  page.on("console", (m) => m.type() === "error" && faults.push(m.text()));
  page.on("dialog", (d) => {
    faults.push("a dialog");
    void d.dismiss();
  });
  page.on("request", (r) => r.url().startsWith("file:") || r.url().startsWith("blob:") || r.url().startsWith("data:") || requests.push(r.url()));
});

async function open(name = "REPORT", fragment = "", width = 1280, height = 900) {
  await page.setViewport({ width, height });
  await page.goto(file(name) + fragment);
  await page.waitForSelector(".figure canvas");
}

const text = (selector: string) => page.$eval(selector, (e) => e.textContent!);
const time = () => page.$eval(".transport .time", (e) => (e as HTMLInputElement).value);
const fine = () => assert.deepEqual([faults, requests], [[], []]);

/** row returns the drawing beside a label that begins with a text. */
async function row(label: string): Promise<ElementHandle> {
  const found = await page.evaluateHandle((wanted) => [...document.querySelectorAll(".row")].find((r) =>
    r.querySelector(".label")!.textContent!.startsWith(wanted))!.querySelector(".plotted")!, label);
  await (found as ElementHandle).scrollIntoView();
  return found as ElementHandle;
}

/** at returns the point of a drawing at a part of the time axis. */
async function at(element: ElementHandle, part: number, y = 0.5) {
  const box = (await element.boundingBox())!;
  return [box.x + 54 + part * (box.width - 78), box.y + y * box.height] as const;
}

test("a click moves the cursor: the tree, the numbers and the details follow", async () => {
  await open();
  assert.equal(await time(), "24:00:00");
  assert.match(await text(".details"), /Active at 24:00:00.000.*hold/);
  await page.mouse.click(...await at(await row("Altitude"), 0.5));
  assert.match(await time(), /^1[12]:\d\d:\d\d$/);
  assert.match(await text("h2"), /^Tree at 1[12]:/);
  assert.match(await text(".details"), /climb/);
  const h = Number((await text(".key output")).replaceAll("\u2009", ""));
  assert.ok(h > 6000 && h < 13000, `${h}`);
  fine();
});

test("a click on a lane selects its task, everywhere", async () => {
  await open();
  const lanes = await row("solar_day");
  await page.mouse.click(...await at(lanes, 0.25, 11.5 / 15)); // sink, before it was ever active
  assert.match(await text(".details"), /^sink.*Accept.*Not active: the status of descend is Success/);
  assert.equal(await page.$eval(".names [aria-pressed=true]", (e) => e.textContent), "sink");
  await page.click(".details .link");
  assert.match(await text(".details"), /^descend/);
  await page.waitForFunction(() => location.hash.includes("task=descend"));
  fine();
});

test("a click on a task tells what its status follows from", async () => {
  await open("REPORT", "#t=52000&task=climb");
  assert.match(await text(".details"), /^climb.*Not active: the status of harvest is Failure/);
  assert.match(await text(".because"), /^13:57:06\.\d+ harvest Deactivating → Failure.*because Inverter Success → Failurebecause at_top Failure → Successbecause h >= 12980 \[m\] \(h = 12980 m\)$/);
  await page.evaluate(() => [...document.querySelectorAll<HTMLElement>(".because .link")].find((b) => b.textContent === "at_top")!.click());
  assert.match(await text(".details"), /^at_top.*Success.*because h >= 12980/);
  fine();
});

test("a click into the tree selects, a double click folds", async () => {
  await open();
  const tree = (await page.$(".tree"))!;
  const box = (await tree.boundingBox())!;
  const ink = () => page.$eval(".tree canvas", (c) => (c as HTMLCanvasElement).toDataURL().length);
  const first = await ink();
  for (let y = 10; y < box.height && !(await text(".details")).startsWith("solar_day"); y += 20) await page.mouse.click(box.x + 60, box.y + y);
  assert.match(await text(".details"), /^solar_day.*Running/);
  const selected = await ink();
  assert.notEqual(selected, first);
  for (let y = 10; y < box.height && await ink() >= selected; y += 20) await page.mouse.click(box.x + 60, box.y + y, { count: 2 });
  assert.ok(await ink() < selected, "the children are hidden");
  fine();
});

test("keys step to the next and previous event, of the selected task too", async () => {
  await open("REPORT", "#t=0");
  await page.keyboard.press("ArrowRight");
  const first = await time();
  assert.notEqual(first, "0:00:00");
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await time(), first);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await time(), first);
  await page.keyboard.press("Home");
  const names = await page.$$(".names button");
  for (const name of names) if (await name.evaluate((e) => e.textContent) === "sink") await name.click();
  await page.keyboard.press("ArrowRight");
  assert.match(await text(".details"), /^sink.*(Activating|Running)/);
  await page.keyboard.press("End");
  assert.equal(await time(), "24:00:00");
  fine();
});

test("play moves the cursor at the chosen speed, and pauses", async () => {
  await open("REPORT", "#t=3600");
  await page.select(".transport select", "600");
  await page.keyboard.press("Space");
  await page.waitForFunction(() => !(document.querySelector(".time") as HTMLInputElement).value.startsWith("1:00:0"));
  await page.keyboard.press("Space");
  const stopped = await time();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  assert.equal(await time(), stopped);
  fine();
});

test("dragging zooms, Escape shows all, the wheel zooms with Ctrl", async () => {
  await open();
  const plot = await row("Altitude");
  const label = () => page.$eval(".plotted canvas", (c) => (c as HTMLCanvasElement).toDataURL());
  const whole = await label();
  await page.mouse.move(...await at(plot, 0.4));
  await page.mouse.down();
  await page.mouse.move(...await at(plot, 0.6));
  await page.mouse.up();
  await page.waitForFunction(() => location.hash.includes("view="));
  assert.notEqual(await label(), whole);
  await page.keyboard.press("Escape");
  assert.equal(await label(), whole);
  await page.mouse.move(...await at(plot, 0.5));
  await page.keyboard.down("Control");
  await page.mouse.wheel({ deltaY: -300 });
  await page.keyboard.up("Control");
  await page.waitForFunction(() => location.hash.includes("view="));
  fine();
});

test("a second cursor gives differences", async () => {
  await open("REPORT", "#t=36000");
  await page.keyboard.press("m");
  await page.keyboard.press("End");
  assert.match(await text(".transport"), /Δ 14:00:00/);
  assert.match(await text(".key output"), /^6000 Δ −?[\d.]/);
  await page.keyboard.press("m");
  assert.doesNotMatch(await text(".transport"), /Δ/);
  fine();
});

test("curves are hidden and shown, other signals are found and added", async () => {
  await open();
  const key = (await page.$(".key button"))!;
  await key.evaluate((e) => e.scrollIntoView({ block: "center" }));
  await key.click();
  assert.equal(await key.evaluate((e) => e.getAttribute("aria-pressed")), "false");
  await page.type(".picker input", "battery temperature");
  const offered = await page.$$eval(".menu li", (l) => l.map((e) => e.textContent!));
  await page.$eval(".picker input", (e) => ((e as HTMLInputElement).value = ""));
  await page.type(".picker input", "sun");
  assert.match(await text(".menu"), /sun_elevation/, `${offered}`);
  await page.keyboard.press("Enter");
  assert.match(await page.$$eval(".label h3", (l) => l.map((e) => e.textContent).join()), /Picked/);
  fine();
});

test("an address shows the same picture", async () => {
  await open("REPORT", "#t=69700&view=68000,72000&task=sink");
  assert.match(await time(), /^19:21:40/);
  assert.match(await text(".details"), /^sink/);
  const picture = () => page.$eval(".tree canvas", (c) => (c as HTMLCanvasElement).toDataURL());
  const before = await picture();
  await page.waitForFunction(() => location.hash.includes("t=69700"));
  await page.reload();
  await page.waitForSelector(".figure canvas");
  assert.equal(await picture(), before);
  fine();
});

test("the log is filtered, sorted, and goes to its times", async () => {
  await open();
  await page.type("input[aria-label=Filter]", "sink running");
  const lines = await page.$$eval(".log tbody tr", (l) => l.map((e) => e.textContent!));
  assert.ok(lines.length > 0 && lines.every((l) => /sink/.test(l) && /Running/.test(l)));
  await page.$eval(".log tbody tr", (e) => e.scrollIntoView({ block: "center" }));
  await page.click(".log tbody tr");
  assert.ok(lines[0]!.startsWith(await time() + "."));
  assert.match(await text(".details"), /^sink/);
  fine();
});

test("nothing scrolls sideways, at any width, light and dark", async () => {
  const pictures = new Set<string>();
  for (const scheme of ["light", "dark"]) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    for (const width of [400, 1280, 2560]) {
      for (const name of ["REPORT", "LARGE", "HOSTILE", "VIOLATED", "FLIGHT"]) {
        await open(name, "", width);
        const [inner, outer] = await page.evaluate(() => [document.scrollingElement!.scrollWidth, document.scrollingElement!.clientWidth] as const);
        assert.ok(inner <= outer, `${name}, ${width} px: ${inner} > ${outer}`);
        if (name === "REPORT" && width === 1280) {
          pictures.add(await page.$eval(".tree canvas", (c) => {
            const d = (c as HTMLCanvasElement).getContext("2d")!.getImageData(0, 0, c.clientWidth, c.clientHeight).data;
            let sum = 0;
            for (let i = 0; i < d.length; i += 4) sum += d[i]! * d[i + 3]!;
            return String(sum);
          }));
        }
      }
    }
  }
  assert.equal(pictures.size, 2, "the tree is drawn in the colours of the scheme");
  fine();
});

test("a click on the track moves the cursor there, and the fence is drawn", async () => {
  await open("TRACK", "#t=0");
  assert.match(await page.$eval(".track canvas", (c) => c.ariaLabel!), /east .* north .* m$/);
  const box = (await (await page.$(".track"))!.boundingBox())!;
  for (let y = 0; y < box.height && await time() === "0:00:00"; y += 12) await page.mouse.click(box.x + box.width / 2, box.y + y);
  assert.notEqual(await time(), "0:00:00");
  const red = await page.$eval(".track canvas", (c) => {
    const d = (c as HTMLCanvasElement).getContext("2d")!.getImageData(0, 0, (c as HTMLCanvasElement).width, (c as HTMLCanvasElement).height).data;
    let n = 0;
    for (let i = 0; i < d.length; i += 4) if (d[i]! > 150 && d[i + 1]! < 80 && d[i + 3]! > 200) n++;
    return n;
  });
  assert.ok(red > 20, `${red} pixels of the forbidden area`);
  fine();
});

test("a second run is laid over, and the first difference is found", async () => {
  await open("OVERLAY", "#t=0");
  assert.match(await text(".against"), /The runs first differ at 11:\d\d:\d\d\.\d\d\d: \w+ is \w+ here, \w+ there/);
  await page.click(".against .link");
  assert.ok((await text(".against")).includes(`${await time()}.`));
  const picture = async (label: string) => (await row(label)).$eval("canvas", (c) => (c as HTMLCanvasElement).toDataURL());
  const both = [await picture("State of charge"), await picture("never both")];
  await open("REPORT");
  assert.ok(await picture("State of charge") !== both[0], "the second curve is drawn");
  assert.ok(await picture("never both") !== both[1], "the second robustness is drawn");
  fine();
});

test("properties have verdicts and robustness; a click goes to the violation", async () => {
  await open("VIOLATED", "#t=0");
  const lanes = await page.$$eval(".property", (l) => l.map((e) => e.textContent!.replaceAll("\u2009", "")));
  assert.deepEqual(lanes.map((l) => l.replace(/\d+:\d\d:\d\d/, "T")), ["always (soc >= 0.3)✕ violated T+0.61", "never both(climb, sink)✓ satisfied T+∞",
    "critical before sink✓ satisfied T+∞", "eventually (h >= 12900 [m])✓ satisfied T−6900"]);
  assert.match(await text("header"), /Property violated; ended at 24:00:00.*property always \(soc >= 0\.3\) is violated at 7:\d\d:\d\d/);
  await page.$eval(".property .link", (e) => (e as HTMLElement).click());
  assert.match(await time(), /^7:/);
  assert.match(await text(".property output"), /^−.*e−1\d$/);
  await page.mouse.click(...await at(await row("always"), 0.35));
  assert.match(await text(".property output"), /^−0\.\d/);
  await page.mouse.click(...await at(await row("eventually"), 0.6));
  assert.match(await time(), /^14:2/);
  assert.equal(await page.$$eval(".property output", (l) => l.at(-1)!.textContent), "+100");
  assert.match(await page.$$eval(".texts tr.bad", (l) => l.map((e) => e.textContent).join()), /^violatedproperty.*7:\d\d:\d\dat 7:/);
  fine();
});

test("a flight shows modes, the link, who commands, lost sources and answered commands, and nothing of integrators", async () => {
  await open("FLIGHT", "#t=70");
  assert.doesNotMatch(await text("header"), /Steps|Evaluations|tolerance/i);
  assert.match(await text("header"), /in the air: it is in the mode loiter/);
  const now = async () => new Map(await page.$$eval(".row", (l) => l.map((e) => [e.querySelector(".key span")?.textContent, e.querySelector("output")?.textContent] as const)));
  let rows = await now();
  assert.equal(rows.get("commanded by"), "link lost");
  assert.equal(rows.get("source position"), "unknown");
  assert.equal(await page.$$eval(".key", (l) => l.filter((e) => /^frames (received0|missing0)$/.test(e.textContent!)).length), 2);
  assert.equal(await page.$$eval(".row", (l) => l.filter((e) => e.textContent === "FlightSVGPNG").length), 1);
  for (const [t, who, mode] of [[50, "Canopy", "guided"], [110, "pilot", "loiter"], [150, "Canopy", "guided"]] as const) {
    await page.evaluate((at) => (location.hash = `#t=${at}`), t);
    await page.waitForFunction((at) => (document.querySelector(".time") as HTMLInputElement).value.startsWith(at), {}, `0:0${Math.floor(t / 60)}:${t % 60}`);
    rows = await now();
    assert.deepEqual([rows.get("commanded by"), rows.get("mode"), rows.get("source position")], [who, mode, ""]);
  }
  const arm = await row("command arm");
  await page.mouse.move(...await at(arm, 0.062));
  assert.match(await text(".tip"), /command arm.*command 400 .*proved after 0\.9 s/s);
  await page.evaluate(axe);
  assert.deepEqual(await violations(), []);
  fine();
});

test("names and texts stay texts", async () => {
  await open("HOSTILE");
  assert.match(await text("h1"), /<script>/);
  assert.equal(await page.$$eval("img, iframe, main script", (l) => l.length), 0);
  for (const name of await page.$$(".names button")) await name.click();
  fine();
});

test("paper has vectors, and all that is folded", async () => {
  await open();
  await page.emulateMediaType("print");
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.equal(await page.$$eval("canvas", (l) => l.length), 0);
  assert.ok(await page.$$eval(".drawing svg", (l) => l.length) > 5);
  assert.equal(await page.$$eval("details:not([open])", (l) => l.length), 0);
  const widths = await page.$$eval(".drawing svg", (l) => l.map((e) => e.getBoundingClientRect().width));
  assert.ok(Math.max(...widths) <= 703, `${Math.max(...widths)}`);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.ok(await page.$$eval("canvas", (l) => l.length) > 5);
  fine();
});

/** violations lists what axe finds. */
const violations = () => page.evaluate(async () => {
  const result = await (globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } }).axe.run();
  return result.violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`);
});

test("axe finds nothing", async () => {
  for (const scheme of ["light", "dark"]) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await open("REPORT", "#t=69700&task=sink");
    await page.evaluate(axe);
    assert.deepEqual(await violations(), []);
  }
});

test("drawings are saved as SVG and PNG, signals as CSV", async () => {
  await open();
  await page.evaluate(() => {
    URL.createObjectURL = (blob) => {
      const w = window as unknown as { saved: string; type: string };
      void (blob as Blob).text().then((t) => [w.saved, w.type] = [t, (blob as Blob).type]);
      return "blob:x";
    };
    HTMLAnchorElement.prototype.click = () => {};
  });
  const saved = async (name: string, type: string) => {
    await page.evaluate((wanted) => [...document.querySelectorAll<HTMLButtonElement>(".tools button")].find((b) => b.textContent === wanted)!.click(), name);
    await page.waitForFunction((wanted) => (window as unknown as { type?: string }).type === wanted, {}, type);
    return page.evaluate(() => (window as unknown as { saved: string }).saved);
  };
  const svg = await saved("SVG", "image/svg+xml");
  assert.match(svg, /^<svg xmlns.*at_bottom.*<\/svg>$/s);
  assert.doesNotMatch(svg, /var\(/);
  const lane = async (title: string) => {
    await page.evaluate((wanted) => [...document.querySelectorAll("h3")].find((h) => h.textContent!.startsWith(wanted))!.querySelector("button")!.click(), title);
    await page.waitForFunction((before) => (window as unknown as { saved?: string }).saved !== before, {}, svg);
    return page.evaluate(() => (window as unknown as { saved: string }).saved);
  };
  assert.match(await lane("Status of the tasks"), /^<svg.*>at_bottom<.*<\/svg>$/s);
  assert.match(await lane("Robustness"), />satisfied: never both\(climb, sink\)</);
  assert.match(await saved("PNG", "image/png"), /PNG/);
  const lines = (await saved("CSV", "text/csv")).split("\n");
  assert.match(lines[0]!, /^t,h \[m\],/);
  assert.match(lines[1]!, /^0,6000,/);
  assert.equal(new Set(lines.slice(0, -1).map((l) => l.split(",").length)).size, 1);
  fine();
});

test("5,000 tasks are played, with the time of a frame", async () => {
  await open("LARGE", "#t=0");
  for (const button of await page.$$(".tools button")) if (await button.evaluate((e) => e.textContent) === "open all") await button.click();
  const frames = (n: number) => page.evaluate((count) => new Promise<number[]>((done) => {
    const list: number[] = [];
    let last = performance.now();
    const tick = () => {
      const now = performance.now();
      list.push(now - last);
      last = now;
      if (list.length < count) requestAnimationFrame(tick);
      else done(list.sort((a, b) => a - b));
    };
    requestAnimationFrame(tick);
  }), n);
  await page.keyboard.press("Space");
  const playing = await frames(40);
  await page.keyboard.press("Space");
  const middle = playing[20]!;
  console.log(`# median frame of 5,000 tasks while playing: ${middle.toFixed(1)} ms`);
  assert.notEqual(await time(), "0:00:00.00");
  fine();
});

/** thumbnail draws a part of the page smaller: letters are no longer read, but all that is drawn has its place. */
async function thumbnail(selector: string): Promise<string> {
  const element = (await page.$(selector))!;
  await element.scrollIntoView();
  const { x, y, width, height } = (await element.boundingBox())!;
  const shot = await page.screenshot({ clip: { x, y: y + await page.evaluate(() => scrollY), width, height: Math.min(height, 800) }, captureBeyondViewport: true, encoding: "base64" });
  return page.evaluate(async (source) => {
    const image = new Image();
    image.src = `data:image/png;base64,${source}`;
    await image.decode();
    const c = document.createElement("canvas");
    [c.width, c.height] = [Math.ceil(image.width / 4), Math.ceil(image.height / 4)];
    const context = c.getContext("2d")!;
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, c.width, c.height);
    return c.toDataURL("image/png").split(",")[1]!;
  }, shot);
}

/** difference is the share of the cells of two thumbnails, of 16 px each way on the page, that differ by more than a tenth of the range. */
const difference = (a: string, b: string) => page.evaluate(async (sources) => {
  const cells = await Promise.all(sources.map(async (source) => {
    const image = new Image();
    image.src = `data:image/png;base64,${source}`;
    await image.decode();
    const c = document.createElement("canvas");
    [c.width, c.height] = [Math.ceil(image.width / 4), Math.ceil(image.height / 4)];
    const context = c.getContext("2d")!;
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, c.width, c.height);
    return { size: [c.width, c.height], data: context.getImageData(0, 0, c.width, c.height).data };
  }));
  const [p, q] = cells as [typeof cells[0], typeof cells[0]];
  if (p!.size.some((n, i) => Math.abs(n - q!.size[i]!) > 2)) return 1;
  const [width, height] = [Math.min(p!.size[0]!, q!.size[0]!), Math.min(p!.size[1]!, q!.size[1]!)];
  let differ = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [i, j] = [4 * (y * p!.size[0]! + x), 4 * (y * q!.size[0]! + x)];
      if ([0, 1, 2].some((k) => Math.abs(p!.data[i + k]! - q!.data[j + k]!) > 25)) differ++;
    }
  }
  return differ / (width * height);
}, [a, b]);

// Another version of a font moves letters; these pictures need not be the same, but have the same things at the same
// places. `go test ./web -run TestBrowser -rewrite` writes them.
test("the main views look as in their golden pictures", async () => {
  const tolerance = 0.02;
  for (const scheme of ["light", "dark"]) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    for (const [view, name, selector] of [["tree", "REPORT", ".tree"], ["details", "REPORT", ".details"], ["figure", "REPORT", ".figure"], ["track", "TRACK", ".track"]] as const) {
      const golden = `testdata/${view}-${scheme}.png`;
      const show = async (t: number) => {
        await page.goto("about:blank");
        await open(name, `#t=${t}`);
        return thumbnail(selector);
      };
      const now = await show(300);
      if (process.env.REWRITE) writeFileSync(golden, Buffer.from(now, "base64"));
      const kept = readFileSync(golden).toString("base64");
      const is = await difference(now, kept);
      console.log(`# ${golden}: ${(100 * is).toFixed(2)} % differ`);
      assert.ok(is <= tolerance, `${golden}: ${(100 * is).toFixed(1)} % of the picture differ`);
      if (view === "tree") assert.ok(await difference(await show(69_700), kept) > tolerance, "another time looks the same");
    }
  }
  fine();
});
