import type { EventEmitter } from "node:events";
import { definePlugin, Type } from "@mantel/plugin-sdk";
import { Aedes } from "aedes";
import { Intake } from "./intake.ts";
import { Listener } from "./listener.ts";
import { RetainedMessages, RetainedState } from "./retained.ts";
import { Sessions, SessionState } from "./sessions.ts";

/** An MQTT 3.1.1 broker on loopback. It steps aside while `mqtt.url` names another broker. */
export default definePlugin({
  options: Type.Object({
    port: Type.Integer({ title: "Port", minimum: 1, maximum: 65_535, default: 1883 }),
  }),
  state: Type.Object({
    /** The port that was asked for; when that has changed, the port in use is not kept. */
    wantedPort: Type.Integer(),
    port: Type.Integer(),
    retained: RetainedState,
    sessions: SessionState,
  }),

  async start({ config, handedOver, log, onDispose }) {
    const broker = await Aedes.createBroker();
    onDispose(() => new Promise((resolve) => broker.close(resolve)));
    // Its types leave this event out, and without a listener a fault would end the process.
    (broker as EventEmitter).on("error", (error) => log.error("the broker failed", { error }));
    broker.on("clientError", ({ id }, error) => log.debug("a client failed", { id, error }));
    broker.on("connectionError", (_, error) => log.debug("a connection failed", { error }));

    const retained = new RetainedMessages(broker);
    await retained.restore(handedOver?.retained ?? []);
    const sessions = new Sessions(broker);
    await sessions.restore(handedOver?.sessions ?? []);
    const intake = new Intake(broker);

    const listener = new Listener((socket) => broker.handle(socket));
    onDispose(() => listener.close());
    const kept = handedOver?.wantedPort === config.port ? handedOver.port : config.port;
    const port = await listener.open(kept);
    const fields = { url: `mqtt://127.0.0.1:${port}` };
    log.info("the broker listens", fields);
    if (port !== kept) log.warn("the wanted port is taken", { ...fields, taken: kept });

    return {
      services: { "broker.address": async () => ({ url: fields.url }) },
      async handOver() {
        await intake.close();
        await listener.close();
        return {
          ...{ wantedPort: config.port, port, retained: retained.handOver(log) },
          sessions: await sessions.handOver(log),
        };
      },
    };
  },
});
