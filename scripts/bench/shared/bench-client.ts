import { setTimeout as delay } from "node:timers/promises";
import type { BenchHome, Served } from "../bench-home.ts";
import { benchBridgeCode, lampId, STORM } from "./bench-bridge.ts";
import { EventWatch } from "./event-watch.ts";
import { summarise } from "./figures.ts";

const CHANGES_PER_SECOND = 100;
const EVENTS_MS = 4_000;
const PAUSE_MS = 200;
const RELOADED_WITHIN_MS = 180_000;
/** The bridges write their clock into a state, modulo this. */
const CLOCK = 100_001;

/** Requests of benches to a host with the bridges of `writeBenchBridges`. */
export class BenchClient {
  readonly #served: Served;

  constructor(served: Served) {
    this.#served = served;
  }

  async ask(path: string, body?: object): Promise<string> {
    const { url, token } = this.#served;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const init = body ? { method: "POST", body: JSON.stringify(body) } : {};
    const response = await fetch(`${url}/api/v1/smart-home${path}`, { ...init, headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return text;
  }

  list(): Promise<string> {
    return this.ask("/devices");
  }

  async command(at: number): Promise<number> {
    const startedAt = performance.now();
    await this.ask(`/devices/${lampId(1 + (at % 4))}/command`, { brightness: at % 101 });
    return performance.now() - startedAt;
  }

  async listAfterChange(at: number): Promise<number> {
    await this.command(at);
    const startedAt = performance.now();
    await this.list();
    return performance.now() - startedAt;
  }

  /** From the save of the first bridge, which has `lamps`, until the API answers with the new name of a lamp. */
  async reload({ write }: BenchHome, lamps: number, at: number): Promise<number> {
    await delay(PAUSE_MS);
    const name = `Round ${at}.`;
    await write("bench0/index.ts", benchBridgeCode(lamps, name));
    const savedAt = performance.now();
    const answer = () => this.ask(`/devices/${lampId(0)}`).catch(String);
    while (!(await answer()).includes(name)) {
      if (performance.now() - savedAt > RELOADED_WITHIN_MS) throw new Error(`no "${name}"`);
      await delay(1);
    }
    return performance.now() - savedAt;
  }

  /** The median from a change in a bridge's process until an event stream has it. */
  async eventWait(): Promise<number> {
    const waits: number[] = [];
    const watch = new EventWatch(this.#served, ({ topic, data }) => {
      const clock = /"rate":(\d+)/.exec(data)?.[1];
      if (topic !== "device.state" || clock === undefined || data.includes(`"${STORM}"`)) return;
      waits.push(((Date.now() % 1e8) - Number(clock) + 1_000 * CLOCK) % CLOCK);
    });
    await watch.opened;
    await this.ask(`/devices/${STORM}/command`, { rate: CHANGES_PER_SECOND });
    await delay(EVENTS_MS);
    await this.ask(`/devices/${STORM}/command`, { rate: 0 });
    await watch.stop();
    return summarise(waits).p50;
  }
}
