import type { Device } from "@mantel/plugin-sdk/device";
import type { MqttHome } from "./mqtt-home.ts";

/** The last used number of all storms. Numbers are unique, because an unchanged state causes no event. */
let lastNumber = 0;

/** States with unique numbers that lamps publish at a steady rate, with their times of arrival. */
export class StateStorm {
  readonly #sent = new Map<number, number>();
  /** The last number of each lamp, by name. */
  readonly #last = new Map<string, number>();
  readonly #waits: number[] = [];
  readonly #timer: NodeJS.Timeout;
  #count = 0;

  constructor(lamps: MqttHome["lamps"][keyof MqttHome["lamps"]], perSecond: number) {
    const { names } = lamps;
    const startedAt = performance.now();
    this.#timer = setInterval(() => {
      const due = ((performance.now() - startedAt) / 1_000) * perSecond;
      while (this.#count < due) {
        const name = names[this.#count % names.length] ?? "";
        this.#count += 1;
        const counter = ++lastNumber;
        this.#sent.set(counter, performance.now());
        this.#last.set(name, counter);
        lamps.tell(name, { state: "ON", brightness: counter % 255, counter });
      }
    }, 2);
  }

  /** Records a state from the event stream. */
  arrived(counter: number): void {
    const sentAt = this.#sent.get(counter);
    if (sentAt === undefined) return;
    this.#sent.delete(counter);
    this.#waits.push(performance.now() - sentAt);
  }

  /** Stops publishing. `missed` are numbers that never arrived; a later one of the same lamp may have replaced them. */
  end() {
    clearInterval(this.#timer);
    return { sent: this.#count, missed: this.#sent.size, waits: this.#waits };
  }

  /** Lamps whose last published state differs from the host's. */
  lost(devices: readonly Device[]): number {
    const known = new Map(devices.map(({ name, extra }) => [name, extra?.state["counter"]]));
    return [...this.#last].filter(([name, counter]) => known.get(name) !== counter).length;
  }
}
