import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { untilByTurns } from "../../helpers/until.ts";
import { type Line, moduleThat, openPlayed } from "./played-process.ts";

test("the calls of a process go to its module, with all their input", async (t) => {
  const { fork, calling } = await openPlayed(t);
  const asked: unknown[][] = [];
  const { owner, methods } = moduleThat((...call) => (asked.push(call), `${call[0]} is done`));
  fork().ownedBy(owner);

  for (const method of methods)
    assert.equal((await calling(method, { of: method }))?.["value"], `${method} is done`);

  assert.deepEqual(
    asked,
    methods.map((method) => [method, { of: method }]),
  );
});

const errorOf = (line: Line | undefined) => line?.["error"] as { code: string; message: string };

test("a warm process may call nothing, because it belongs to no module", async (t) => {
  const { fork, calling } = await openPlayed(t);
  fork();

  const { code, message } = errorOf(await calling("log"));

  assert.deepEqual([code, message], ["module_down", "the process belongs to no module"]);
});

test("a process has at most 200 calls at once, and an ended one makes room", async (t) => {
  const { fork, calling, lines } = await openPlayed(t);
  const settle: ((fails: boolean) => void)[] = [];
  const running = () =>
    new Promise<void>((resolve, reject) => {
      settle.push((fails) => (fails ? reject(new Error("wrong")) : resolve()));
    });
  fork().ownedBy(moduleThat(running).owner);
  for (let times = 0; times < 200; times++) await calling("publish");
  assert.deepEqual([settle.length, lines.filter(({ kind }) => kind === "failure")], [200, []]);

  const { code, message } = errorOf(await calling("publish"));
  assert.deepEqual([code, message], ["module_down", "200 calls are already running"]);
  settle[0]?.(true);
  settle[1]?.(false);
  await setImmediate();
  for (let times = 0; times < 3; times++) await calling("publish");

  assert.equal(settle.length, 202);
});

test("reports that nobody answers are never refused: the 201st is read when an earlier one has ended", async (t) => {
  const { fork, says, calling, lines } = await openPlayed(t);
  const taken: number[] = [];
  const settle: (() => void)[] = [];
  const report = ({ number }: { number: number }) => {
    taken.push(number);
    return new Promise<void>((resolve) => settle.push(resolve));
  };
  const answer = (method: string, input: never) => (method === "log" ? report(input) : "done");
  const forked = fork();
  forked.ownedBy(moduleThat(answer).owner);

  for (let number = 1; number <= 203; number++) {
    await says({ kind: "call", method: "log", input: { number } });
  }
  assert.deepEqual([taken.length, forked.hasUnread, forked.isFlooding], [200, true, false]);
  settle[7]?.();
  await untilByTurns(() => taken.length === 201);
  await setImmediate();
  assert.deepEqual(taken.slice(-2), [200, 201]);
  settle[0]?.();
  settle[1]?.();
  await untilByTurns(() => taken.length === 203);

  assert.equal(await calling("publish"), undefined, "what follows waits too");
  settle[2]?.();
  await untilByTurns(() => lines.some(({ value }) => value === "done"));
  assert.deepEqual(taken.slice(-2), [202, 203]);
});

test("a process whose network does not go through the host cannot ask it to connect", async (t) => {
  const { fork, calling } = await openPlayed(t);
  fork().ownedBy(moduleThat().owner);

  for (const method of ["lookUp", "openConnection", "closeConnection"]) {
    const { code, message } = errorOf(await calling(method));
    assert.equal(code, "invalid");
    assert.equal(message, "the network of this process does not go through the host");
  }
});

/** A process whose network goes through the host, and the folder of its network. */
async function openProxied(t: TestContext, hosts: readonly string[]) {
  const opened = await openPlayed(t, {
    isSandboxed: true,
    settings: { network: "proxied", hosts },
  });
  const generation = opened.fork();
  const folder = opened.launches[0]?.contents.readable.at(-1) ?? "";
  return { ...opened, generation, folder };
}

test("a process with declared hosts connects through the host, by sockets that its sandbox shows", async (t) => {
  const { generation, calling, folder, ends, closes } = await openProxied(t, ["a.example"]);
  assert.ok(existsSync(folder));

  const answer = await calling("lookUp", { host: "b.example", family: 0 });
  const refusal = { reached: "b.example", toDeclare: "b.example" };
  assert.deepEqual(answer?.["value"], { refusal });
  ends(0);
  closes();
  await generation.exited;

  assert.equal(existsSync(folder), false);
});

const outcomeOf = (line: Line | undefined) => Object.keys(Object(line?.["value"]))[0];
const IS_ALLOWED = { host: "192.0.2.7", family: 0 };

test("the hosts in the answer of a declared service may be connected to", async (t) => {
  const { generation, calling } = await openProxied(t, ["service:broker.address"]);
  generation.ownedBy(moduleThat(() => ({ url: "mqtt://192.0.2.7" })).owner);
  await calling("publish", { name: "broker.address" });
  assert.equal(outcomeOf(await calling("lookUp", IS_ALLOWED)), "refusal");

  await calling("callService", { name: "broker.address" });

  assert.equal(outcomeOf(await calling("lookUp", IS_ALLOWED)), "found");
});

test("the hosts in the options of a process may be connected to", async (t) => {
  const { generation, calling } = await openProxied(t, ["config:url"]);

  void generation.peer
    .call("start", { config: { url: "http://192.0.2.7" } } as never, 1_000)
    .catch(String);

  assert.equal(outcomeOf(await calling("lookUp", IS_ALLOWED)), "found");
});

test("a connection that the remote end broke is reported to the process", async (t) => {
  const { calling, lines } = await openProxied(t, ["127.0.0.1"]);
  const server = createServer((socket) => void setTimeout(() => socket.resetAndDestroy(), 1));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestEnd(t, async () => void server.close());
  const { port } = server.address() as AddressInfo;
  const request = { connection: 3, host: "127.0.0.1", port, family: 0 };
  void calling("openConnection", request);
  const path = await untilByTurns(
    () => lines.find(({ kind }) => kind === "answer")?.["value"] as { opened: { path: string } },
  );

  const near = connect(path.opened.path);
  near.on("error", () => undefined);
  onTestEnd(t, async () => void near.destroy());
  await once(near, "connect");
  const lost = await untilByTurns(() => lines.find(({ method }) => method === "connectionLost"));

  const { connection, failure } = lost["input"] as {
    connection: number;
    failure: { code: string };
  };
  assert.deepEqual([connection, failure.code], [3, "ECONNRESET"]);
});
