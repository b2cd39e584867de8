import { type BenchHome, openHome, type Served } from "../bench/bench-home.ts";
import { readAtRest, serveProbed } from "./reading.ts";
import type { SoakRun } from "./run.ts";

const MINUTES = 60;
/** Device changes per minute in a busy home: one per second. */
const CHANGES = 60;
const RELOAD_EVERY_HOURS = 24;

/** A bridge with a hundred sensors. One command simulates a minute: one change per second. */
const SENSORS = `
import { definePlugin } from "@mantel/plugin-sdk";
import { day } from "./day.ts";
const ids = Array.from({ length: 100 }, (_, at) => "sensor-" + at);
let changes = 0;
export default definePlugin({
  async start({ devices }) {
    await devices.publish(ids.map((nativeId) => ({
      nativeId, kind: "sensor", name: nativeId + " on day " + day, room: "Room " + (nativeId.length % 10),
      capabilities: { temperature: { type: "number", unit: "°C", readOnly: true }, minute: { type: "number" } },
      state: { temperature: 20, minute: 0 },
    })));
    return {
      async command(nativeId, command) {
        for (let second = 0; second < ${CHANGES}; second++) {
          const at = changes++;
          devices.update({ nativeId: ids[at % ids.length], state: { temperature: 15 + (at % 97) / 10 } });
        }
        devices.update({ nativeId, state: command });
      },
    };
  },
});
`;

/**
 * One hour of a home per round: 3,600 device changes and 60 commands with an open event stream, a read of the device
 * list, a short event stream, and a change of config and layout. One reload per day.
 */
export async function openWeek(): Promise<SoakRun> {
  const home = await openHome(["system"]);
  await writeSensors(home);
  const host = await serveProbed(home);
  const client = new HomeClient(host);
  const listening = new AbortController();
  const stream = client.drain(listening.signal);
  return {
    async round(hour) {
      for (let minute = 1; minute <= MINUTES; minute++) await client.pass(hour * MINUTES + minute);
      await client.look();
      await client.rearrange(hour);
      if (hour % RELOAD_EVERY_HOURS !== 1) return; // also in the first hour, so that the builder is warm
      await home.write("sensors/day.ts", dayFile(1 + hour / RELOAD_EVERY_HOURS));
      await client.ask("/modules/sensors/reload", "POST");
    },
    read: () => readAtRest(host, home),
    async end() {
      listening.abort();
      await stream;
      await host.stop();
      await home.remove();
      return client.counts;
    },
  };
}

async function writeSensors({ write }: BenchHome): Promise<void> {
  const bridge = { kind: "sensors", commandsPerSecond: 1_000, burst: 1_000 };
  const mantel = { id: "sensors", kinds: ["bridge"], server: "index.ts", bridge };
  const manifest = { name: "sensors", version: "1.0.0", type: "module", mantel };
  await write("sensors/package.json", JSON.stringify(manifest));
  await write("sensors/index.ts", SENSORS);
  await write("sensors/day.ts", dayFile(0));
}

const dayFile = (day: number) => `export const day: number = ${Math.floor(day)};\n`;

class HomeClient {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  #asked = 0;
  #failed = 0;

  constructor({ url, token }: Served) {
    this.#url = url;
    this.#headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  }

  get counts(): { asked: number; failed: number } {
    return { asked: this.#asked, failed: this.#failed };
  }

  async pass(minute: number): Promise<void> {
    const id = `sensors:sensor:${(minute % 100) + 1}`;
    await this.ask(`/smart-home/devices/${id}/command`, "POST", { minute });
  }

  /** Opens and closes a dashboard. */
  async look(): Promise<void> {
    const closed = new AbortController();
    const stream = this.drain(closed.signal);
    await this.ask("/smart-home/devices");
    await this.ask("/system");
    closed.abort();
    await stream;
  }

  async rearrange(hour: number): Promise<void> {
    const layout = JSON.parse(await this.ask("/layout")) as object;
    await this.ask("/layout", "PUT", { ...layout, name: `hour ${hour}` });
    await this.ask("/config", "PATCH", { ui: { idleSeconds: 60 + (hour % 600) } });
  }

  /** Reads an event stream until it is aborted. */
  async drain(signal: AbortSignal): Promise<void> {
    try {
      const { body } = await fetch(`${this.#url}/api/v1/events`, {
        headers: this.#headers,
        signal,
      });
      for await (const _ of body ?? []);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async ask(path: string, method = "GET", body?: object): Promise<string> {
    this.#asked++;
    const response = await fetch(`${this.#url}/api/v1${path}`, {
      method,
      headers: this.#headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!response.ok) this.#failed++;
    return response.text();
  }
}
