import type { Device, DeviceState, CommandBody } from "../device.ts";
import type { I18n } from "../i18n.ts";
import {
  bothWays,
  buttonsFor,
  canSet,
  type Look,
  type LookOf,
  theme,
  UNKNOWN,
  wordOf,
} from "./appearance.ts";

/** A cover: its position to drag, or buttons if it has none. */
export const coverLook: LookOf = (device, state, i18n) => {
  const { position, contact } = state;
  const moves = state.action === "opening" || state.action === "closing";
  const isOpen = typeof position === "number" ? position > 0 : contact === false;
  const look = { hue: theme("cool"), on: isOpen || moves, ...shown(state, moves, i18n) };
  const isDragged = canSet(device, "position") && !device.assumed;
  if (isDragged && typeof position === "number") {
    const tap = moves && canSet(device, "stop") ? { stop: true } : otherEnd(position);
    return { ...look, level: { field: "position", percent: position }, tap };
  }
  const buttons = isDragged ? [] : waysOf(device, state, i18n);
  return buttons.length > 0 ? { ...look, buttons } : { ...look, value: look.value || UNKNOWN };
};

const otherEnd = (position: number) => ({ position: position > 0 ? 0 : 100 });

function shown(
  { position, contact, action }: DeviceState,
  moves: boolean,
  i18n: I18n,
): Pick<Look, "value" | "unit"> {
  const { t, fmt } = i18n;
  if (typeof position === "number" && position > 0 && position < 100) {
    return { value: fmt.number(Math.round(position)), unit: "%" };
  }
  if (moves) return { value: wordOf(action, i18n) };
  const closed = typeof position === "number" ? position === 0 : contact;
  return { value: typeof closed === "boolean" ? t(closed ? "Closed" : "Open") : "" };
}

/** Open, stop and close. At the end of a way that is known, it goes no further. */
function waysOf(device: Device, { position }: DeviceState, i18n: I18n) {
  const buttons = buttonsFor(
    device,
    i18n,
    ["open", "Open fully", "arrow-up"],
    ["stop", "Stop", "stop"],
    ["close", "Close fully", "arrow-down"],
  ).map((button) => ({ ...button, disabled: !device.assumed && isAt(button.tap, position) }));
  if (buttons.length > 0 || !canSet(device, "position")) return buttons;
  return bothWays(
    "position",
    i18n,
    [100, "Open fully", "arrow-up"],
    [0, "Close fully", "arrow-down"],
  );
}

const isAt = ({ open, close }: CommandBody, position: unknown): boolean =>
  (open === true && position === 100) || (close === true && position === 0);

/** A valve that is open or closed, or that has a position. */
export const valveLook: LookOf = (device, state, i18n) => {
  if (canSet(device, "position") || !canSet(device, "on")) {
    const { on } = state;
    const known = typeof on === "boolean" ? { contact: !on } : {};
    return coverLook(device, { ...state, ...known }, i18n);
  }
  const on = state.on === true;
  const value = typeof state.on === "boolean" ? i18n.t(on ? "Open" : "Closed") : UNKNOWN;
  const look = { hue: theme("cool"), on, value };
  if (!device.assumed) return { ...look, tap: { on: !on } };
  const ways = bothWays(
    "on",
    i18n,
    [true, "Open fully", "valve-open"],
    [false, "Close fully", "valve-closed"],
  );
  return { ...look, buttons: ways };
};

/** A lock, which asks before it unlocks. With a code, which locking needs too, a tap opens its keypad. */
export const lockLook: LookOf = (device, { locked, jammed }, i18n) => {
  const look = lockState(locked, jammed, i18n);
  if (!canSet(device, "locked")) return look;
  if (device.capabilities.code) return { ...look, opens: true };
  if (device.assumed) {
    const buttons = bothWays(
      "locked",
      i18n,
      [true, "Lock", "lock"],
      [false, "Unlock", "lock-open-variant", ASK],
    );
    return { ...look, buttons };
  }
  return locked === true
    ? { ...look, tap: { locked: false }, ask: ASK }
    : { ...look, tap: { locked: true } };
};

const ASK = "Unlock?";

function lockState(locked: unknown, jammed: unknown, { t }: I18n): Look {
  if (jammed === true) return { hue: theme("alert"), on: true, value: t("Jammed") };
  if (locked === true) return { hue: theme("ok"), on: true, value: t("Locked") };
  return {
    hue: theme("warn"),
    on: locked === false,
    value: locked === false ? t("Unlocked") : UNKNOWN,
  };
}
