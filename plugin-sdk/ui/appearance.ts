import type { Device, DeviceState, CommandBody } from "../device.ts";
import type { I18n } from "../i18n.ts";

/** The appearance of a device's tile, and its actions. Texts are in the home's language. */
export interface Look {
  /** A CSS hue: degrees, or a theme variable. */
  readonly hue: string;
  readonly on: boolean;
  readonly value: string;
  readonly unit?: string;
  /** The level that dragging changes. `percent` is its current value, 0 to 100. */
  readonly level?: { readonly field: string; readonly percent: number; readonly step?: number };
  /** The progress of a running program, 0 to 100. */
  readonly progress?: number;
  readonly tap?: CommandBody;
  /** True if a tap opens the details, such as for a code. */
  readonly opens?: boolean;
  /** The question at the first tap, in English, for actions that need a second tap, such as unlocking. */
  readonly ask?: string;
  /** Buttons, which make the tile two cells wide, and texts between them. */
  readonly buttons?: readonly (TileButton | string)[];
  /** A few words behind the name of a wide tile, such as "heats to 21°". */
  readonly note?: string;
}

/** A button on a tile. Without an icon it shows its name. */
export interface TileButton {
  readonly icon?: `mdi:${string}`;
  readonly name: string;
  readonly tap: CommandBody;
  /** As for a look. */
  readonly opens?: boolean;
  /** As for a look. */
  readonly ask?: string;
  /** For a button that stays pressed. */
  readonly pressed?: boolean;
  readonly disabled?: boolean;
}

/** Draws one kind of device. `state` includes the pending values. */
export type LookOf = (device: Device, state: DeviceState, i18n: I18n) => Look;

export const UNKNOWN = "–";

export const theme = (name: string): string => `var(--mantel-hue-${name})`;

/** True if a command can set the field. */
export function canSet({ capabilities }: Pick<Device, "capabilities">, field: string): boolean {
  const capability = capabilities[field];
  return capability !== undefined && capability.readOnly !== true;
}

/** A value of the vocabulary as a word of the home's language, such as "Heat" for `heat`. */
export function wordOf(value: unknown, { t }: Pick<I18n, "t">): string {
  if (typeof value !== "string" || value === "") return UNKNOWN;
  return t((value.charAt(0).toUpperCase() + value.slice(1)).replaceAll("-", " "));
}

/** The buttons of the commands that the device has. */
export function buttonsFor(
  device: Device,
  { t }: I18n,
  ...offered: readonly (readonly [field: string, name: string, icon: string])[]
): TileButton[] {
  return offered
    .filter(([field]) => canSet(device, field))
    .map(([field, name, icon]) => ({ icon: `mdi:${icon}`, name: t(name), tap: { [field]: true } }));
}

/** Both directions of a setting whose state is only assumed. */
export function bothWays(
  field: string,
  { t }: I18n,
  ...ways: readonly (readonly [
    value: boolean | number,
    name: string,
    icon: string,
    ask?: string | undefined,
  ])[]
): TileButton[] {
  return ways.map(([value, name, icon, ask]) => ({
    icon: `mdi:${icon}`,
    name: t(name),
    tap: { [field]: value },
    ...(ask === undefined ? {} : { ask }),
  }));
}
