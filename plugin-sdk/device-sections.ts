import type {
  Capabilities,
  CommandBeyond,
  CommandBody,
  Device,
  DeviceCommand,
  DeviceDescription,
  DeviceKind,
  DeviceState,
  DeviceUpdate,
} from "./device.ts";
import { canonicalCapability, mergedCommand } from "./vocabulary/index.ts";

/** The key of the section with the device's own capabilities. */
export const OWN = "";
/** The key of the section with the extras. No part has this id. */
export const EXTRA = "extra";
/** A text that belongs to one command and is never shown. */
const CODE = "code";

/** Capabilities that are reported and commanded together: the device's own, those of one part, or the extras. */
export interface Section {
  /** `OWN`, the id of a part, or `EXTRA`. */
  readonly key: string;
  /** Extras have no kind. */
  readonly kind: DeviceKind | undefined;
  readonly capabilities: Capabilities;
  readonly state: DeviceState;
}

/** Values of a device by the key of their section. Sections without values are absent. */
export type BySection<Values> = ReadonlyMap<string, Values>;
export type SectionedCommand = BySection<DeviceCommand>;

/** The sections of a device: first its own, then its parts, then its extras. */
export function sectionsOf({
  kind,
  capabilities,
  state,
  parts = [],
  extra,
}: Pick<DeviceDescription, "kind" | "capabilities" | "state" | "parts" | "extra">): Section[] {
  return [
    { key: OWN, kind, capabilities, state },
    ...parts.map((part) => ({ ...part, key: part.id })),
    ...(extra ? [{ ...extra, key: EXTRA, kind: undefined }] : []),
  ];
}

/** The capability of a section; `undefined` if it has none of this name. Names are untrusted. */
export function capabilityOf({ capabilities }: Pick<Section, "capabilities">, name: string) {
  return Object.hasOwn(capabilities, name) ? capabilities[name] : undefined;
}

/** True if a capability is part of the state: commands without state and codes are not. */
export function hasState({ kind, capabilities }: Omit<Section, "key" | "state">, name: string) {
  const type = capabilityOf({ capabilities }, name)?.type;
  if (type !== "text" || kind === undefined) return type !== undefined && type !== "command";
  return canonicalCapability(kind, name)?.access !== "command";
}

/**
 * Two commands as one. Of fields that contradict each other the later one is sent (`mergedCommand`). Extras are names of
 * a brand, so they do not contradict each other.
 */
export function mergedCommands(earlier: SectionedCommand, later: SectionedCommand) {
  if (earlier.size === 0) return later;
  const merged = new Map(earlier);
  for (const [key, command] of later) {
    const before = merged.get(key) ?? {};
    merged.set(key, key === EXTRA ? { ...before, ...command } : mergedCommand(before, command));
  }
  return merged;
}

/** A command as clients see it: without codes. */
export function bodyOf(command: SectionedCommand): CommandBody {
  const { parts, extra } = beyondOf(command);
  const shown = Object.entries(parts).map(([id, values]) => [id, withoutCode(values)]);
  return {
    ...withoutCode(command.get(OWN) ?? {}),
    ...(shown.length > 0 ? { parts: Object.fromEntries(shown) } : {}),
    ...(command.has(EXTRA) ? { extra } : {}),
  };
}

/** The part of a command that is for the parts and the extras. */
export function beyondOf(command: SectionedCommand): CommandBeyond {
  const parts = [...command].filter(([key]) => key !== OWN && key !== EXTRA);
  return { parts: Object.fromEntries(parts), extra: command.get(EXTRA) ?? {} };
}

/** The values of a command that become part of the device's state, by section. */
export function statesOfCommand(device: Device, command: SectionedCommand): BySection<DeviceState> {
  if (command.size === 0) return command;
  const states = new Map<string, DeviceState>();
  for (const section of sectionsOf(device)) {
    const values = Object.entries(command.get(section.key) ?? {});
    const shown = values.filter(([name]) => hasState(section, name));
    if (shown.length > 0) states.set(section.key, Object.fromEntries(shown));
  }
  return states;
}

/**
 * A confirmed command with the numbers that the device reports in place of those that it was sent: devices round, and
 * stop a little beside a position. What is still on its way, and what was not reported since `before`, stays as sent.
 */
export function withReported(
  command: SectionedCommand,
  before: Device,
  now: Device,
): SectionedCommand {
  const statesBefore = new Map(sectionsOf(before).map(({ key, state }) => [key, state]));
  const reported = new Map(command);
  for (const { key, state } of sectionsOf(now)) {
    const sent = command.get(key);
    if (!sent || MOVING.has(state["action"])) continue;
    const numbers = Object.entries(sent).flatMap(([name, value]) => {
      const told = state[name];
      const isReported = typeof told === "number" && told !== statesBefore.get(key)?.[name];
      return typeof value === "number" && isReported ? [[name, told] as const] : [];
    });
    reported.set(key, { ...sent, ...Object.fromEntries(numbers) });
  }
  return reported;
}

const MOVING = new Set<unknown>(["opening", "closing"]);

/** The values of an update by section. */
export function statesOf({ state, parts = {}, extra }: DeviceUpdate): BySection<DeviceState> {
  return new Map([
    ...(state ? [[OWN, state] as const] : []),
    ...Object.entries(parts),
    ...(extra ? [[EXTRA, extra] as const] : []),
  ]);
}

/** The fields of a device after its states have changed. Absent values stay. */
export function withStates(device: Device, changes: BySection<DeviceState>): Partial<Device> {
  const changed = (key: string, state: DeviceState) => {
    const change = changes.get(key);
    return { state: change ? { ...state, ...change } : state };
  };
  const { state, parts, extra } = device;
  return {
    ...changed(OWN, state),
    ...(parts && { parts: parts.map((part) => ({ ...part, ...changed(part.id, part.state) })) }),
    ...(extra && { extra: { ...extra, ...changed(EXTRA, extra.state) } }),
  };
}

/** The fields of a device with these pending values, instead of the previous ones. */
export function withPending(
  { parts, extra }: Device,
  values: BySection<DeviceState>,
): Partial<Device> {
  const pendingOf = (key: string) => ({ pending: values.get(key) ?? {} });
  return {
    ...pendingOf(OWN),
    ...(parts && { parts: parts.map((part) => ({ ...part, ...pendingOf(part.id) })) }),
    ...(extra && { extra: { ...extra, ...pendingOf(EXTRA) } }),
  };
}

function withoutCode(values: DeviceCommand): DeviceCommand {
  if (!Object.hasOwn(values, CODE)) return values;
  const { [CODE]: _secret, ...shown } = values;
  return shown;
}
