import type { OnMessage } from "@mantel/plugin-sdk/mqtt";

/** Far more than comes while a generation starts. */
const MOST = 20_000;

/** Keeps messages back, in their order, until there is somebody to take them. */
export class Held {
  #waiting: (() => void)[] = [];
  #isReleased = false;

  get isReleased(): boolean {
    return this.#isReleased;
  }

  /** The same as `take`, from the release on; what comes before is given to it then. */
  until(take: OnMessage): OnMessage {
    return (...message) => {
      if (this.#isReleased) take(...message);
      else if (this.#waiting.length < MOST) this.#waiting.push(() => take(...message));
    };
  }

  release(): void {
    this.#isReleased = true;
    for (const give of this.#waiting.splice(0)) give();
  }
}
