import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connectAsync, type MqttClient } from "mqtt";
import { freePort } from "../../../test/helpers/free-port.ts";

const PROGRAM = "/usr/sbin/mosquitto";
const STARTED_WITHIN_MS = 5_000;

/** A real broker, with all messages that a subscriber of one topic received. */
export interface Broker {
  readonly url: string;
  readonly received: readonly string[];
  readonly stop: () => Promise<void>;
}

/** Starts a mosquitto on loopback; `undefined` if it is not installed. */
export async function openBroker(topic: string): Promise<Broker | undefined> {
  if (!existsSync(PROGRAM)) return undefined;
  const folder = await mkdtemp(join(tmpdir(), "mantel-bench-broker-"));
  const port = await freePort();
  const config = join(folder, "mosquitto.conf");
  const user = process.getuid?.() === 0 ? "user root\n" : ""; // otherwise it could not read its files
  await writeFile(config, `listener ${port} 127.0.0.1\nallow_anonymous true\n${user}`);
  const child = spawn(PROGRAM, ["-c", config], { stdio: "ignore" });
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  const url = `mqtt://127.0.0.1:${port}`;
  const subscriber = await connected(url);
  const received: string[] = [];
  subscriber.on("message", (_, payload) => received.push(payload.toString()));
  await subscriber.subscribeAsync(topic, { qos: 2 });
  return {
    url,
    received,
    stop: async () => {
      await subscriber.endAsync(true);
      kill();
      await rm(folder, { recursive: true });
    },
  };
}

async function connected(url: string): Promise<MqttClient> {
  const endsAt = performance.now() + STARTED_WITHIN_MS;
  for (;;) {
    try {
      return await connectAsync(url, { reconnectPeriod: 0 });
    } catch (error) {
      if (performance.now() > endsAt) throw error;
      await delay(20);
    }
  }
}
