import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { withDeadline } from "../../../plugin-sdk/deadline.ts";
import { MqttClient } from "../../../plugin-sdk/mqtt/client.ts";
import type { MqttBroker } from "../../../plugin-sdk/services/mqtt.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { until } from "../../helpers/until.ts";

/** A broker that takes connections and says nothing. */
async function startDeafBroker(t: TestContext) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    socket.resume(); // or its end is not noticed
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestEnd(t, async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return { url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

function startClient(broker: () => Promise<MqttBroker>) {
  const ending = new AbortController();
  const client = new MqttClient({
    broker,
    log: collectedLog(),
    status: { ok: () => undefined, degraded: () => undefined },
  });
  const running = client.run(ending.signal);
  const end = async () => {
    ending.abort();
    await withDeadline(running, 1_000, "the end of the client");
  };
  return { running, ending, end };
}

const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

test("a client aborted while it waits for the broker leaves no timer and no socket", async (t) => {
  const { url, sockets } = await startDeafBroker(t);
  const before = timers();
  const { end } = startClient(async () => ({ url }));
  await until(() => sockets.size === 1);

  await end();

  await until(() => sockets.size === 0);
  assert.equal(timers(), before);
});

test("a client aborted during the broker look-up does not connect", async (t) => {
  const { url, sockets } = await startDeafBroker(t);
  const before = timers();
  let answer: (broker: MqttBroker) => void = () => undefined;
  const { running, ending } = startClient(() => new Promise((resolve) => (answer = resolve)));

  ending.abort();
  answer({ url });
  await withDeadline(running, 1_000, "the end of the client");

  assert.equal(sockets.size, 0);
  assert.equal(timers(), before);
});
