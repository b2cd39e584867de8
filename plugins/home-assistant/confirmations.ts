import { type DeviceCommand, type DeviceState, MantelError } from "@mantel/plugin-sdk";
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
  readonly abandon: (reason: MantelError) => void;
}

/**
 * Commands that wait for their device to show what was asked. Home Assistant answers a service call with
 * success also when nothing has happened, so its answer alone confirms nothing.
 */
export class Confirmations {
  readonly #waiting = new Set<Waiting>();

  /** `confirmed` resolves when the entity shows all that was asked; `end` gives up waiting. */
  expect(command: DeviceCommand, domain: Domain, before: Moment) {
    let [confirm, abandon]: [Waiting["confirm"], Waiting["abandon"]] = [() => {}, () => {}];
    const confirmed = new Promise<void>(
      (resolve, reject) => ([confirm, abandon] = [resolve, reject]),
    );
    const asked = Object.entries(command).map(([field, value]) => ({ field, value }));
    const waiting: Waiting = {
      entityId: before.entity.id,
      confirm,
      abandon,
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

  /** Ends all waiting: pending commands are rejected. */
  end(): void {
    const reason = "the bridge was reloaded before the device showed what was asked";
    for (const { abandon } of this.#waiting) abandon(new MantelError("deadline_passed", reason));
  }

  /** An entity is like this now. */
  see(now: Moment): void {
    for (const waiting of this.#waiting) {
      if (waiting.entityId === now.entity.id && waiting.isReached(now)) waiting.confirm();
    }
  }
}
