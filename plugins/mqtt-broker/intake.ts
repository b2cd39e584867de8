import { setImmediate as turn } from "node:timers/promises";
import type { Aedes } from "aedes";

/** Turns of the event loop after which an accepted message has reached all queues. */
const TURNS = 10;

/** Accepts messages for a broker until the generation ends. */
export class MessageIntake {
  #isOpen = true;

  constructor(broker: Aedes) {
    const authorize = broker.authorizePublish;
    broker.authorizePublish = (client, packet, done) => {
      // A message that is not accepted is not acknowledged, so its sender sends it again.
      if (this.#isOpen) authorize(client, packet, done);
    };
  }

  /** Resolves when all acknowledged messages have reached their queues. */
  async close(): Promise<void> {
    this.#isOpen = false;
    for (let left = TURNS; left > 0; left--) await turn();
  }
}
