import { setTimeout as delay } from "node:timers/promises";
import { requestAtRate, type Served } from "../bench/bench-home.ts";

const REQUESTS_PER_SECOND = 200;
const START_MS = 30_000;
const POLL_MS = 50;

/** Requests a reload of the lamp and returns the status of the answer. */
export async function reloadLamp({ url, token }: Served): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/api/v1/modules/lamp/reload`, { method: "POST", headers });
  await response.arrayBuffer();
  return response.status;
}

/** The lamp's module in the host's JSON. */
export async function readLamp({ url, token }: Served): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${url}/api/v1/modules/lamp`, { headers })).text();
}

/** @throws Error if the lamp does not run; each later round would fail for that reason */
export async function waitForLamp(host: Served): Promise<void> {
  const until = performance.now() + START_MS;
  for (let module = ""; !module.includes('"state":"active"'); module = await readLamp(host)) {
    if (performance.now() > until) throw new Error(`the lamp does not run: ${module}`);
    await delay(POLL_MS);
  }
}

/** Requests for the lamp's device at a steady rate, with pauses. */
export class LampRequests {
  readonly #host: Served;
  #running: ReturnType<typeof requestAtRate> | undefined;
  #asked = 0;
  #failed = 0;
  /** The number of failed requests by reason. */
  readonly #failures = new Map<string, number>();

  constructor(host: Served) {
    this.#host = host;
  }

  start(): void {
    this.#running ??= requestAtRate(REQUESTS_PER_SECOND, () => this.#ask());
  }

  /** Waits for pending answers and sends no more requests until the next start. */
  async pause(): Promise<void> {
    const ended = await this.#running?.end();
    this.#running = undefined;
    this.#asked += ended?.asked ?? 0;
    this.#failed += ended?.failed ?? 0;
  }

  get counts() {
    const failures = Object.fromEntries(this.#failures);
    return { asked: this.#asked, failed: this.#failed, failures };
  }

  async #ask(): Promise<Response> {
    const { url, token } = this.#host;
    try {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${url}/api/v1/smart-home/devices/lamp:light:1`, { headers });
      if (!response.ok) this.#note(String(response.status));
      return response;
    } catch (error) {
      this.#note(String((error as Error).cause ?? error));
      throw error;
    }
  }

  #note(reason: string): void {
    this.#failures.set(reason, 1 + (this.#failures.get(reason) ?? 0));
  }
}
