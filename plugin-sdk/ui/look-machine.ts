import type { DeviceState } from "../device.ts";
import type { I18n } from "../i18n.ts";
import {
  buttonsFor,
  canSet,
  type LookOf,
  theme,
  type TileButton,
  UNKNOWN,
  wordOf,
} from "./appearance.ts";

const WORKS = ["cleaning", "mowing", "returning"];

/** A robot that cleans or mows. */
export const robotLook: LookOf = (device, { action, battery }, i18n) => {
  const works = typeof action === "string" && WORKS.includes(action);
  const start = works && action !== "returning";
  const pause = canSet(device, "pause") ? "pause" : "stop";
  const buttons = buttonsFor(
    device,
    i18n,
    start ? ([pause, "Pause", "pause"] as const) : (["start", "Start", "play"] as const),
    ["dock", "To the dock", "home-import-outline"],
  );
  return {
    hue: theme(action === "error" ? "alert" : "ok"),
    on: works || action === "error",
    value: wordOf(action, i18n),
    ...(typeof battery === "number" ? { note: i18n.fmt.unit(battery, "percent") } : {}),
    buttons: buttons.map((button) =>
      button.tap["dock"] && action === "docked" ? { ...button, disabled: true } : button,
    ),
  };
};

const ARMED: readonly (readonly [mode: string, icon: `mdi:${string}`])[] = [
  ["home", "mdi:shield-home"],
  ["away", "mdi:shield-lock"],
  ["night", "mdi:shield-moon"],
  ["vacation", "mdi:shield-airplane"],
];
/** As many modes as a tile has room for. */
const MOST_MODES = 3;

/** An alarm system. One that wants a code has a button for its keypad. */
export const alarmLook: LookOf = (device, state, i18n) => {
  const { mode } = state;
  const known = mode === "disarmed" ? "disarmed" : typeof mode === "string" ? "armed" : undefined;
  const status = typeof state.status === "string" ? state.status : known;
  return {
    hue: theme(status === "triggered" ? "alert" : status === "armed" ? "ok" : "warn"),
    on: status !== "disarmed" && status !== undefined,
    value: wordOf(status, i18n),
    buttons: device.capabilities.code ? [keypad(i18n)] : modes(device, status, i18n),
    ...(known === "armed" && status !== "disarmed" ? { note: wordOf(mode, i18n) } : {}),
  };
};

const keypad = ({ t }: I18n): TileButton => ({
  icon: "mdi:dialpad",
  name: t("Code"),
  tap: {},
  opens: true,
});

function modes(
  device: Parameters<LookOf>[0],
  status: string | undefined,
  i18n: I18n,
): readonly TileButton[] {
  const { mode } = device.capabilities;
  if (mode?.type !== "choice" || !canSet(device, "mode")) return [];
  if (status !== "disarmed") {
    const name = i18n.t("Disarm");
    return [{ icon: "mdi:shield-off", name, tap: { mode: "disarmed" }, ask: "Disarm?" }];
  }
  return ARMED.filter(([name]) => mode.values.includes(name))
    .slice(0, MOST_MODES)
    .map(([name, icon]) => ({ icon, name: wordOf(name, i18n), tap: { mode: name } }));
}

/** Something to press. */
export const buttonLook: LookOf = (device, { lastAction }, i18n) => ({
  hue: theme("info"),
  on: false,
  ...(canSet(device, "press")
    ? { value: i18n.t("Press"), tap: { press: true } }
    : { value: wordOf(lastAction, i18n) }),
});

/** Installed and latest version, and a button that asks before it installs. */
export const updateLook: LookOf = (device, state, i18n) => {
  const { progress } = state;
  const on = isAvailable(state);
  const name = i18n.t("Install");
  const install = { name, tap: { install: true }, ask: "Install?" };
  const runs = typeof progress === "number";
  return {
    hue: theme("info"),
    on: on === true || runs,
    buttons: on && !runs && canSet(device, "install") ? [install] : [],
    note: versions(state, on === true),
    ...(runs
      ? { value: i18n.fmt.unit(progress, "percent"), progress }
      : { value: on === undefined ? UNKNOWN : i18n.t(on ? "Update" : "Up to date") }),
  };
};

function isAvailable(state: DeviceState): boolean | undefined {
  const { updateAvailable, installedVersion: installed, latestVersion: latest } = state;
  if (typeof updateAvailable === "boolean") return updateAvailable;
  return installed && latest ? installed !== latest : undefined;
}

function versions({ installedVersion, latestVersion }: DeviceState, both: boolean): string {
  const shown = [installedVersion, ...(both ? [latestVersion] : [])];
  return shown.filter((version) => typeof version === "string").join(" → ");
}
