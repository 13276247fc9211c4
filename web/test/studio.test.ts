// Tests of the studio in a real browser: STUDIO is the address that it printed, MISSION the file of its mission, and PID
// its process, which the last test ends. CHROMIUM names the browser.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import puppeteer, { type Browser, type Page } from "puppeteer-core";

const address = process.env.STUDIO!;
const plan = join(dirname(process.env.MISSION!), "plan.xml");
const axe = readFileSync(createRequire(`${process.cwd()}/`).resolve("axe-core/axe.min.js"), "utf8");

let browser: Browser;
let page: Page;
let faults: string[];

before(async () => {
  browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM!, args: ["--no-sandbox", "--disable-gpu"] });
});
after(() => browser.close());

async function open(to = address, width = 1280, first = () => {}) {
  faults = [];
  page = await browser.newPage();
  page.on("pageerror", (e) => faults.push(String(e)));
  page.on("dialog", (d) => {
    faults.push("a dialog");
    void d.dismiss();
  });
  page.on("request", (r) => /^(data|blob):/.test(r.url()) || r.url().startsWith(new URL(address).origin) || faults.push(r.url()));
  await page.setViewport({ width, height: 900 });
  await page.evaluateOnNewDocument(first);
  await page.goto(to);
  await page.waitForSelector(".bar");
}

beforeEach(async () => {
  await page?.close();
  await open();
});

const says = (text: string) => page.waitForFunction((wanted) => document.body.textContent!.includes(wanted), { timeout: 10_000 }, text);
const fine = () => assert.deepEqual(faults, []);

/** press clicks the button whose text begins with a text. */
async function press(text: string) {
  const find = (wanted: string) => [...document.querySelectorAll("button")].find((b) => b.textContent!.startsWith(wanted) && !b.disabled);
  await page.waitForFunction(find, { timeout: 10_000 }, text);
  await (await page.evaluateHandle(find, text) as unknown as { click(): Promise<void> }).click();
}

const fill = async (label: string, text: string) => {
  await page.$eval(`[aria-label="${label}"]`, (e) => ((e as HTMLInputElement).value = ""));
  await page.type(`[aria-label="${label}"]`, text);
};

/** violations lists what axe finds, each with its elements. */
async function violations(): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => (await (globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } })
    .axe.run()).violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 160)).join(" | ")}`));
}

test("a mission without a run says so; it is flown, and its report is there", async () => {
  await says("No run yet");
  assert.deepEqual(await violations(), []);
  await press("Fly");
  await says("Complete; ended at 0:01:40");
  await says("studio-1 · complete, 0:01:40"); // in the list of runs
  assert.ok((await page.$$(".figure canvas")).length > 3);
  assert.doesNotMatch(page.url(), /token/);
  await page.reload();
  await says("Complete; ended at 0:01:40");
  fine();
});

test("a run goes on by steps, until a time, and until a task has a status", async () => {
  await press("Fly in steps");
  await says("0:00:00.000, paused: after an event");
  await press("Step");
  await says("0:00:00.523, paused"); // x is 0.5
  await fill("Time at which to pause", "30");
  await press("Go until");
  await says("0:00:30.000, paused: as wanted");
  await page.evaluate(() => [...document.querySelectorAll<HTMLElement>(".names button")].find((b) => b.textContent === "push")!.click());
  await page.select("[aria-label='Status of the breakpoint']", "Running");
  await press("Pause when push is");
  await says("pause when push is Running");
  await press("Go on");
  await says("paused: push became Running");
  assert.match(await page.$eval(".details", (e) => e.textContent!), /^push.*Running/);
  await press("Step push");
  await says("paused: push became Accept");
  await press("pause when push is Running");
  await fill("Condition of the breakpoint", "yy ge 0.3");
  await press("Pause then");
  await says('yy ge 0.3: unknown signal "yy"');
  await fill("Condition of the breakpoint", "y ge 0.3");
  await press("Pause then");
  await says("pause when y ge 0.3 is true");
  await press("Go on");
  await says("paused: y ge 0.3 became true after t = ");
  await press("Stop");
  await says("Interrupted; ended at");
  fine();
});

test("a run is branched at the cursor, a state is set, and both are laid over each other", async () => {
  await page.waitForSelector(".bar option:last-child");
  await page.select(".bar select", await page.$eval(".bar option:last-child", (e) => (e as HTMLOptionElement).value));
  await says("Complete; ended at 0:01:40");
  await fill("Time of the cursor", "20");
  await page.keyboard.press("Enter");
  await press("Branch at the cursor");
  await says("0:00:20.000, paused: as wanted");
  await page.select("[aria-label='Signal to set']", "u");
  await says("written by push");
  await page.select("[aria-label='Signal to set']", "y");
  await fill("New value of the signal", "3");
  await press("Set");
  await press("Go on");
  await says("The runs first differ at");
  await fill("Filter", "hand");
  await says("y is set from 0.408");
  fine();
});

test("a page that was cut off from a run in progress loses nothing of it", async () => {
  await says("Fly");
  await page.select("[aria-label='Speed of the run']", "10");
  await press("Fly");
  await says("Pause");
  await page.setOfflineMode(true);
  await says("canopy studio does not answer");
  await new Promise((done) => setTimeout(done, 1000));
  await page.setOfflineMode(false);
  await page.waitForFunction(() => !document.body.textContent!.includes("does not answer"));
  await press("Pause");
  await says("paused: as wanted");
  const lines = await page.evaluate(async () => {
    const id = document.querySelector<HTMLSelectElement>(".bar select")!.value;
    const { changes, events } = await (await fetch(`/api/run?id=${encodeURIComponent(id)}`)).json() as { changes: { t: [] }; events: [] };
    return changes.t.length + events.length;
  });
  assert.ok(lines > 10);
  await says(`${lines} of ${lines} lines`);
  await press("Stop");
  await says("Interrupted; ended at");
  faults = faults.filter((f) => !f.includes("ERR_INTERNET_DISCONNECTED"));
  fine();
});

test("mistakes in the files are shown where they are, and no longer when they are mended", async () => {
  const right = readFileSync(plan, "utf8");
  writeFileSync(plan, right.replace("x ge 0.5", "xx ge 0.5"));
  await says("plan.xml:1:");
  await press("Fly");
  await says('xx');
  writeFileSync(plan, right);
  await page.waitForFunction(() => document.querySelector(".problems") === null);
  fine();
});

test("a mission is proved beside its run; a finding leads to its task and time", async () => {
  await press("Prove");
  await says("Proofs: 1 refuted, 0 not proved, 5 proved");
  assert.match(await page.$eval(".findings tbody tr", (e) => e.textContent!), /^refutedchatterpush and rest take turns/);
  await press("go to 0:00:02.617");
  await says("Tree at 0:00:02.617");
  await page.click(".findings .link:last-of-type");
  assert.match(await page.$eval(".details", (e) => e.textContent!), /^(push|rest)/);
  fine();
});

test("what shows a finding is flown up to its fault, and its path is walked step by step", async () => {
  const shown = () => page.$eval(".bar select", (e) => (e as HTMLSelectElement).value);
  await page.waitForSelector(".bar option");
  const before = await shown();
  await press("Replay");
  await page.waitForFunction((old) => document.querySelector<HTMLSelectElement>(".bar select")!.value !== old, {}, before);
  await says("Tree at 0:00:02.617");
  await says("Complete; ended at 0:01:40");
  assert.match(await page.$eval(".details", (e) => e.textContent!), /^(push|rest)/);
  assert.match(await page.$eval(".replay", (e) => e.closest("section")!.textContent!), /^Tree at 0:00:02.617/);
  await page.keyboard.press("ArrowLeft");
  await says("Tree at 0:00:00.523");
  await press("Steps");
  await says("This is not a flight.");
  const current = () => page.$eval(".path [aria-current]", (e) => e.textContent!);
  const count = (await page.$$(".path li")).length;
  const seen = [await current()];
  for (let n = 1; n < count; n++) {
    if (n % 2 === 0) await press("Next step");
    else await page.keyboard.press("ArrowRight");
    await says(`step ${n + 1} of ${count}`);
    seen.push(await current());
  }
  assert.ok(seen.some((text) => /push: .* → Running/.test(text)), seen.join("\n"));
  assert.deepEqual(await page.$$eval("button", (list) => list.filter((b) => b.textContent === "Next step").map((b) => b.disabled)), [true]);
  assert.match(await page.$eval("main, #page", (e) => e.textContent!), /Tree at 0:00:00.523/, "the run has moved");
  await page.evaluate(axe);
  assert.deepEqual(await page.evaluate(async () => (await (globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string }[] }> } })
    .axe.run()).violations.map((v) => v.id)), []);
  if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, "path.png"), fullPage: true });
  await press("Close the path");
  assert.equal(await page.$(".path"), null);

  await page.close(); // a finding that is not proved, with a path
  await open(undefined, 1280, () => {
    const ask = window.fetch;
    window.fetch = async (path, options) => path !== "/api/findings" ? ask(path, options) : Response.json((await (await ask(path)).json() as { script?: string }[])
      .map((f) => f.script === undefined ? f : { ...f, verdict: "not_proved", advice: "declare a fact" }));
  });
  await press("Steps");
  await says("This is not a flight. The model of the proof allows these steps; no flight that the proof has tried takes them. What would exclude it: declare a fact.");
  fine();
});

test("runs of two plans are laid over each other: the trees of both at one time, and the lanes of all tasks", async () => {
  const right = readFileSync(plan, "utf8");
  await page.waitForSelector(".bar option");
  const old = await page.$eval(".bar option:last-child", (e) => (e as HTMLOptionElement).value);
  writeFileSync(plan, right.replace('name="rest"', 'name="relax"').replace("x ge 0.5", "x ge 0.25"));
  await press("Fly");
  await page.waitForFunction((before) => document.querySelector<HTMLSelectElement>(".bar select")!.value !== before, {}, old);
  await says("Complete; ended at 0:01:40");
  await page.select(".bar label:nth-of-type(2) select", old);
  await says("Tasks only here: relax. Tasks only there: rest.");
  await page.click(".against .link");
  await says("Tree at 0:00:00.252");
  assert.equal((await page.$$(".replay .tree")).length, 2);
  assert.match(await page.$eval(".replay", (e) => e.textContent!), /Tree of the other run/);
  const lanes = await page.$$eval(".names button", (list) => list.map((b) => b.textContent));
  assert.deepEqual(lanes.slice(-1), ["rest"]);
  const picture = (n: number) => page.$$eval(".replay .tree canvas", (list, at) => (list[at] as HTMLCanvasElement).toDataURL(), n);
  const before = [await picture(0), await picture(1)];
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => !document.body.textContent!.includes("Tree at 0:00:00.252"));
  assert.ok(await picture(0) !== before[0], "the tree does not move");
  if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, "plans.png"), fullPage: false });
  writeFileSync(plan, right);
  fine();
});

test("a plan is edited as text: its tree and its mistakes follow, and it is saved unless others have changed it", async () => {
  const right = readFileSync(plan, "utf8");
  const type = (from: string, to: string) => page.$eval("textarea", (e, a, b) => {
    (e as HTMLTextAreaElement).value = (e as HTMLTextAreaElement).value.replace(a, b);
    e.dispatchEvent(new Event("input", { bubbles: true }));
  }, from, to);
  await press("Edit");
  await page.waitForSelector(".editor canvas");
  assert.deepEqual(await violations(), []);
  await type('on="x ge 0.5"', 'on="xx ge 0.5"');
  await says('unknown signal "xx"');
  await page.click(".editor .problems .link");
  assert.match(await page.$eval("textarea", (e) => (e as HTMLTextAreaElement).value.slice((e as HTMLTextAreaElement).selectionStart)), /^xx ge/);
  await type('on="xx ge 0.5"', 'on="x ge 0.25"');
  await page.waitForFunction(() => document.querySelector(".editor .problems") === null);
  assert.equal(readFileSync(plan, "utf8"), right);
  await page.focus("textarea");
  await page.keyboard.down("Control");
  await page.keyboard.press("s");
  await page.keyboard.up("Control");
  await page.waitForFunction(() => [...document.querySelectorAll("button")].some((b) => b.textContent === "Save" && b.disabled));
  assert.equal(readFileSync(plan, "utf8"), right.replace("x ge 0.5", "x ge 0.25"));
  const tree = (await (await page.$(".editor .tree"))!.boundingBox())!;
  const line = () => page.$eval("textarea", (e) => (e as HTMLTextAreaElement).selectionStart);
  await page.$eval("textarea", (e) => (e as HTMLTextAreaElement).setSelectionRange(5, 5));
  for (let y = 10; y < tree.height && await line() === 5; y += 10) await page.mouse.click(tree.x + 40, tree.y + y);
  assert.equal(await line(), 0, "the plan has one line");
  await type("0.25", "0.75");
  await press("Edit");
  await press("Edit");
  await page.waitForFunction(() => document.querySelector("textarea")?.value.includes("x ge 0.75"), {});
  writeFileSync(plan, right);
  await press("Save");
  await says("has been changed by another program");
  assert.equal(readFileSync(plan, "utf8"), right);
  await says("Both have changed the same lines");
  await press("Keep mine");
  await press("Save");
  await page.waitForFunction(() => [...document.querySelectorAll("button")].some((b) => b.textContent === "Save" && b.disabled));
  assert.equal(readFileSync(plan, "utf8"), right.replace("x ge 0.5", "x ge 0.75"));
  const lines = `${right.replace("x ge 0.5", "x ge 0.75")}\n\n<!-- one -->\n`;
  writeFileSync(plan, lines);
  await page.waitForFunction(() => document.querySelector("textarea")!.value.includes("<!-- one"));
  await type("0.75", "0.6");
  writeFileSync(plan, lines.replace("-- one", "-- two"));
  await says("Another program has changed");
  assert.deepEqual(await violations(), []);
  await press("Merge");
  await press("Save");
  await page.waitForFunction(() => [...document.querySelectorAll("button")].some((b) => b.textContent === "Save" && b.disabled));
  assert.equal(readFileSync(plan, "utf8"), lines.replace("0.75", "0.6").replace("-- one", "-- two"));
  await type("0.6", "0.8");
  writeFileSync(plan, right);
  await says("Another program has changed");
  await press("Take theirs");
  await page.waitForFunction(() => document.querySelector("textarea")!.value.includes("x ge 0.5"));
  fine();
});

const read = () => page.$eval("textarea", (e) => (e as HTMLTextAreaElement).value);

/** chord presses a key while others are held. */
async function chord(...keys: string[]) {
  for (const key of keys.slice(0, -1)) await page.keyboard.down(key as "Alt");
  await page.keyboard.press(keys.at(-1) as "Alt");
  for (const key of keys.slice(0, -1)) await page.keyboard.up(key as "Alt");
}

/** becomes waits until the text matches. */
const becomes = (wanted: RegExp) => page.waitForFunction((source) => new RegExp(source, "s").test(document.querySelector("textarea")!.value), { timeout: 10_000 }, wanted.source);

test("the tree of a plan is changed with keys and buttons, each time by an edit of the text that is undone", async () => {
  const right = readFileSync(plan, "utf8");
  const tasks = (wanted: string) => page.waitForFunction((w) =>
    [...document.querySelector("textarea")!.value.matchAll(/name="(\w+)"/g)].map((m) => m[1]).join(" ") === w, {}, wanted);
  const is = (wanted: string) => page.waitForFunction((w) => document.querySelector(".editor [aria-live]")!.textContent === w, {}, wanted);
  await press("Edit");
  await page.waitForSelector(".arranged canvas");
  await page.focus(".arranged");
  for (const key of ["ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight"]) await page.keyboard.press(key as "ArrowDown");
  await is("Condition high");
  await chord("Alt", "ArrowDown");
  await tasks("up push high rest");
  await is("Condition high");
  await chord("Alt", "ArrowLeft");
  await becomes(/<\/ReactiveSequence><Condition name="high"/);
  await page.keyboard.press("Delete");
  await tasks("up push rest");
  await is("Action rest");
  for (const _ of [1, 2, 3]) await press("Undo");
  await tasks("up high push rest");
  assert.equal(await read(), right);
  await chord("Control", "y");
  await tasks("up push high rest");
  await chord("Control", "z");
  await tasks("up high push rest");

  await page.click("textarea");
  await page.$eval("textarea", (e) => (e as HTMLTextAreaElement).setSelectionRange((e as HTMLTextAreaElement).value.indexOf("push"), (e as HTMLTextAreaElement).value.indexOf("push")));
  await page.keyboard.press("Shift");
  await is("Action push");
  await page.type("[aria-label='wrap in']", "time is over");
  await says("fails once the time is over");
  await page.keyboard.press("Enter");
  await becomes(/<Timeout><Action name="push"/);
  await says("Timeout needs msec");
  await press("Unwrap");
  await becomes(/"high" on="x ge 0.5"\/><Action name="push"/);
  assert.equal(await read(), right);
  await press("Disable");
  await becomes(/push.*_skipIf="true"/);
  await press("Enable");
  await page.type("[aria-label='add a task']", "waits for a time, then succeeds");
  await page.keyboard.press("Enter");
  await becomes(/push" write="u := 1"\/><Sleep\/>/);
  await is("Sleep ");
  await press("Copy");
  await press("Paste");
  await becomes(/<Sleep\/><Sleep\/>/);
  await page.focus(".arranged");
  const clipboard = (kind: string) => page.$eval(".arranged", (e, k) => {
    const data = new DataTransfer();
    if (k === "paste") data.setData("text/plain", "<Inverter><AlwaysFailure/></Inverter>");
    e.dispatchEvent(new ClipboardEvent(k, { clipboardData: data, bubbles: true, cancelable: true }));
    return data.getData("text/plain");
  }, kind);
  assert.equal(await clipboard("cut"), "<Sleep/>");
  await becomes(/push" write="u := 1"\/><Sleep\/><\/ReactiveSequence>/);
  await clipboard("paste"); // from another program
  await becomes(/<Sleep\/><Inverter><AlwaysFailure\/><\/Inverter>/);
  await press("Delete");
  await press("Delete");
  await becomes(/push" write="u := 1"\/><\/ReactiveSequence>/);
  await page.type("[aria-label='Name of the new tree']", "Pushing");
  await press("Extract");
  await becomes(/<SubTree ID="Pushing"\/>.*<BehaviorTree ID="Pushing">/);
  await press("Discard");
  await tasks("up high push rest");
  assert.equal(await read(), right);
  fine();
});

/** put puts the caret behind the first occurrence of a text. */
const put = (behind: string) => page.$eval("textarea", (e, text) => {
  const area = e as HTMLTextAreaElement;
  const at = area.value.indexOf(text) + text.length;
  area.focus();
  area.setSelectionRange(at, at);
  area.dispatchEvent(new Event("click", { bubbles: true }));
}, behind);

test("a task has a form, its name is changed everywhere, and a misspelt name is mended by a button", async () => {
  const right = readFileSync(plan, "utf8");
  await press("Edit");
  await page.waitForSelector(".arranged canvas");
  await put('name="hi');
  await page.waitForSelector(".form input");
  assert.match(await page.$eval(".form", (e) => e.textContent!), /Is judged by its truth value.*becomes true when this condition holds/);
  const field = async (name: string, text: string) => {
    await page.$$eval(".field", (list, n) => list.find((e) => e.textContent!.startsWith(n))!.querySelector("input")!.select(), name);
    await page.keyboard.type(text);
    await page.keyboard.press("Enter");
  };
  await field("on", "x ge 0.25 and push");
  await becomes(/on="x ge 0.25 and push"/);
  await put('name="pu');
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>(".field input")?.value === "push");
  await page.$eval(".field input", (e) => (e as HTMLInputElement).select());
  await page.keyboard.type("shove");
  await press("Rename");
  await becomes(/and shove".*name="shove"/);
  await press("Undo");
  await press("Undo");
  await becomes(/x ge 0.5/);
  assert.equal(await read(), right);
  await page.$eval(".form summary", (e) => (e as HTMLElement).click());
  await field("timeout", "5 [s]");
  await becomes(/name="push" write="u := 1" timeout="5 \[s\]"/);
  await (await page.waitForSelector("[aria-label='Remove timeout']"))!.click();
  await becomes(/name="push" write="u := 1"\/>/);
  await put("<Action");
  await page.keyboard.press("Backspace");
  await says("did you mean");
  await press("Write Action");
  await becomes(/<Action name="push"/);
  assert.equal(await read(), right);
  fine();
});

test("words are proposed where they are written, and the difference to the last commit is shown", async () => {
  const right = readFileSync(plan, "utf8");
  await press("Edit");
  await page.waitForSelector(".arranged canvas");
  await put('on="');
  await chord("Control", " ");
  await page.waitForSelector("[role=listbox]");
  assert.match(await page.$eval("[role=listbox]", (e) => e.textContent!), /x x \[1\].*push a task/);
  assert.deepEqual(await violations(), []);
  await page.keyboard.press("Escape");
  assert.equal(await page.$("[role=listbox]"), null);
  await page.keyboard.type("pu");
  await chord("Control", " ");
  await page.waitForSelector("[role=listbox]");
  await page.keyboard.press("Enter");
  await becomes(/on="push/);
  assert.equal(await page.$eval("textarea", (e) => (e as HTMLTextAreaElement).value.slice(0, (e as HTMLTextAreaElement).selectionStart).slice(-8)), 'on="push');
  const summary = (await page.$$(".editor > details summary")).at(-1)!;
  await summary.click();
  await says("no last commit");
  await summary.click();
  const git = (...words: string[]) => execFileSync("git", ["-C", dirname(plan), "-c", "user.name=a", "-c", "user.email=a@b", ...words]);
  git("init", "-q");
  git("add", "plan.xml");
  git("commit", "-qm", "x");
  await summary.click();
  await page.waitForSelector(".difference");
  assert.match(await page.$eval(".difference", (e) => e.textContent!), /^− <root.*\+ <root.*on="push/s);
  await press("Discard");
  await says("There is none.");
  assert.equal(readFileSync(plan, "utf8"), right);
  fine();
});

test("a task is dragged into another one, and the line ends of a file stay", async () => {
  const right = readFileSync(plan, "utf8");
  const lines = right.replaceAll("><", ">\r\n<");
  writeFileSync(plan, lines);
  await press("Edit");
  await page.waitForSelector(".arranged canvas");
  await becomes(/\n<Action name="rest"/);
  await put('name="rest');
  const is = (wanted: string) => page.waitForFunction((w) => document.querySelector(".editor [aria-live]")!.textContent === w, {}, wanted);
  await is("Action rest");
  const tree = (await (await page.$(".arranged .tree"))!.boundingBox())!;
  /** find clicks along the rows of the drawing until a box is selected, and returns where it is. */
  const find = async (wanted: string) => {
    for (let y = 20; y < tree.height; y += 12) {
      for (let x = 30; x < tree.width; x += 30) {
        await page.mouse.click(tree.x + x, tree.y + y);
        if (await page.$eval(".editor [aria-live]", (e) => e.textContent) === wanted) return { x: tree.x + x, y: tree.y + y };
      }
    }
    throw new Error(`no ${wanted}`);
  };
  const rest = await find("Action rest");
  const up = await find("ReactiveSequence up");
  await page.mouse.move(rest.x, rest.y);
  await page.mouse.down();
  await page.mouse.move(up.x, up.y + 10, { steps: 4 });
  await page.mouse.up();
  await becomes(/name="push".*name="rest".*<\/ReactiveSequence>/);
  await is("Action rest");
  await press("Save");
  await page.waitForFunction(() => [...document.querySelectorAll("button")].some((b) => b.textContent === "Save" && b.disabled));
  const rested = '<Action name="rest" write="u := 0"/>\r\n';
  assert.equal(readFileSync(plan, "utf8"), lines.replace(rested, "").replace("</ReactiveSequence>", `${rested}</ReactiveSequence>`));
  writeFileSync(plan, right);
  fine();
});

test("what is refused is said, and can be closed", async () => {
  await fill("Settings", "horizn=3");
  await press("Fly");
  await says("horizn");
  await page.click("[aria-label='Close the message']");
  await page.waitForFunction(() => document.querySelector(".bar ~ div .verdict") === null);
  fine();
});

test("without a session, nothing is shown", async () => {
  const other = await browser.createBrowserContext();
  const stranger = await other.newPage();
  await stranger.goto(new URL(address).origin + "/#token=WRONG");
  await stranger.waitForFunction(() => document.body.textContent!.includes("open the address that canopy studio printed"));
  assert.equal(await stranger.$(".figure"), null);
  await other.close();
});

test("axe finds nothing, narrow pages scroll nothing sideways", async () => {
  for (const [scheme, width] of [["light", 1280], ["dark", 400]] as const) {
    await page.close();
    await open(undefined, width);
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await press("Fly in steps");
    await says("paused: after an event");
    assert.deepEqual(await violations(), []);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
    await press("Stop");
    await says("Interrupted; ended at");
  }
  fine();
});

test("a page says that the studio has ended", async () => {
  await says("ended at");
  process.kill(Number(process.env.PID), "SIGINT");
  await says("canopy studio does not answer");
  fine();
});
