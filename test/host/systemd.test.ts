import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { openSystemd } from "../../host/systemd.ts";
import { collectedLog } from "../helpers/collected-log.ts";
import { openNotifySocket, withoutNotify } from "../helpers/notify-socket.ts";
import { until } from "../helpers/until.ts";

const WELL = JSON.stringify({ modules: { active: 3, failed: 1 } });

/** A server that says how a host is, until it is told to answer otherwise. */
async function serveHealth(t: TestContext) {
  const health = { status: 200, asked: 0 };
  const server = createServer((_, response) => {
    health.asked++;
    response.writeHead(health.status).end(WELL);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { health, url: `http://127.0.0.1:${port}/health` };
}

test(
  "watchdog signals are sent only while the host answers",
  {
    skip: withoutNotify,
  },
  async (t) => {
    const { path: NOTIFY_SOCKET, messages } = await openNotifySocket(t);
    const { health, url } = await serveHealth(t);
    const log = collectedLog();
    const environment = { NOTIFY_SOCKET, WATCHDOG_USEC: "400000", WATCHDOG_PID: `${process.pid}` };

    const manager = openSystemd(environment, log);
    await manager.ready(url);
    const alive = () => messages.filter(([first]) => first === "WATCHDOG=1").length;
    // Each message comes from a process of its own, so a later one may overtake.
    const ready = () => messages.find(([first]) => first === "READY=1");
    await until(() => alive() >= 3 && ready() !== undefined);
    health.status = 503;
    const asked = health.asked;
    await until(() => log.records.length >= 3);
    const [whenSick, askedWhenSick] = [alive(), health.asked - asked];
    health.status = 200;
    await until(() => alive() > whenSick);
    await manager.restarting();
    const whenRestarting = alive();
    await manager.ready(url);
    await until(() => alive() > whenRestarting);
    await manager.stopping();
    // A signal that was on its way may come behind it.
    const last = () => messages.findLast(([first]) => first !== "WATCHDOG=1")?.join() ?? "";
    await until(() => last().startsWith("STOPPING=1,STATUS="));

    assert.deepEqual(ready(), ["READY=1", "STATUS=3 modules work, 1 have failed"]);
    assert.ok(askedWhenSick >= 3, "it continues to ask");
    assert.deepEqual(environment, {}, "no child is to speak in the host's name");
  },
);

test(
  "a watchdog for another process gets no signal",
  {
    skip: withoutNotify,
  },
  async (t) => {
    const { path: NOTIFY_SOCKET, messages } = await openNotifySocket(t);
    const { health, url } = await serveHealth(t);
    const environment = { NOTIFY_SOCKET, WATCHDOG_USEC: "1000", WATCHDOG_PID: "1" };

    const manager = openSystemd(environment, collectedLog());
    await manager.ready(url);
    await manager.stopping();

    await until(() => messages.length === 2);
    assert.equal(health.asked, 1);
  },
);

test("without a service manager nothing is sent, and an unreachable one is reported once", async (t) => {
  const { health, url } = await serveHealth(t);
  const log = collectedLog();

  const alone = openSystemd({ WATCHDOG_USEC: "1000" }, log);
  await alone.ready(url);
  await alone.stopping();
  const deaf = openSystemd({ NOTIFY_SOCKET: "/nowhere/notify" }, log);
  await deaf.ready(url);
  await deaf.stopping();

  assert.deepEqual(
    log.records.map(({ sentence }) => sentence),
    ["could not notify the service manager"],
  );
  assert.ok(health.asked <= 2);
});
