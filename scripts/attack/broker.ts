import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { IClientOptions, MqttClient } from "mqtt";
import { freePort } from "../../test/helpers/free-port.ts";
import { ask } from "./api.ts";
import type { Proof } from "./proof.ts";
import { EVENT_TIMEOUT_MS, type Stage } from "./stage.ts";

const MIB = 2 ** 20;
const MODULE = "mqtt-broker";
/** The user name of Mantel's own plugins, whose password nobody else knows. */
const PLUGINS_ACCOUNT = "plugins@mantel";
const PASSWORD = "watering-can";
const USERS = {
  garden: { password: PASSWORD, read: ["garden/#"], write: ["garden/+/state"] },
  owner: { password: PASSWORD, read: ["#"], write: ["#"] },
};
/** One more than the crashes after which a module is quarantined. */
const ROUNDS = 6;

/** A broker with two users; clients end with it. */
class BrokerStage {
  readonly port: number;
  readonly #clients: MqttClient[] = [];

  private constructor(port: number) {
    this.port = port;
  }

  static async open(stage: Stage): Promise<BrokerStage> {
    await stage.installShipped(MODULE);
    const port = await freePort();
    await ask(stage.target, "PATCH", "/config", { [MODULE]: { port, users: USERS } });
    await stage.waitUntil(() => stage.answersAt(port), EVENT_TIMEOUT_MS);
    return new BrokerStage(port);
  }

  /** A client that does not come back by itself. @throws Error when the broker refuses it */
  async connect(options: IClientOptions): Promise<MqttClient> {
    const { connectAsync } = await import("mqtt");
    const client = await connectAsync(`mqtt://127.0.0.1:${this.port}`, {
      protocolVersion: 4,
      reconnectPeriod: 0,
      ...options,
    });
    client.on("error", () => undefined); // its end is seen otherwise
    this.#clients.push(client);
    return client;
  }

  as(username: keyof typeof USERS, more: IClientOptions = {}): Promise<MqttClient> {
    return this.connect({ username, password: PASSWORD, ...more });
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.endAsync(true)));
  }
}

/** Attacks on the embedded broker, by clients of it. */
export const BROKER: readonly Proof[] = [
  proofOf("connect to the broker without a password", async (broker) => {
    const attempts: IClientOptions[] = [
      {},
      { password: PASSWORD, username: "" },
      ...["garden", PLUGINS_ACCOUNT, "nobody", "__proto__"].flatMap((username) => [
        { username },
        { username, password: "" },
        { username, password: "watering-cap" },
      ]),
    ];
    for (const attempt of attempts) {
      const client = await broker.connect(attempt).catch(() => undefined);
      if (client) return `it let in ${JSON.stringify(attempt)}`;
    }
    await broker.as("garden"); // the password is right
    return undefined;
  }),
  proofOf("read topics of the broker that a user was not given", async (broker, stage) => {
    const [spy, owner] = [await broker.as("garden"), await broker.as("owner")];
    const heard = topicsOf(spy);
    for (const filter of ["#", "+/door", "home/#", "$SYS/#", "$share/garden/home/#", "+/+"]) {
      await spy.subscribeAsync(filter, { qos: 1 }).catch(() => undefined);
    }
    await spy.subscribeAsync("garden/#", { qos: 1 });
    for (const topic of ["home/door", "garden/end"])
      await owner.publishAsync(topic, "x", { qos: 1 });
    if (!(await stage.waitUntil(async () => heard.includes("garden/end"), EVENT_TIMEOUT_MS))) {
      return "it gets no message at all";
    }
    const stolen = heard.filter((topic) => !topic.startsWith("garden/"));
    return stolen.length > 0 ? `it read ${stolen.join(", ")}` : undefined;
  }),
  proofOf("write topics of the broker that a user was not given", async (broker, stage) => {
    const owner = await broker.as("owner");
    const heard = topicsOf(owner);
    await owner.subscribeAsync("#", { qos: 1 });
    const will = {
      topic: "home/door",
      payload: Buffer.from("open"),
      qos: 1,
      retain: true,
    } as const;
    const [client, dying] = [await broker.as("garden"), await broker.as("garden", { will })];
    for (const topic of ["home/door", "garden/pump", "garden/pump/state/x", "$SYS/door"]) {
      for (const qos of [0, 1, 2] as const) await client.publishAsync(topic, "open", { qos });
    }
    dying.stream.destroy();
    await client.publishAsync("garden/pump/state", "on", { qos: 1 });
    if (
      !(await stage.waitUntil(async () => heard.includes("garden/pump/state"), EVENT_TIMEOUT_MS))
    ) {
      return "it can write nothing at all";
    }
    const written = heard.filter((topic) => topic !== "garden/pump/state");
    return written.length > 0 ? `it wrote ${written.join(", ")}` : undefined;
  }),
  proofOf("end the broker by packets of more than 1 MiB", async (broker, stage) => {
    const bystander = await broker.as("owner");
    const harm = await sendLargePackets(broker, stage).catch((error: Error) => error.message);
    const { state = "gone", restarts = 0 } = (await stage.moduleState(MODULE)) ?? {};
    if (state !== "active" || restarts > 0) return `it is ${state} after ${restarts} restarts`;
    if (harm !== undefined) return harm;
    if (!bystander.connected) return "another client has lost its connection";
    await bystander.publishAsync("home/door", "shut", { qos: 1 });
    return undefined;
  }),
];

function proofOf(
  name: string,
  attack: (broker: BrokerStage, stage: Stage) => Promise<string | undefined>,
): Proof {
  return {
    name,
    heldFrom: "permission-model",
    look: async (stage) => {
      const broker = await BrokerStage.open(stage);
      try {
        return await attack(broker, stage);
      } finally {
        await broker.close();
      }
    },
  };
}

/** Announces packets that are too long, as a user and as a stranger, more often than a module may crash. */
async function sendLargePackets(broker: BrokerStage, stage: Stage): Promise<string | undefined> {
  for (let round = 1; round <= ROUNDS; round++) {
    for (const bytes of [MIB + 1, 220 * MIB]) {
      const { stream } = await broker.as("garden");
      if (!(await isClosed(stage, stream as Socket, bytes))) return `it takes ${bytes} bytes`;
    }
    const stranger = connect(broker.port, "127.0.0.1");
    await once(stranger, "connect");
    if (!(await isClosed(stage, stranger, MIB))) return "it takes 1 MiB of a stranger";
  }
  return undefined;
}

/** The topics of all that arrives at a client. */
function topicsOf(client: MqttClient): readonly string[] {
  const topics: string[] = [];
  client.on("message", (topic) => topics.push(topic));
  return topics;
}

/** True if a connection ends when it announces a packet of so many bytes and sends the first MiB. */
async function isClosed(stage: Stage, socket: Socket, bytes: number): Promise<boolean> {
  socket.on("error", () => undefined); // a reset closes the connection too
  let hasEnded = false;
  socket.once("close", () => (hasEnded = true));
  socket.write(Buffer.concat([publishHeader(bytes), Buffer.alloc(MIB)]));
  await stage.waitUntil(async () => hasEnded, EVENT_TIMEOUT_MS);
  socket.destroy();
  return hasEnded;
}

/** The fixed header of a PUBLISH whose rest has so many bytes (MQTT 3.1.1, 2.2.3). */
function publishHeader(length: number): Buffer {
  const header = [0x30];
  for (let left = length; left > 0; left = Math.floor(left / 128)) {
    header.push((left % 128) | (left >= 128 ? 0x80 : 0));
  }
  return Buffer.from(header);
}
