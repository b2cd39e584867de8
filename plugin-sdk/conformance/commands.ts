import type { DeviceCommand, DeviceState, StateValue } from "../device.ts";
import { canonicalCapability, type Outcome } from "../vocabulary/index.ts";
import type { DeviceFunction } from "./device-function.ts";
import type { DeviceSession } from "./device-session.ts";

type Get = () => DeviceFunction;
/** Sends a command between two looks at the other functions of the device. Resolves with true if it is confirmed. */
type Watch = (name: string, send: () => Promise<boolean>) => Promise<boolean>;

/** Commands that have to come before a command, so that its result can be seen. A device has one of the fields. */
const BEGINNINGS: Readonly<Record<string, readonly DeviceCommand[]>> = {
  open: [{ close: true }],
  close: [{ open: true }],
  stop: [{ start: true }, { open: true }],
  pause: [{ start: true }],
  dock: [{ start: true }],
  unlatch: [{ locked: true }],
  next: [{ playback: "playing" }],
  previous: [{ playback: "playing" }],
};

/** Sends each command without state, and looks that the device shows where it leads. */
export async function checkCommands(session: DeviceSession, of: Get, watch: Watch): Promise<void> {
  for (const [name, { type }] of Object.entries(of().capabilities)) {
    if (type !== "command" || session.isExplained("except", `${of().path}${name}`)) continue;
    await begin(session, of, name);
    const before = { ...of().state };
    const send = () => session.confirms(of(), name, { [name]: true });
    if (await watch(name, send)) await checkOutcome(session, of, name, before);
  }
}

async function begin(session: DeviceSession, of: Get, name: string): Promise<void> {
  const { path, capabilities } = of();
  const first = BEGINNINGS[name]?.find((command) =>
    Object.keys(command).every(
      (field) =>
        Object.hasOwn(capabilities, field) &&
        capabilities[field]?.readOnly !== true &&
        !session.isExplained("except", `${path}${field}`),
    ),
  );
  if (first && (await session.confirms(of(), Object.keys(first).join(), first))) {
    await session.bridge.settle?.(session.nativeId);
  }
}

async function checkOutcome(
  session: DeviceSession,
  of: Get,
  name: string,
  before: DeviceState,
): Promise<void> {
  const outcome = canonicalCapability(of().kind, name)?.leadsTo ?? {};
  const fields = Object.keys(outcome).filter((field) => Object.hasOwn(of().capabilities, field));
  if (fields.length === 0) return session.note(of(), name, "sent");
  const isShown = () =>
    fields.some((field) => isReached(outcome[field], before[field], of().state[field] ?? null));
  if (await session.eventually(isShown)) return session.note(of(), name, "set");
  const shown = fields.map((field) => [field, of().state[field] ?? null] as const);
  if (shown.every(([, value]) => value === null)) return session.note(of(), name, "sent");
  const expected = fields.map((field) => `${field} ${inWords(outcome[field])}`).join(" or ");
  session.fault(
    `${of().path}${name}`,
    `that in the end ${expected}`,
    JSON.stringify(Object.fromEntries(shown)),
  );
}

function isReached(
  wanted: Outcome[string] | undefined,
  before: StateValue | undefined,
  now: StateValue,
): boolean {
  if (now === null || wanted === undefined) return false;
  return wanted === true ? now !== before : wanted.includes(now);
}

const inWords = (wanted: Outcome[string] | undefined): string =>
  wanted === true || !wanted
    ? "changes"
    : `is ${wanted.map((value) => JSON.stringify(value)).join(" or ")}`;
