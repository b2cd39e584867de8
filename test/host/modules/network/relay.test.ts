import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { relay } from "../../../../host/modules/process/network/relay.ts";
import type { ThroughputLimit } from "../../../../host/modules/process/network/throughput-limit.ts";

/** One end of a connection: it takes `room` bytes, and more once the test has let it write them. */
function openEnd(room: number) {
  const written: string[] = [];
  let done = (): void => undefined;
  const socket = new Duplex({
    highWaterMark: room,
    read: () => undefined,
    write: (chunk: Buffer, _, callback) => {
      written.push(chunk.toString());
      done = callback;
    },
  });
  let isEnded = false;
  socket.on("finish", () => (isEnded = true));
  /** Writes one chunk to the network. */
  const flush = async () => {
    done();
    await setImmediate();
  };
  const receive = async (text: string | null) => {
    socket.push(text);
    await setImmediate();
  };
  return { socket, written, flush, receive, isEnded: () => isEnded };
}

/** A relay between two ends, and an throughput that the test plays. */
function openRelay({ room = 1_000, grants = [] as boolean[] } = {}) {
  const [near, far] = [openEnd(room), openEnd(room)];
  const spent: number[] = [];
  const queue: (() => void)[] = [];
  const throughput = {
    spend: (bytes: number) => (spent.push(bytes), grants.shift() ?? true),
    waitForTurn: (resume: () => void) => void queue.push(resume),
  };
  relay(
    near.socket as unknown as Socket,
    far.socket as unknown as Socket,
    throughput as unknown as ThroughputLimit,
  );
  return { near, far, spent, queue };
}

test("data goes both ways, and counts", async () => {
  const { near, far, spent } = openRelay();

  await near.receive("question");
  await far.receive("answer");

  assert.deepEqual([far.written, near.written], [["question"], ["answer"]]);
  assert.deepEqual(spent, [8, 6]);
});

test("an end that has finished sending may still receive", async () => {
  const { near, far } = openRelay();

  await near.receive(null);
  await far.flush();
  assert.deepEqual([far.isEnded(), near.isEnded()], [true, false]);
  await far.receive("late");

  assert.deepEqual(near.written, ["late"]);
});

test("a sender waits until a slow receiver has taken what was sent", async () => {
  const { near, far, queue } = openRelay({ room: 4 });

  await near.receive("12345");
  assert.equal(near.socket.isPaused(), true);
  await near.receive("more");
  assert.deepEqual(far.written, ["12345"]);
  await far.flush();

  assert.deepEqual(far.written, ["12345", "more"]);
  assert.deepEqual(queue, []);
});

test("a sender beyond its throughput waits for its turn", async () => {
  const { near, far, queue } = openRelay({ grants: [false] });

  await near.receive("one");
  assert.equal(near.socket.isPaused(), true);
  assert.equal(queue.length, 1);
  await near.receive("two");
  await far.flush();
  assert.deepEqual(far.written, ["one"]);
  queue.shift()?.();
  await setImmediate();
  await far.flush();

  assert.deepEqual(far.written, ["one", "two"]);
  assert.equal(near.socket.isPaused(), false);
});

test("a sender that had its turn still waits for a slow receiver", async () => {
  const { near, far, queue } = openRelay({ room: 4, grants: [false] });
  await near.receive("12345");

  queue.shift()?.();
  assert.equal(near.socket.isPaused(), true);
  await far.flush();

  assert.equal(near.socket.isPaused(), false);
});

test("a receiver that is ready again does not let a sender pass that waits for its turn", async () => {
  const { near, far, queue } = openRelay({ room: 4, grants: [false, false] });
  await near.receive("12345");

  await far.flush();
  assert.equal(near.socket.isPaused(), true);
  queue.shift()?.();
  await near.receive("67890");

  assert.deepEqual(far.written, ["12345", "67890"]);
  assert.equal(queue.length, 1); // it waits again, once
});

test("a sender waits for one turn at a time, however much it had sent before", async () => {
  const { near, queue } = openRelay({ grants: [false, false] });

  near.socket.emit("data", Buffer.from("one"));
  near.socket.emit("data", Buffer.from("two")); // read from the network before the pause
  await setImmediate();

  assert.equal(queue.length, 1);
});
