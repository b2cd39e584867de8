import type {
  Capabilities,
  CommandBody,
  Device,
  DeviceCommand,
  DevicePart,
} from "@mantel/plugin-sdk/device";
import { capturedCommand } from "@mantel/plugin-sdk/scene-capture";
import { mergeCommands } from "../merge-commands.ts";
import { capabilityText, valueText } from "./device-words.ts";
import { formatPercent } from "./figures.ts";
import { words } from "./words.ts";

/** A command without state that a scene can send, such as `open`. */
export interface StatelessCommand {
  readonly key: string;
  readonly name: string;
  readonly body: CommandBody;
}

type Section = Pick<Device, "capabilities"> & Partial<Pick<DevicePart, "id" | "name">>;

/** The commands without state of a device and its parts. */
export function statelessCommands(device: Device): StatelessCommand[] {
  const sections: readonly Section[] = [
    { capabilities: device.capabilities },
    ...(device.parts ?? []),
  ];
  return sections.flatMap(({ id, name, capabilities }) =>
    Object.entries(capabilities)
      .filter(([, { type }]) => type === "command")
      .map(([field]) => {
        const word = capabilityText(field);
        const own = { [field]: true };
        return id === undefined
          ? { key: field, name: word, body: own }
          : { key: `${id} ${field}`, name: `${name}: ${word}`, body: { parts: { [id]: own } } };
      }),
  );
}

/** The settings of a device as they are now, with one command without state. */
export function captured(device: Device, key: string | undefined): CommandBody {
  const chosen = statelessCommands(device).find((each) => each.key === key);
  const settings = capturedCommand(device);
  return chosen ? mergeCommands(settings, chosen.body) : settings;
}

/** The command without state in the target of a scene; `undefined` if there is none. */
export function commandIn(device: Device, target: CommandBody): string | undefined {
  const { parts = {} } = target as { parts?: Readonly<Record<string, DeviceCommand>> };
  return statelessCommands(device).find(({ key }) => {
    const [field = "", part] = key.split(" ").toReversed();
    const values = part === undefined ? target : (parts[part] ?? {});
    return Object.hasOwn(values, field);
  })?.key;
}

/** A target of a scene in words, such as "On · Brightness: 62 %". */
export function targetText(device: Device | undefined, target: CommandBody): string {
  const { parts = {}, extra = {}, ...own } = target as Target;
  const ofParts = Object.entries(parts).map(([id, values]) => {
    const part = device?.parts?.find((each) => each.id === id);
    return `${part?.name ?? id}: ${textOf(part?.capabilities, values)}`;
  });
  const texts = [
    textOf(device?.capabilities, own as DeviceCommand),
    ...ofParts,
    textOf(device?.extra?.capabilities, extra),
  ];
  return texts.filter((text) => text !== "").join("; ");
}

interface Target {
  readonly parts?: Readonly<Record<string, DeviceCommand>>;
  readonly extra?: DeviceCommand;
  readonly [field: string]: unknown;
}

function textOf(capabilities: Capabilities = {}, values: DeviceCommand): string {
  const texts = Object.entries(values).map(([field, value]) => {
    const name = capabilityText(field);
    const capability = capabilities[field];
    if (capability?.type === "command") return name;
    if (field === "on") return value === true ? name : valueText("off");
    return `${name}: ${shownValue(value, capability?.type === "number" ? capability.unit : "")}`;
  });
  return texts.join(" · ");
}

function shownValue(value: DeviceCommand[string], unit = ""): string {
  if (typeof value === "boolean") return value ? words.value.yes : words.value.no;
  if (typeof value === "string") return valueText(value);
  // a fan of three speeds has 33.333 percent
  if (unit === "%" && typeof value === "number") return formatPercent(Math.round(value));
  if (typeof value === "number") return `${Math.round(value * 100) / 100} ${unit}`.trimEnd();
  return `${Math.round(value.hue)}° ${formatPercent(Math.round(value.saturation))}`;
}
