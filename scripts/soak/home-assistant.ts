import { setTimeout as delay } from "node:timers/promises";
import type { Device } from "@mantel/plugin-sdk/device";
import { FakeHomeAssistant } from "../../test/fakes/home-assistant.ts";
import { openHome, type Served, serveHost } from "../bench/bench-home.ts";
import { waitUntil } from "../bench/shared/mqtt-home.ts";

/** The number of sensors, which change during an outage, and of number entities, which commands set. */
const ENTITIES = 20;
const READY_WITHIN_MS = 60_000;
const LONGEST_OUTAGE_MS = 800;
const BACK_WITHIN_MS = 15_000;
const COMMAND_EVERY_MS = 100;
/** The maximum of the number entities, so that no command is refused for its value. */
const MOST_COMMANDS = 1_000_000;

/** The result of a run with cut connections. */
export interface CutCount {
  readonly cuts: number;
  /** The time from the cut, or from Home Assistant's return after a kill, until all states match. */
  readonly backMs: readonly number[];
  readonly commands: number;
  /** Commands that reached Home Assistant twice or more. */
  readonly doubled: number;
  /** The number of commands by HTTP status. */
  readonly statuses: Readonly<Record<string, number>>;
}

/** Cuts the connection to a Home Assistant, or kills it, alternately, while commands run. */
export async function cutHomeAssistant(count: number): Promise<CutCount> {
  const fake = new FakeHomeAssistant();
  for (let at = 0; at < ENTITIES; at++) {
    fake.set(`sensor.light_${at}`, "0", { unit_of_measurement: "lx" });
    fake.set(`number.level_${at}`, "0", { min: 0, max: MOST_COMMANDS, step: 1 });
  }
  await fake.listen();
  const home = await openHome(["home-assistant"]);
  const client = new HomeClient(await serveHost(home), fake);
  const backMs: number[] = [];
  try {
    await client.setUp();
    const commands = new Commands(client, await client.devices());
    for (let cut = 0; cut < count; cut++) {
      const isKilled = cut % 2 === 1;
      if (isKilled) await fake.kill();
      else fake.drop();
      for (let at = 0; at < ENTITIES; at++) {
        fake.set(`sensor.light_${at}`, `${cut + 1}`, { unit_of_measurement: "lx" });
      }
      if (isKilled) {
        await delay(Math.random() * LONGEST_OUTAGE_MS);
        await fake.listen();
      }
      backMs.push(await waitUntil(BACK_WITHIN_MS, () => client.isCurrent(cut + 1)));
    }
    return { cuts: count, backMs, ...(await commands.end()) };
  } finally {
    await client.close();
    await home.remove();
  }
}

class HomeClient {
  readonly fake: FakeHomeAssistant;
  readonly #served: Served;

  constructor(served: Served, fake: FakeHomeAssistant) {
    this.#served = served;
    this.fake = fake;
  }

  async setUp(): Promise<void> {
    const { url, token } = this.fake;
    const options = { method: "PATCH", body: JSON.stringify({ url, token }) };
    const response = await this.api("/modules/home-assistant/config", options);
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    await waitUntil(READY_WITHIN_MS, () => this.isCurrent(0));
  }

  async devices(): Promise<readonly Device[]> {
    const response = await this.api("/smart-home/devices");
    return ((await response.json()) as { devices: Device[] }).devices;
  }

  async isCurrent(value: number): Promise<boolean> {
    const all = await this.devices();
    const sensors = all.filter(({ name }) => name.startsWith("sensor."));
    return (
      all.length === 2 * ENTITIES &&
      all.every(({ available }) => available) &&
      sensors.every(({ state }) => Object.values(state).includes(value))
    );
  }

  api(path: string, init: RequestInit = {}): Promise<Response> {
    const { url, token } = this.#served;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    return fetch(`${url}/api/v1${path}`, { ...init, headers });
  }

  async close(): Promise<void> {
    await this.#served.stop();
    await this.fake.kill();
  }
}

/** Sends commands at a steady rate to the devices in turn, each with a unique number. */
class Commands {
  readonly #client: HomeClient;
  readonly #statuses: Record<string, number> = {};
  readonly #timer: NodeJS.Timeout;
  readonly #waiting: Promise<void>[] = [];
  #sent = 0;

  constructor(client: HomeClient, devices: readonly Device[]) {
    this.#client = client;
    const settable = devices.filter(({ name }) => name.startsWith("number."));
    this.#timer = setInterval(() => {
      const device = settable[this.#sent++ % settable.length];
      if (device) this.#waiting.push(this.#send(device.id, this.#sent));
    }, COMMAND_EVERY_MS);
  }

  async end(): Promise<Pick<CutCount, "commands" | "doubled" | "statuses">> {
    clearInterval(this.#timer);
    await Promise.all(this.#waiting);
    const values = this.#client.fake.calls.map(({ data }) => data["value"]);
    return {
      commands: this.#sent,
      doubled: values.length - new Set(values).size,
      statuses: this.#statuses,
    };
  }

  async #send(id: string, value: number): Promise<void> {
    const body = JSON.stringify({ value });
    const path = `/smart-home/devices/${id}/command`;
    const { status } = await this.#client.api(path, { method: "POST", body });
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
  }
}
