import assert from "node:assert/strict";
import type { DeviceCommand } from "@mantel/plugin-sdk";
import { confirmsAll } from "../../../plugins/home-assistant/confirmations.ts";
import { domainOf, viewOf } from "../../../plugins/home-assistant/convert.ts";
import type { TemperatureUnit } from "../../../plugins/home-assistant/domain.ts";
import type { Attributes, Entity } from "../../../plugins/home-assistant/entities.ts";
import { NO_GROUPS } from "../../../plugins/home-assistant/player-groups.ts";

/** An entity of a domain, without a Home Assistant. */
export function entity(domain: string, state: string, attributes: Attributes = {}): Entity {
  return { id: `${domain}.x`, domain, state, attributes };
}

function domainFor({ domain: name }: Entity) {
  const domain = domainOf(name);
  assert.ok(domain, name);
  return domain;
}

/** The device of an entity. */
export function view(of: Entity, unit: TemperatureUnit = "°C", groups = NO_GROUPS) {
  return viewOf(domainFor(of), of, unit, groups);
}

/** The capabilities of an entity with these attributes. */
export function capabilities(domain: string, attributes: Attributes = {}) {
  return view(entity(domain, "on", attributes)).capabilities;
}

/** The services that a command calls, with their data. */
export function calls(
  of: Entity,
  command: DeviceCommand,
  unit: TemperatureUnit = "°C",
  groups = NO_GROUPS,
) {
  const made = domainFor(of).calls?.(command, of, unit, groups) ?? [];
  return made.map(({ service, data }) => (data === undefined ? [service] : [service, data]));
}

/**
 * True if what an entity is now confirms a command that was given when it was `before`, once Home Assistant has
 * answered.
 */
export function isConfirmed(
  command: DeviceCommand,
  before: Entity,
  now: Entity,
  { isAnswered = true, groups = NO_GROUPS } = {},
): boolean {
  const momentOf = (of: Entity) => ({ entity: of, device: view(of, "°C", groups) });
  return confirmsAll(command, domainFor(now), momentOf(before))(momentOf(now), isAnswered);
}

/** True if Home Assistant's answer confirms a command, and nothing else does. */
export function isConfirmedByAnswer(command: DeviceCommand, of: Entity): boolean {
  return isConfirmed(command, of, of) && !isConfirmed(command, of, of, { isAnswered: false });
}
