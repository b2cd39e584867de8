import { commandable, faultsBelow, faultsOfCommand } from "./capability.ts";
import {
  capabilityOf,
  hasState,
  EXTRA,
  OWN,
  type Section,
  type SectionedCommand,
  sectionsOf,
} from "./device-sections.ts";
import type { Device, DeviceCommand, DeviceExtra, DevicePart } from "./device.ts";
import type { Fault } from "./errors.ts";
import { invalid } from "./validate.ts";

type Commanded = Pick<Device, "kind" | "capabilities" | "state" | "parts" | "extra">;

/**
 * Parses a command for the bridge. A brightness of 0 becomes `on: false`, which
 * keeps the level; one above 0 turns on unless the body sets `on`. In a part the same holds for the part.
 *
 * @throws MantelError `invalid`, with every fault; a value out of range is never clamped
 */
export function parseCommand(device: Device, body: unknown): SectionedCommand {
  const faults = faultsOfBody(device, body);
  if (faults.length > 0) throw invalid(`the command to ${device.id}`, faults);
  const { parts, extra, ...own } = body as Omit<Body, "own"> & DeviceCommand;
  const command = new Map<string, DeviceCommand>();
  for (const section of sectionsOf(device)) {
    const values = valuesOf(section.key, { own, parts, extra });
    if (Object.keys(values).length === 0) continue;
    command.set(section.key, canTurnOn(section) ? withSwitch(values) : values);
  }
  return command;
}

/** The faults of a body as a command to the device. */
function faultsOfBody(device: Commanded, body: unknown): Fault[] {
  if (!isObject(body)) return notAnObject('{"on": true}');
  const { parts = {}, extra = {}, ...own } = body as Partial<Record<string, unknown>>;
  const faults = [
    ...faultsOfCommand(device.capabilities, own, { ...DEVICE_WORDS, others: addressesOf(device) }),
    ...faultsBelow("parts", faultsOfParts(device.parts ?? [], parts)),
    ...faultsBelow(EXTRA, faultsOfExtra(device.extra, extra)),
  ];
  if (faults.length > 0 || hasFields([own, extra, ...Object.values(parts ?? {})])) {
    return faults;
  }
  return [{ pointer: "", detail: "must have at least one capability of the device" }];
}

/** The faults of a body as a command that is stored, such as that of a scene: it has no code. */
export function faultsOfStored(device: Device, body: unknown): Fault[] {
  const faults = faultsOfBody(device, body);
  if (faults.length > 0) return faults;
  const { parts = {}, ...own } = body as Omit<Body, "own"> & DeviceCommand;
  const ofParts = (device.parts ?? []).flatMap((part) =>
    faultsBelow(part.id, codesIn(part, Object.hasOwn(parts, part.id) ? parts[part.id] : {})),
  );
  return [...codesIn(device, own), ...faultsBelow("parts", ofParts)];
}

function codesIn(
  { kind, capabilities }: Pick<Section, "kind" | "capabilities">,
  command: object = {},
) {
  return Object.keys(command).flatMap((name): Fault[] => {
    const isCode =
      capabilityOf({ capabilities }, name)?.type === "text" &&
      !hasState({ kind, capabilities }, name);
    return isCode ? [{ pointer: `/${name}`, detail: "is a code, which is never stored" }] : [];
  });
}

const DEVICE_WORDS = { one: "a capability of the device", none: "the device takes no commands" };
const PART_WORDS = { one: "a capability of the part", none: "the part takes no commands" };
const EXTRA_WORDS = { one: "an extra of the device", none: "the device has no extras to set" };

interface Body {
  readonly own: DeviceCommand;
  readonly parts?: Readonly<Record<string, DeviceCommand>> | undefined;
  readonly extra?: DeviceCommand | undefined;
}

/** The fields of a command that are for one section. */
function valuesOf(key: string, { own, parts = {}, extra = {} }: Body): DeviceCommand {
  if (key === OWN) return own;
  if (key === EXTRA) return extra;
  return (Object.hasOwn(parts, key) ? parts[key] : undefined) ?? {};
}

const hasFields = (values: readonly unknown[]) =>
  values.some((each) => isObject(each) && Object.keys(each).length > 0);

function faultsOfParts(parts: readonly DevicePart[], commands: unknown): Fault[] {
  if (!isObject(commands)) return notAnObject('{"light": {"on": true}}');
  return Object.entries(commands).flatMap(([id, command]) => {
    const part = parts.find((each) => each.id === id);
    return faultsBelow(id, part ? faultsOfPart(part, command) : unknownPart(parts));
  });
}

function faultsOfPart({ capabilities }: DevicePart, command: unknown): Fault[] {
  if (!isObject(command)) return notAnObject('{"on": true}');
  return faultsOfCommand(capabilities, command, PART_WORDS);
}

function faultsOfExtra(extra: DeviceExtra | undefined, command: unknown): Fault[] {
  if (!isObject(command)) return notAnObject('{"childLock": true}');
  return faultsOfCommand(extra?.capabilities ?? {}, command, EXTRA_WORDS);
}

function unknownPart(parts: readonly DevicePart[]): Fault[] {
  const choices = parts.map(({ id }) => id).join(", ");
  const known = choices === "" ? "the device has no parts" : `its parts are ${choices}`;
  return [{ pointer: "", detail: `is not a part of the device; ${known}` }];
}

/** The names of what a command can set besides the device's own capabilities. */
function addressesOf({ parts = [], extra }: Commanded): string[] {
  return [
    ...parts.map(({ id }) => `parts.${id}`),
    ...commandable(extra?.capabilities ?? {}).map((name) => `extra.${name}`),
  ];
}

function notAnObject(example: string): Fault[] {
  return [{ pointer: "", detail: `must be an object, such as ${example}` }];
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function canTurnOn(section: Section): boolean {
  const on = section.key === EXTRA ? undefined : capabilityOf(section, "on");
  return on?.type === "boolean" && !on.readOnly;
}

function withSwitch(command: DeviceCommand): DeviceCommand {
  const { brightness, ...rest } = command;
  if (brightness === undefined) return command;
  return brightness === 0 ? { ...rest, on: false } : { on: true, ...command };
}
