import { randomBytes } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { brokerAddress, definePlugin, provide, Type } from "@mantel/plugin-sdk";
import type { Aedes } from "aedes";
import { accountOptions, Accounts, PLUGINS_ACCOUNT } from "./accounts.ts";
import { openBroker } from "./broker.ts";
import { Listener } from "./listener.ts";
import { RetainedState } from "./retained.ts";
import { SessionState } from "./sessions.ts";

/** Turns of the event loop after which an accepted message has reached all queues. */
const DELIVERY_TURNS = 10;

/** An MQTT 3.1.1 broker for a home without one. Inactive while `mqtt.url` names another broker. */
export default definePlugin({
  options: Type.Object({
    port: Type.Integer({ title: "Port", minimum: 1, maximum: 65_535, default: 1883 }),
    host: Type.Enum(["127.0.0.1", "0.0.0.0", "::"], {
      title: "Listens on",
      description: "127.0.0.1: this machine alone; 0.0.0.0, or :: with IPv6: the whole network",
      default: "127.0.0.1",
    }),
    ...accountOptions,
  }),
  state: Type.Object({
    /** The configured port; if it has changed, the port in use is not kept. */
    wantedPort: Type.Integer(),
    port: Type.Integer(),
    /** The password of plugins. */
    password: Type.Optional(Type.String()),
    retained: RetainedState,
    sessions: SessionState,
  }),

  async start({ config, handedOver, log, onDispose }) {
    const password = handedOver?.password ?? randomBytes(32).toString("base64url");
    const accounts = new Accounts(config, password);
    const opened = await openBroker({ accounts, log });
    onDispose(() => opened.close());
    const { broker, retained, sessions, accept } = opened;
    await retained.restore(handedOver?.retained ?? []);
    const lasting = handedOver?.sessions ?? [];
    await sessions.restore(lasting.filter(({ user }) => accounts.has(user)));
    const intake = new MessageIntake(broker);

    const listener = new Listener(config.host, accept);
    onDispose(() => listener.close());
    const wantedPort = handedOver?.wantedPort === config.port ? handedOver.port : config.port;
    const port = await listener.open(wantedPort);
    const fields = { url: `mqtt://127.0.0.1:${port}` };
    log.info("the broker listens", fields);
    if (port !== wantedPort)
      log.warn("the port of the broker is in use; it listens on another one", {
        ...fields,
        taken: wantedPort,
      });

    return {
      services: [
        provide(brokerAddress, () => ({ ...fields, username: PLUGINS_ACCOUNT, password })),
      ],
      async handOver() {
        await intake.close();
        await listener.close();
        return {
          wantedPort: config.port,
          port,
          password,
          retained: retained.handOver(log),
          sessions: await sessions.handOver(log),
        };
      },
    };
  },
});

/** Accepts messages for a broker until the generation ends. */
class MessageIntake {
  #isOpen = true;

  constructor(broker: Aedes) {
    const authorize = broker.authorizePublish;
    broker.authorizePublish = (client, packet, done) => {
      // A message that is not accepted is not acknowledged, so its sender sends it again.
      if (this.#isOpen) authorize(client, packet, done);
    };
  }

  /** Resolves when all acknowledged messages have reached their queues. */
  async close(): Promise<void> {
    this.#isOpen = false;
    for (let left = DELIVERY_TURNS; left > 0; left--) await turn();
  }
}
