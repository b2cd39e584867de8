import type { HostApi } from "../protocol.ts";
import type { HostLink } from "./host-link.ts";
import { createLog } from "./log.ts";

/** What tells the house something, by what an author calls to do so. */
const TELLING: Partial<Readonly<Record<keyof HostApi, string>>> = {
  publishDevices: "devices.publish",
  publishScenes: "scenes.publish",
  publish: "publish",
  publishCalendarPart: "publish",
  updateDevices: "devices.update",
  announceDeviceEvent: "devices.event",
};

type Reason = Parameters<HostApi["reportDegraded"]>[0];

/**
 * The host as a generation reaches it from its `connect` on. Until the start the generation before may
 * still answer: what this one heard may be older than what that one has told, and a press that both heard
 * would be two. So nothing is told of the house before the start, and the author reads why.
 */
export class EarlyLink implements HostLink {
  readonly #host: HostLink;
  readonly #warned = new Set<string>();
  #isEarly = true;
  /** What the generation last said of its own other side, which nobody else knows better. */
  #degraded: Reason | undefined;

  constructor(host: HostLink) {
    this.#host = host;
  }

  /** From now on the generation is the one that is heard. */
  startTelling(): void {
    this.#isEarly = false;
    if (this.#degraded) this.#host.notify("reportDegraded", this.#degraded);
  }

  async call<M extends keyof HostApi>(
    method: M,
    input: Parameters<HostApi[M]>[0],
  ): Promise<Awaited<ReturnType<HostApi[M]>>> {
    const told = this.#tooEarly(method);
    if (told === undefined) return this.#host.call(method, input);
    throw new Error(`${told} in connect, where the code before may still answer; do it in start`);
  }

  notify<M extends keyof HostApi>(method: M, input: Parameters<HostApi[M]>[0]): void {
    const told = this.#tooEarly(method);
    if (told !== undefined) this.#warn(told);
    else if (this.#isEarly && method === "reportDegraded") this.#degraded = input as Reason;
    else this.#host.notify(method, input);
  }

  #tooEarly(method: keyof HostApi): string | undefined {
    return this.#isEarly ? TELLING[method] : undefined;
  }

  #warn(told: string): void {
    if (this.#warned.has(told)) return;
    this.#warned.add(told);
    const sentence = `${told} in connect is left out; keep what is heard, and tell it in start`;
    createLog(this.#host).warn(sentence);
  }
}
