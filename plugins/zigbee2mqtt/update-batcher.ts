import type { DeviceState } from "@mantel/plugin-sdk";

/** Changes of so long travel together: a storm of messages costs the host a hundred calls a second at most. */
const GATHER_MS = 10;

/** Gathers what devices tell, the latest of each field, and sends it together. */
export class UpdateBatcher {
  readonly #send: (told: ReadonlyMap<string, DeviceState>) => void;
  #told = new Map<string, DeviceState>();
  #timer: NodeJS.Timeout | undefined;
  #sentAt = -Infinity;

  constructor(send: (told: ReadonlyMap<string, DeviceState>) => void) {
    this.#send = send;
  }

  /** Without a state, something else about the device is to be told. */
  put(nativeId: string, state: DeviceState = {}): void {
    this.#told.set(nativeId, { ...this.#told.get(nativeId), ...state });
    this.#timer ??= setTimeout(() => this.flush(), this.#sentAt + GATHER_MS - performance.now());
  }

  /** Sends at once, as before the answer of a command. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sentAt = performance.now();
    const told = this.#told;
    this.#told = new Map();
    if (told.size > 0) this.#send(told);
  }
}
