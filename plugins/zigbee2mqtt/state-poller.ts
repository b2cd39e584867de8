import type { Thing } from "./discovery.ts";
import { withValue } from "./feature.ts";

/** A radio network carries few messages a second, and commands come first. */
const ASK_EVERY_MS = 50;
/** Fields that users see at a glance; the others are reported when they change. */
const WORTH_ASKING = new Set(
  "on brightness colorTemperature color position tilt locked mode speed targetTemperature targetTemperatureLow targetTemperatureHigh".split(
    " ",
  ),
);

/** Asks devices for their state, which Zigbee2MQTT does not keep for who comes later: one after the other. */
export class StatePoller {
  readonly #ask: (thing: Thing, payload: Readonly<Record<string, unknown>>) => Promise<void>;
  #waiting: Thing[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(ask: (thing: Thing, payload: Readonly<Record<string, unknown>>) => Promise<void>) {
    this.#ask = ask;
  }

  /** Asks all of these that can answer, in place of those that were to be asked. */
  begin(things: readonly Thing[]): void {
    this.close();
    this.#waiting = [...things];
    if (things.length > 0) this.#timer = setInterval(() => this.#next(), ASK_EVERY_MS);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#waiting = [];
  }

  #next(): void {
    for (let thing = this.#waiting.shift(); thing; thing = this.#waiting.shift()) {
      const { features, isAwake, isDisabled } = thing;
      const asked = isAwake && !isDisabled ? features.filter(isWorthAsking) : [];
      if (asked.length === 0) continue;
      const payload = asked.reduce<Record<string, unknown>>(
        (so, { path }) => withValue(so, path, ""),
        {},
      );
      this.#ask(thing, payload).catch(() => this.close()); // the next connection begins again
      return;
    }
    this.close();
  }
}

function isWorthAsking({ name, path, group, isGettable }: Thing["features"][number]): boolean {
  return isGettable && path.length === 1 && group === undefined && WORTH_ASKING.has(name);
}
