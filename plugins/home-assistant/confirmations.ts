import type { Capability, DeviceCommand } from "@mantel/plugin-sdk";
import { hasReached, type Told } from "./convert.ts";
import { type Asked, type Domain, isAssumed } from "./domain.ts";
import type { Entity } from "./entities.ts";

/** An entity, with its device, at one moment. */
export interface Moment {
  readonly entity: Entity;
  /** Absent for a scene, which is not a device. */
  readonly device?: Told | undefined;
}

/**
 * Returns a function that is true for a moment at which the entity shows everything that was requested. Home
 * Assistant answers a service call with success also when nothing has happened, so its answer confirms only what no
 * state shows, and devices that never report.
 */
export function confirmsAll(
  command: DeviceCommand,
  domain: Domain,
  before: Moment,
): (now: Moment, isAnswered: boolean) => boolean {
  const asked = Object.entries(command).map(([field, value]) => ({ field, value }));
  return (now, isAnswered) => {
    if (isAnswered && isAssumed(now.entity)) return true;
    return asked.every((one) => {
      const confirmation = confirmationOf(one, domain, before, now);
      return confirmation === "answered" ? isAnswered : confirmation;
    });
  };
}

function confirmationOf(asked: Asked, domain: Domain, before: Moment, now: Moment) {
  const { field } = asked;
  if (domain.stored?.includes(field)) return "answered";
  const known = domain.confirms?.(asked, now.entity, before.entity);
  if (known !== undefined) return known;
  if (capabilityOf(now.device, field)?.type === "command") return "answered";
  return hasReached(asked, valuesOf(now.device), valuesOf(before.device));
}

function capabilityOf(device: Told | undefined, field: string): Capability | undefined {
  return device?.capabilities[field] ?? device?.extra?.capabilities[field];
}

const valuesOf = (device: Told | undefined) => ({ ...device?.state, ...device?.extra?.state });
