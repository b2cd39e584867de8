import { setImmediate as turn } from "node:timers/promises";
import type { Aedes } from "aedes";

/** A message that was let in has reached all queues after so many turns of the event loop. */
const TURNS = 10;

/** Lets messages into a broker, until the generation ends. */
export class Intake {
  #isOpen = true;

  constructor(broker: Aedes) {
    const authorize = broker.authorizePublish;
    broker.authorizePublish = (client, packet, done) => {
      // One that is not let in is not acknowledged either, so its sender knows that it has to be sent again.
      if (this.#isOpen) authorize(client, packet, done);
    };
  }

  /** Resolves when every message that was acknowledged is where it belongs. */
  async close(): Promise<void> {
    this.#isOpen = false;
    for (let left = TURNS; left > 0; left--) await turn();
  }
}
