import type { BenchHome, Served } from "../bench-home.ts";

const ROOM_SIZE = 20;

/** A bridge whose lamps change in turn, at the rate set on its control device, which counts the changes. */
const bridge = (lamps: number): string => `
import { definePlugin } from "@mantel/plugin-sdk";
const natives = Array.from({ length: ${lamps} }, (_, at) => "lamp" + at);
const percent = { type: "number", min: 0, max: 100, unit: "%" };
const rate = { type: "number", min: 0 };
export default definePlugin({
  async start({ devices, onDispose }) {
    await devices.publish([
      ...natives.map((nativeId, at) => ({
        nativeId, kind: "light", name: "Lamp " + (at + 1), room: "Room " + (Math.floor(at / ${ROOM_SIZE}) + 1),
        capabilities: { on: { type: "boolean" }, brightness: percent }, state: { on: true, brightness: 50 },
      })),
      {
        nativeId: "tap", kind: "switch", name: "Tap", room: "Cellar",
        capabilities: { perSecond: rate, among: rate, count: { ...rate, readOnly: true } },
        state: { perSecond: 0, among: 0, count: 0 },
      },
    ]);
    let tap = { perSecond: 0, among: 0 }, startedAt = 0, count = 0;
    const timer = setInterval(() => {
      const due = ((performance.now() - startedAt) / 1_000) * tap.perSecond;
      for (; count < due; count++) {
        const brightness = 1 + ((Math.floor(count / tap.among) * 7 + 3) % 99);
        devices.update({ nativeId: natives[count % tap.among], state: { on: true, brightness } });
      }
    }, 5);
    onDispose(() => clearInterval(timer));
    return {
      async command(_, command) {
        if (command.perSecond > 0) count = 0;
        tap = { ...tap, ...command };
        startedAt = performance.now();
        devices.update({ nativeId: "tap", state: { ...tap, count } });
      },
    };
  },
});
`;
const MANIFEST = {
  id: "storm",
  kinds: ["bridge"],
  server: "index.ts",
  bridge: { kind: "storm", commandsPerSecond: 1_000, burst: 1_000 },
  limits: { cpuPercent: 400, memoryMiB: 256 }, // more than the defaults, because of the high rate
};

/** Writes the bridge. Its lamps are `Lamp 1` and so on, twenty per room. Call it before the host starts. */
export async function writeStorm({ write }: BenchHome, lamps: number): Promise<void> {
  await write("storm/package.json", JSON.stringify({ type: "module", mantel: MANIFEST }));
  await write("storm/index.ts", bridge(lamps));
}

/** A page with one tile per room, two in a row. */
function roomsPage(lamps: number): object {
  const widgets = Array.from({ length: Math.ceil(lamps / ROOM_SIZE) }, (_, at) => ({
    id: `room-${at + 1}`,
    module: "room-widget",
    config: { room: `Room ${at + 1}` },
    geometry: { lg: { x: 6 * (at % 2), y: 8 * Math.floor(at / 2), w: 6, h: 8 } },
  }));
  return {
    version: 1,
    grid: { columns: 12, rowHeight: 56, gap: 8 },
    displays: [],
    pages: [{ id: "rooms", title: "Rooms", widgets }],
  };
}

/** Controls the changes in a host. */
export class Storm {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #tap: string;

  private constructor({ url, token }: Served, tap: string) {
    this.#url = url;
    this.#headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    this.#tap = tap;
  }

  /** Adds the rooms to the dashboard. */
  static async over(host: Served, lamps: number): Promise<Storm> {
    const storm = new Storm(host, `/smart-home/devices/storm:switch:1`);
    await storm.#ask("/layout", { method: "PUT", body: JSON.stringify(roomsPage(lamps)) });
    return storm;
  }

  /** Starts `perSecond` changes per second of the first `among` lamps in turn. */
  async begin(perSecond: number, among: number): Promise<void> {
    await this.#turn({ perSecond, among });
  }

  /** Stops the changes and returns their number. */
  async end(): Promise<number> {
    await this.#turn({ perSecond: 0 });
    const { state } = (await (await this.#ask(this.#tap)).json()) as { state: { count: number } };
    return state.count;
  }

  async #turn(command: object): Promise<void> {
    await this.#ask(`${this.#tap}/command`, { method: "POST", body: JSON.stringify(command) });
  }

  async #ask(path: string, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(`${this.#url}/api/v1${path}`, { ...init, headers: this.#headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  }
}
