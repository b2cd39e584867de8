import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";
import {
  brokerAddress,
  MantelError,
  type MqttPublish,
  mqttPublish,
  provide,
  type ServiceHandler,
} from "@mantel/plugin-sdk";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import plugin from "../../../plugins/mqtt/index.ts";
import { withoutMosquitto } from "../../helpers/mosquitto.ts";

/** The options of a test that needs a real mosquitto. */
export const real = { skip: withoutMosquitto };

const MESSAGE: MqttPublish = { topic: "home/desk", payload: "on", qos: 1, retain: false };

const noBroker: ServiceHandler<typeof brokerAddress> = async () => {
  throw new MantelError("service_unavailable", "nothing provides broker.address");
};

/** The plugin, started; it is stopped when the test ends. */
export async function startMqtt(t: TestContext, config: object, address = noBroker) {
  const client = await startPlugin(plugin, { config, services: [provide(brokerAddress, address)] });
  let stopped: Promise<unknown> | undefined;
  const stop = () => (stopped ??= client.stop());
  t.after(stop);
  return {
    publish: (message: Partial<MqttPublish> = {}) =>
      client.call(mqttPublish, { ...MESSAGE, ...message }),
    degraded: () => client.degraded,
    logs: client.logs,
    stop,
  };
}

/**
 * Lets no timer pass for what the test starts behind this: what waits for one does not end, and no machine is too slow
 * for a deadline.
 */
export function stopTimers(t: TestContext): void {
  t.mock.timers.enable({ apis: ["setTimeout"] });
}

/** A server that is not a broker, on a free port; it and its connections end with the test. */
export async function listen(t: TestContext, accept: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    accept(socket);
  }).listen(0, "127.0.0.1");
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await once(server, "listening");
  return `mqtt://127.0.0.1:${(server.address() as { port: number }).port}`;
}
