import type {
  Capability,
  CommandBeyond,
  DeviceCommand,
  DeviceDescription,
  DeviceState,
  DeviceUpdate,
  StateValue,
} from "@mantel/plugin-sdk";
import type { Feature } from "./feature.ts";

type Fields = Readonly<Record<string, StateValue>>;

/** The values of a device, of its parts by their ids, and of its extras. */
export interface States {
  readonly state: Record<string, StateValue>;
  readonly parts: Record<string, Record<string, StateValue>>;
  readonly extra: Record<string, StateValue>;
}

export const noStates = (): States => ({ state: {}, parts: {}, extra: {} });

type Place = Pick<Feature, "part" | "group">;

/** The values at the place of a capability. */
export function fieldsAt({ state, parts, extra }: States, { part, group }: Place): Fields {
  if (group !== undefined) return extra;
  return part === undefined ? state : (parts[part] ?? {});
}

/** Sets values at the place of a capability. */
export function setFields(states: States, { part, group }: Place, fields: Fields): void {
  if (group !== undefined) Object.assign(states.extra, fields);
  else if (part === undefined) Object.assign(states.state, fields);
  else states.parts[part] = Object.assign(states.parts[part] ?? {}, fields);
}

/** The states with all values of `news` changed. */
export function merged(states: States, news: States): States {
  const parts = Object.entries(news.parts).map(
    ([id, fields]) => [id, { ...states.parts[id], ...fields }] as const,
  );
  return {
    state: { ...states.state, ...news.state },
    parts: { ...states.parts, ...Object.fromEntries(parts) },
    extra: { ...states.extra, ...news.extra },
  };
}

/** The states in a description. */
export function statesIn({ state, parts = [], extra }: DeviceDescription): States {
  return {
    state: { ...state },
    parts: Object.fromEntries(parts.map((part) => [part.id, { ...part.state }])),
    extra: { ...extra?.state },
  };
}

/** A description with these states. */
export function described<D extends Pick<DeviceDescription, "parts" | "extra">>(
  description: D,
  states: States,
): D & { readonly state: DeviceState } {
  const { parts, extra } = description;
  const filled = parts?.map((part) => ({ ...part, state: states.parts[part.id] ?? {} }));
  return {
    ...description,
    state: states.state,
    ...(filled ? { parts: filled } : {}),
    ...(extra ? { extra: { ...extra, state: states.extra } } : {}),
  };
}

/** An update with these values; parts and extras only if there are some. */
export function updateOf(states: States): Pick<DeviceUpdate, "state" | "parts" | "extra"> {
  return {
    state: states.state,
    ...(Object.keys(states.parts).length > 0 ? { parts: states.parts } : {}),
    ...(Object.keys(states.extra).length > 0 ? { extra: states.extra } : {}),
  };
}

/** The values that the capabilities of a device permit. */
export function fittingStates(states: States, features: readonly Feature[]): States {
  const fitting = noStates();
  for (const feature of features) {
    const value = fieldsAt(states, feature)[feature.name];
    const isFitting = value !== undefined && fits(feature.capability, value);
    if (isFitting) setFields(fitting, feature, { [feature.name]: value });
  }
  return fitting;
}

/** The value for a capability in a command. */
export function requestedValue(
  { name, part, group }: Feature,
  command: DeviceCommand,
  { parts, extra }: CommandBeyond,
): DeviceCommand[string] | undefined {
  const fields = group !== undefined ? extra : part === undefined ? command : (parts[part] ?? {});
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** True if a previous value is valid for the current capability. */
function fits(capability: Capability, value: StateValue): boolean {
  if (value === null) return false;
  if (capability.type === "choice") return capability.values.some((each) => each === value);
  if (capability.type !== "number") return typeof value === TYPES[capability.type];
  const { min = -Infinity, max = Infinity } = capability;
  return typeof value === "number" && value >= min && value <= max;
}

const TYPES = { boolean: "boolean", color: "object", text: "string", command: "none" } as const;
