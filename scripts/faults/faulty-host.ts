import { setTimeout as delay } from "node:timers/promises";
import {
  type BenchHome,
  openHome,
  requestAtRate,
  type Served,
  serveHost,
} from "../bench/bench-home.ts";
import { type FaultKind, faultyPlugin, idOf } from "./kinds.ts";

const POLL_MS = 10;
const AWAY_AT_MOST_MS = 30_000;
const BACK = ["active", "quarantined"];
/** Routes that do not depend on the faulty module. */
const ROUTES = [
  "/smart-home/devices/good:light:1",
  "/health",
  "/config",
  "/layout",
  "/modules/good",
];
const GOOD: FaultKind = { name: "good", code: "", cause: /never/ };

interface Module {
  readonly state: string;
  readonly restarts: number;
  readonly error: { readonly message: string } | null;
}

interface FaultyHostOptions {
  /** Code that plugins run from their start on. */
  readonly healthy?: readonly Pick<FaultKind, "name" | "code">[];
  readonly serve?: (home: BenchHome) => Promise<Served>;
}

/** A real host with one plugin for each kind of fault and one working plugin. */
export async function openFaultyHost(
  kinds: readonly FaultKind[],
  { healthy = [], serve = serveHost }: FaultyHostOptions = {},
): Promise<FaultyHost> {
  const home = await openHome();
  const write = async (kind: (typeof healthy)[number], when: "call" | "start") => {
    for (const [file, content] of Object.entries(faultyPlugin(idOf(kind), kind, when))) {
      await home.write(`${idOf(kind)}/${file}`, content);
    }
  };
  for (const kind of [GOOD, ...kinds]) await write(kind, "call");
  for (const kind of healthy) await write(kind, "start");
  return new FaultyHost(home, await serve(home));
}

class FaultyHost {
  readonly home: BenchHome;
  readonly mantel: Served;
  readonly #headers: Readonly<Record<string, string>>;
  #asked = 0;

  constructor(home: BenchHome, mantel: Served) {
    this.home = home;
    this.mantel = mantel;
    const authorization = `Bearer ${mantel.token}`;
    this.#headers = { authorization, "content-type": "application/json" };
  }

  /** Requests to the other modules, at a steady rate. */
  ask(perSecond: number) {
    return requestAtRate(perSecond, () =>
      this.#fetch(ROUTES[this.#asked++ % ROUTES.length] ?? "/health"),
    );
  }

  /**
   * Triggers a fault. Returns the milliseconds until the plugin works again or is in quarantine.
   * @throws Error if that takes more than 30 seconds
   */
  async commit(kind: FaultKind): Promise<number> {
    const id = idOf(kind);
    const { restarts } = await this.#module(id);
    const startedAt = performance.now();
    const device = `/smart-home/devices/${id.replaceAll("-", "")}:light:1`;
    const harmed = this.#post(`${device}/command`, '{"effect":"harm"}');
    await this.#becomes(id, (module) => module.restarts > restarts && BACK.includes(module.state));
    const awayMs = performance.now() - startedAt;
    await harmed;
    for (const action of ["disable", "enable"]) await this.#post(`/modules/${id}/${action}`); // resets the crash history
    await this.#becomes(id, ({ state }) => state === "active");
    return awayMs;
  }

  /** The log records of each crash of these modules. */
  async crashesOf(ids: readonly string[]): Promise<string[]> {
    const crashes: string[] = [];
    for (const id of ids) {
      const { restarts } = await this.#module(id);
      if (restarts === 0) continue;
      const log = await (await this.#fetch(`/modules/${id}/logs`)).text();
      crashes.push(`${id}, ${restarts} times: ${log}`);
    }
    return crashes;
  }

  async stop(): Promise<void> {
    await this.mantel.stop();
    await this.home.remove();
  }

  async #becomes(id: string, condition: (module: Module) => boolean): Promise<void> {
    const startedAt = performance.now();
    for (;;) {
      const module = await this.#module(id);
      if (condition(module)) return;
      if (performance.now() - startedAt > AWAY_AT_MOST_MS) {
        throw new Error(`${id} is ${module.state}: ${module.error?.message ?? "nothing is wrong"}`);
      }
      await delay(POLL_MS);
    }
  }

  async #module(id: string): Promise<Module> {
    return (await (await this.#fetch(`/modules/${id}`)).json()) as Module;
  }

  async #post(path: string, body = "{}"): Promise<void> {
    await (await this.#fetch(path, { method: "POST", body })).arrayBuffer();
  }

  #fetch(path: string, request: RequestInit = {}): Promise<Response> {
    return fetch(`${this.mantel.url}/api/v1${path}`, { headers: this.#headers, ...request });
  }
}
