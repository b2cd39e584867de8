import type { DeviceEvent, DeviceKind } from "@mantel/plugin-sdk";
import { choicesIn, textIn } from "./attributes.ts";
import { choice, commands, type Domain, TEXT } from "./domain.ts";
import type { Entity } from "./entities.ts";

/** `button` and `input_button`: its state is the time of the last press. */
export const button: Domain = {
  describe: () => ({ kind: "button", capabilities: commands({ press: true }), state: {} }),
  calls: (_, { domain }) => [{ service: `${domain}.press` }],
  confirms: (_, entity: Entity, before: Entity) => entity.state !== before.state,
};

const KINDS: Readonly<Record<string, DeviceKind>> = { doorbell: "doorbell", motion: "sensor" };

/** `event`: its state is the time of the last event. */
export const event: Domain = {
  describe({ attributes }) {
    const types = choicesIn(attributes, "event_types");
    const named = textIn(attributes, "device_class") ?? "";
    return {
      kind: Object.hasOwn(KINDS, named) ? (KINDS[named] ?? "button") : "button",
      capabilities: types.length === 0 ? { lastAction: TEXT } : choice("lastAction", types, true),
      state: { lastAction: textIn(attributes, "event_type") ?? null },
    };
  },
};

/** Attributes that are not details of an event. */
const COMMON = new Set([
  ...["event_type", "event_types", "device_class", "friendly_name", "icon", "attribution"],
  ...["supported_features", "assumed_state", "entity_picture", "restored"],
]);
const MOST_DETAILS = 20;
const DETAIL_NAME = /^[a-z][A-Za-z0-9]{0,63}$/;

/** The event that an entity tells of; `undefined` if it is invalid. */
export function eventOf({ attributes, state }: Entity): Omit<DeviceEvent, "nativeId"> | undefined {
  const type = textIn(attributes, "event_type");
  if (type === undefined || Number.isNaN(Date.parse(state))) return undefined;
  const details = Object.entries(attributes).flatMap(([name, value]) => {
    const ours = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    return !COMMON.has(name) && DETAIL_NAME.test(ours) && isDetail(value) ? [[ours, value]] : [];
  });
  const data = Object.fromEntries(details.slice(0, MOST_DETAILS)) as DeviceEvent["data"] & object;
  return { event: type.slice(0, 100), ...(details.length > 0 ? { data } : {}) };
}

function isDetail(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  return typeof value === "boolean" || (typeof value === "string" && value.length <= 200);
}

/** Tells new events from the last one, which an entity continues to show. */
export class EventTimes {
  readonly #states = new Map<string, string>();

  /** Takes the entities as they are. After a lost connection, what happened meanwhile is too old. */
  reset(entities: Iterable<Entity>): void {
    this.#states.clear();
    for (const { id, domain, state } of entities)
      if (domain === "event") this.#states.set(id, state);
  }

  /** True if a changed entity tells of an event that happened now. */
  isNew({ id, domain, state }: Entity): boolean {
    if (domain !== "event") return false;
    const before = this.#states.get(id);
    this.#states.set(id, state);
    // one that returns shows its last event again
    const wasThere = before !== undefined && before !== "unavailable";
    return wasThere && state !== "unavailable" && state !== before;
  }
}
