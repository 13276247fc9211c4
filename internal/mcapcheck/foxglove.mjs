// A client of Foxglove's protocol, by libraries that share no code with the bridge.
//
//   node foxglove.mjs URL DIR   plays the run in DIR, compares all messages with DIR/run.mcap, and moves through time
//   node foxglove.mjs URL       watches a run in progress to its end; prints "joined", then the last status of each task
//
// Exit status 1 if something differs.

import assert from "node:assert";
import { open } from "node:fs/promises";
import { join } from "node:path";
import foxglove from "@foxglove/ws-protocol";
import { McapIndexedReader } from "@mcap/core";
import { WebSocket } from "ws";

const [url, dir] = process.argv.slice(2);
const protocol = dir === undefined ? foxglove.FoxgloveClient.SUPPORTED_SUBPROTOCOL : "foxglove.sdk.v1";
const socket = new WebSocket(url, [protocol]);
const client = new foxglove.FoxgloveClient({ ws: socket });
const topics = new Map(); // by subscription
let messages = {};
let last = {};
let joined = false;
let arrived = () => {};
const info = new Promise((resolve) => client.on("serverInfo", resolve));
const advertised = new Promise((resolve) => client.on("advertise", resolve));
const closed = new Promise((resolve) => client.on("close", resolve));
client.on("error", (error) => {
  if (!/opcode/.test(error.message)) throw error; // the library is older than the playback
});
client.on("status", (status) => assert.fail(status.message));
client.on("message", ({ subscriptionId, timestamp, data }) => {
  const topic = topics.get(subscriptionId);
  const value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data));
  if (topic === "/status") last[value.task] = value.to;
  if (topic === "/status" && value.micro === 0 && value.from === value.to) return; // a state, not a change
  (messages[topic] ??= []).push({ time: timestamp, value });
  if (topic === "/signals" && !joined && dir === undefined) {
    joined = true;
    console.log("joined");
  }
});
socket.on("message", (bytes, binary) => {
  const data = Buffer.from(bytes);
  if (binary && data[0] === 5)
    arrived({ status: data[1], time: data.readBigUInt64LE(2), speed: data.readFloatLE(10), sought: data[14],
      request: data.toString("utf8", 19, 19 + data.readUInt32LE(15)) });
});

// control sends a wish, and returns the first state of the playback that is accepted after it.
function control(pause, speed, to, request, accept) {
  const message = Buffer.alloc(19 + request.length);
  message[0] = 3;
  message[1] = pause;
  message.writeFloatLE(speed, 2);
  message[6] = to === undefined ? 0 : 1;
  message.writeBigUInt64LE(to ?? 0n, 7);
  message.writeUInt32LE(request.length, 15);
  message.write(request, 19);
  const state = new Promise((resolve) => (arrived = (state) => accept(state) && resolve(state)));
  socket.send(message);
  return state;
}

async function recorded() {
  const file = await open(join(dir, "run.mcap"));
  const reader = await McapIndexedReader.Initialize({
    readable: {
      size: async () => BigInt((await file.stat()).size),
      read: async (offset, size) => {
        const bytes = new Uint8Array(Number(size));
        await file.read(bytes, 0, bytes.length, Number(offset));
        return bytes;
      },
    },
  });
  const all = [];
  for await (const m of reader.readMessages()) {
    const value = JSON.parse(new TextDecoder().decode(m.data));
    all.push({ topic: reader.channelsById.get(m.channelId).topic, time: m.logTime, value });
  }
  await file.close();
  return all;
}

const { capabilities, dataStartTime, dataEndTime } = await info;
const channels = await advertised;
const subscribe = () => {
  for (const { id, topic } of channels) topics.set(client.subscribe(id), topic);
};
if (dir === undefined) {
  assert.deepEqual(capabilities, ["time"]);
  subscribe();
  await closed;
  assert.ok(messages["/log"].length > messages["/status"].length);
  console.log(JSON.stringify(last));
  process.exit(0);
}

assert.deepEqual(capabilities, ["time", "playbackControl"]);
const all = await recorded();
const ended = BigInt(dataEndTime.sec) * 1000000000n + BigInt(dataEndTime.nsec);
assert.equal(dataStartTime.sec, 0);
assert.equal(ended, all.at(-1).time);
await control(1, 1, undefined, "stay", (s) => s.request === "stay");
subscribe();
assert.equal((await control(0, 1e6, undefined, "all", (s) => s.status === 3)).time, ended);
for (const topic of ["/signals", "/status", "/events"])
  assert.deepEqual(messages[topic], all.filter((m) => m.topic === topic).map(({ time, value }) => ({ time, value })), topic);
assert.equal(messages["/log"].length, messages["/status"].length + messages["/events"].length);

for (const part of [2n, 3n, 5n, 1n, 7n]) {
  const to = ended / part;
  messages = {};
  last = {};
  const state = await control(1, 2, to, `to ${part}`, (s) => s.sought === 1);
  assert.deepEqual(state, { status: 1, time: to, speed: 2, sought: 1, request: `to ${part}` });
  const statuses = {};
  for (const task of all.find((m) => m.topic === "/run").value.tasks) statuses[task.name] = task.initial;
  for (const m of all) if (m.topic === "/status" && m.time < to) statuses[m.value.task] = m.value.to;
  assert.deepEqual(last, statuses, `the statuses at ${to}`);
  const sample = all.filter((m) => m.topic === "/signals" && m.time < to).at(-1);
  assert.deepEqual(messages, { "/signals": [{ time: to, value: sample.value }] });
}
console.log("ok");
process.exit(0);
