import assert from "node:assert/strict";
import { test } from "node:test";
import { readEvents, type StreamEvent } from "../../../plugin-sdk/client/event-stream.ts";

test("events are read with their id, topic and data", async () => {
  const events = await read("id: 7\nevent: device.state\ndata: {}\n\nid: 8\ndata: plain\n\n");

  assert.deepEqual(events, [
    { topic: "device.state", id: "7", data: "{}" },
    { topic: "message", id: "8", data: "plain" },
  ]);
});

test("an event may come in pieces, in the middle of a character too", async () => {
  const bytes = new TextEncoder().encode("event: x\ndata: 21°\n\n");

  const events = await read(...[...bytes].map((byte) => Uint8Array.of(byte)));

  assert.deepEqual(events, [{ topic: "x", id: undefined, data: "21°" }]);
});

test("lines may end as on Windows, and data may have several", async () => {
  const events = await read("event: x\r\ndata: a\r\ndata: b\r\n\r\n");

  assert.deepEqual(events, [{ topic: "x", id: undefined, data: "a\nb" }]);
});

test("a comment is reported as activity and not as an event", async () => {
  let heard = 0;

  const events = await readWith(() => heard++, ": ping\n\n", ": ping\n\n");

  assert.deepEqual(events, []);
  assert.equal(heard, 2);
});

test("a resync needs no data", async () => {
  assert.deepEqual(await read("event: resync\n\n"), [{ topic: "resync", id: undefined, data: "" }]);
});

test("an event that is cut off is not read", async () => {
  assert.deepEqual(await read("event: x\ndata: {"), []);
});

test("a field may lack its space, its colon or its value, and one of another name is skipped", async () => {
  const events = await read("event:x\nid\ndata\nretry: 5\ndata:  b: c\n:data: no\n\n");

  assert.deepEqual(events, [{ topic: "x", id: "", data: "\n b: c" }]);
});

test("only one space behind the colon is not part of the value", async () => {
  assert.deepEqual(await read("data:   a\n\n"), [{ topic: "message", id: undefined, data: "  a" }]);
});

test("an event without data is skipped", async () => {
  assert.deepEqual(await read("event: x\nid: 7\n\n"), []);
});

test("a reader that stops early ends the connection", async () => {
  let reason = "open";
  const body = new ReadableStream<Uint8Array>({
    start: (stream) => stream.enqueue(new TextEncoder().encode("data: 1\n\n")),
    cancel: () => void (reason = "cancelled"),
  });

  for await (const { data } of readEvents(body, () => undefined)) {
    assert.equal(data, "1");
    break;
  }

  assert.equal(reason, "cancelled");
});

test("a connection that breaks ends with its error", async () => {
  const fault = new Error("the connection broke");
  const body = new ReadableStream<Uint8Array>({ start: (stream) => stream.error(fault) });

  await assert.rejects(readEvents(body, () => undefined).next(), fault);
});

function read(...pieces: (string | Uint8Array)[]): Promise<StreamEvent[]> {
  return readWith(() => undefined, ...pieces);
}

async function readWith(
  onBytes: () => void,
  ...pieces: (string | Uint8Array)[]
): Promise<StreamEvent[]> {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) {
        controller.enqueue(typeof piece === "string" ? encoder.encode(piece) : piece);
      }
      controller.close();
    },
  });
  const events: StreamEvent[] = [];
  for await (const event of readEvents(body, onBytes)) events.push(event);
  return events;
}
