// How long the report takes in a browser: LARGE is the page of a tree of 5,000 tasks, MONTH one of a run of 28 days.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { estimate, layout } from "../src/model/layout.ts";
import { type Data, read } from "../src/model/run.ts";

let browser: Browser;
before(async () => {
  browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM!, args: ["--no-sandbox", "--disable-gpu"] });
});
after(() => browser.close());

/** bound prints a time and fails if it is too long. */
function bound(what: string, ms: number, most: number) {
  console.log(`# ${what}: ${ms.toFixed(1)} ms, at most ${most}`);
  assert.ok(ms <= most, what);
}

const median = (list: number[]) => list.sort((a, b) => a - b)[list.length >> 1]!;

async function open(name: string): Promise<Page> {
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto(pathToFileURL(process.env[name]!).href);
  await page.waitForSelector(".figure canvas");
  return page;
}

/** frames is the time of each frame after something was done, [ms]. */
const frames = (page: Page, count: number, act: string) => page.evaluate((n, code) => new Promise<number[]>((done) => {
  const act = new Function("i", code);
  const list: number[] = [];
  const next = (i: number) => requestAnimationFrame(() => {
    const began = performance.now();
    act(i);
    setTimeout(() => requestAnimationFrame(() => {
      list.push(performance.now() - began);
      if (i < n) next(i + 1);
      else done(list);
    }));
  });
  next(1);
}), count, act);

for (const name of ["LARGE", "MONTH"]) {
  test(`${name}: the first paint`, async () => {
    const paints: number[] = [];
    for (let i = 0; i < 5; i++) {
      const page = await open(name);
      const painted = await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
      paints.push((await painted.jsonValue())!);
      await page.close();
    }
    bound(`${name}: first paint`, median(paints), 1000);
  });
}

test("the layout of 5,000 tasks", () => {
  const html = readFileSync(process.env.LARGE!, "utf8");
  const run = read(JSON.parse(/id="run">(.*?)<\/script>/s.exec(html)![1]!) as Data);
  const times = Array.from({ length: 20 }, () => {
    const began = performance.now();
    layout(run, new Set(), estimate);
    return performance.now() - began;
  });
  bound(`layout of ${run.data.tasks.length} tasks`, median(times), 50);
});

for (const name of ["LARGE", "MONTH"]) {
  test(`${name}: scrubbing`, async () => {
    const page = await open(name);
    const times = await frames(page, 40, `
      const scrub = document.querySelector(".scrub");
      scrub.value = Number(scrub.min) + (scrub.max - scrub.min) * (i * 17 % 40) / 40;
      scrub.dispatchEvent(new Event("input", { bubbles: true }));`);
    bound(`${name}: a step of the scrubber, with its frame`, median(times), 100); // what is seen as immediate (Miller, 1968)
  });
}
