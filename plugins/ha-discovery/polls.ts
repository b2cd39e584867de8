import type { DeviceStore } from "./device-store.ts";
import type { Message } from "./payload.ts";

/** Asks each device for its state once it can be reached, if it takes such requests. */
export class Polls {
  readonly #home: DeviceStore;
  readonly #send: (message: Message) => void;
  /** The devices that were asked since they can be reached. */
  readonly #asked = new Set<string>();

  constructor(home: DeviceStore, send: (message: Message) => void) {
    this.#home = home;
    this.#send = send;
  }

  /** Counts all devices as asked: their states are known from the previous generation. */
  skipAll(): void {
    for (const nativeId of this.#home.nativeIds) this.#asked.add(nativeId);
  }

  /** Asks all devices again, for example because messages may have been missed. */
  repeatAll(): void {
    this.#asked.clear();
    this.follow(this.#home.nativeIds);
  }

  /** Asks those of the devices that can be reached and were not asked. */
  follow(nativeIds: Iterable<string>): void {
    const polls = new Map<string, Message>();
    for (const nativeId of nativeIds) {
      if (!this.#home.isAvailable(nativeId)) this.#asked.delete(nativeId);
      else if (!this.#asked.has(nativeId)) {
        this.#asked.add(nativeId);
        for (const poll of this.#home.pollsOf(nativeId)) {
          polls.set(`${poll.topic} ${poll.payload}`, poll);
        }
      }
    }
    for (const poll of polls.values()) this.#send(poll);
  }
}
