import type { DeviceCommand, DeviceState } from "@mantel/plugin-sdk";
import { hasReached } from "./convert.ts";
import type { Domain } from "./domain.ts";
import type { Entity } from "./entities.ts";

/** An entity, with the state of its device, at one moment. */
export interface Moment {
  readonly entity: Entity;
  readonly state: DeviceState;
}

interface Waiting {
  readonly entityId: string;
  readonly isReached: (now: Moment) => boolean;
  readonly confirm: () => void;
}

/**
 * Commands that wait for their device to show what was asked. Home Assistant answers a service call with
 * success also when nothing has happened, so its answer alone confirms nothing.
 */
export class Confirmations {
  readonly #waiting = new Set<Waiting>();

  /** `confirmed` resolves when the entity shows all that was asked; `end` gives up waiting. */
  expect(command: DeviceCommand, domain: Domain, before: Moment) {
    let confirm = (): void => undefined;
    const confirmed = new Promise<void>((resolve) => (confirm = resolve));
    const asked = Object.entries(command).map(([field, value]) => ({ field, value }));
    const waiting: Waiting = {
      entityId: before.entity.id,
      confirm,
      isReached: (now) =>
        asked.every(
          (one) =>
            domain.confirms?.(one, now.entity, before.entity) ??
            hasReached(one, now.state, before.state),
        ),
    };
    this.#waiting.add(waiting);
    return { confirmed, end: () => void this.#waiting.delete(waiting) };
  }

  /** An entity is like this now. */
  see(now: Moment): void {
    for (const waiting of this.#waiting) {
      if (waiting.entityId === now.entity.id && waiting.isReached(now)) waiting.confirm();
    }
  }
}
