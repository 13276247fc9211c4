// Reads DIR/run.mcap with @mcap/core, which shares no code with the writer, and compares it with DIR/status.csv and
// DIR/signals.csv: every status change and every value. Prints, for each topic, the number of messages and the first and
// the last one. Exit status 1 and one line for each kind of difference if the files disagree.
//
//   node check.mjs DIR

import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { McapIndexedReader } from "@mcap/core";

const dir = process.argv[2];
if (dir === undefined || process.argv.length > 3) {
  console.error("usage: node check.mjs DIR");
  process.exit(2);
}

const differences = new Map();
function differs(kind, text) {
  if (!differences.has(kind)) differences.set(kind, text);
}

// csv splits a file into lines of fields (RFC 4180).
function csv(text) {
  const lines = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n)/g)) {
    lines.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== ",") lines.push([]);
  }
  lines.pop();
  return lines;
}

// sameNumber compares a field with a value of a message, in which null stands for NaN and the infinities.
function sameNumber(field, value) {
  return value === null ? /^(NaN|[+-]Inf)$/.test(field) : field !== "" && Number(field) === value;
}

async function readMessages(path) {
  const file = await open(path);
  const readable = {
    size: async () => BigInt((await file.stat()).size),
    read: async (offset, size) => {
      const bytes = new Uint8Array(Number(size));
      await file.read(bytes, 0, bytes.length, Number(offset));
      return bytes;
    },
  };
  const reader = await McapIndexedReader.Initialize({ readable });
  const messages = new Map();
  for (const { topic } of reader.channelsById.values()) messages.set(topic, []);
  for (const { schemaId, topic } of reader.channelsById.values()) {
    if (reader.schemasById.get(schemaId)?.encoding !== "jsonschema") differs("schema", `${topic} has no jsonschema`);
  }
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for await (const message of reader.readMessages()) {
    const { topic } = reader.channelsById.get(message.channelId);
    const value = JSON.parse(decoder.decode(message.data));
    if (topic === "/signals" || topic === "/status") {
      if (message.logTime !== BigInt(Math.round(value.t * 1e9))) {
        differs(topic + " time", `${topic}: a message of t = ${value.t} s is logged at ${message.logTime} ns`);
      }
    }
    messages.get(topic).push(value);
  }
  const counted = [...messages.values()].reduce((sum, list) => sum + list.length, 0);
  if (reader.statistics?.messageCount !== BigInt(counted)) {
    differs("statistics", `statistics promise ${reader.statistics?.messageCount} messages, there are ${counted}`);
  }
  for await (const { name, data } of reader.readAttachments()) console.log(`attachment ${name}: ${data.byteLength} bytes`);
  await file.close();
  return messages;
}

const messages = await readMessages(join(dir, "run.mcap"));
for (const [topic, list] of [...messages].sort(([a], [b]) => (a < b ? -1 : 1))) {
  console.log(`${topic}: ${list.length} messages`);
  if (topic === "/run") continue;
  if (list.length > 0) console.log(`  first ${JSON.stringify(list[0])}`);
  if (list.length > 1) console.log(`  last  ${JSON.stringify(list.at(-1))}`);
}

const [run] = messages.get("/run") ?? [];
if (run === undefined) differs("/run", "there is no message on /run");

const statusCSV = csv(await readFile(join(dir, "status.csv"), "utf8"));
const status = messages.get("/status") ?? [];
if (statusCSV[0].join() !== "t,micro,task,from,to") differs("status header", `status.csv begins with ${statusCSV[0]}`);
if (statusCSV.length - 1 !== status.length) {
  differs("status count", `status.csv has ${statusCSV.length - 1} changes, /status ${status.length}`);
}
status.forEach((m, i) => {
  const line = [m.t.toFixed(9), String(m.micro), m.task, m.from, m.to].join();
  if (statusCSV[i + 1]?.join() !== line) differs("status line", `status.csv line ${i + 2}: /status has ${line}`);
});

const signalsCSV = csv(await readFile(join(dir, "signals.csv"), "utf8"));
const samples = messages.get("/signals") ?? [];
const names = ["t", ...(run?.signals ?? []).map((s) => s.name)];
const titles = ["t", ...(run?.signals ?? []).map((s) => `${s.name} [${s.unit || "1"}]`)];
if (signalsCSV[0].join() !== titles.join()) differs("signals header", "signals.csv does not have the columns of /run");
if (signalsCSV.length - 1 !== samples.length) {
  differs("signals count", `signals.csv has ${signalsCSV.length - 1} samples, /signals ${samples.length}`);
}
samples.forEach((m, i) => {
  const line = signalsCSV[i + 1] ?? [];
  const wrong = names.findIndex((name, k) => !sameNumber(line[k] ?? "", m[name]));
  if (wrong >= 0 || line.length !== names.length) {
    differs("signals line", `signals.csv line ${i + 2}: ${names[wrong]} is ${line[wrong]}, /signals has ${m[names[wrong]]}`);
  }
});

for (const text of differences.values()) console.error(`mcapcheck: ${text}`);
if (differences.size > 0) process.exit(1);
console.log(`run.mcap agrees with ${status.length} lines of status.csv and ${samples.length} of signals.csv`);
