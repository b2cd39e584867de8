import type { DeviceCommand, DeviceState } from "@mantel/plugin-sdk";
import { hasReached } from "./convert.ts";
import type { Domain } from "./domain.ts";
import type { Entity } from "./entities.ts";

/** An entity, with the state of its device, at one moment. */
export interface Moment {
  readonly entity: Entity;
  readonly state: DeviceState;
}

/**
 * Returns a function that is true for a moment at which the entity shows everything that was requested. Home
 * Assistant answers a service call with success also when nothing has happened, so its answer alone confirms nothing.
 */
export function confirmsAll(
  command: DeviceCommand,
  domain: Domain,
  before: Moment,
): (now: Moment) => boolean {
  const asked = Object.entries(command).map(([field, value]) => ({ field, value }));
  return (now) =>
    asked.every(
      (one) =>
        domain.confirms?.(one, now.entity, before.entity) ??
        hasReached(one, now.state, before.state),
    );
}
