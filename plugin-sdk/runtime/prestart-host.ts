import type { HostApi } from "../protocol.ts";
import type { HostLink } from "./host-link.ts";
import { createLog } from "./log.ts";

/** Calls that change the home, with the names that plugin authors use. */
const TELLING: Partial<Readonly<Record<keyof HostApi, string>>> = {
  publishDevices: "devices.publish",
  publishScenes: "scenes.publish",
  publish: "publish",
  publishCalendarPart: "publish",
  publishChannel: "channels.publish",
  updateDevices: "devices.update",
  announceDeviceEvent: "devices.event",
  setSchedule: "schedule.at, every, cron and after",
  cancelSchedule: "schedule.cancel",
  followHome: "home.devices.on",
  followSources: "sources.follow",
  describeSources: "sources.describe",
  commandHome: "home.command",
  activateHomeScene: "home.activateScene",
};

type Reason = Parameters<HostApi["reportDegraded"]>[0];

/**
 * A generation's connection to the host during `connect`. Until the start, the previous generation may still report
 * states and events: this one's data may be older, and an event that both received would count twice. Calls that
 * change the home are therefore refused or dropped before the start, with a message to the author.
 */
export class PrestartHost implements HostLink {
  readonly #host: HostLink;
  readonly #warned = new Set<string>();
  #isEarly = true;
  /** The last degraded report before the start, sent at the start. */
  #degraded: Reason | undefined;

  constructor(host: HostLink) {
    this.#host = host;
  }

  /** Permits all calls from now on. */
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
    throw new Error(
      `${told} is not allowed in connect, while the previous code runs; call it in start`,
    );
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
    const sentence = `${told} was ignored in connect; buffer the messages and call it in start`;
    createLog(this.#host).warn(sentence);
  }
}
