import { setImmediate } from "node:timers/promises";
import {
  historyLogbook,
  historyReadings,
  MantelError,
  type PluginContext,
} from "@mantel/plugin-sdk";
import type { Automation, EngineDevice, EngineHome } from "./engine/automation.ts";
import { demoDays } from "./engine/demo-day.ts";
import type { AutomationDocument, Condition, Trigger } from "./engine/document.ts";
import { toAutomation } from "./engine/perform-actions.ts";
import { type Happening, simulate, type Simulated } from "./engine/simulate.ts";
import { valueOf, withValue } from "./engine/values.ts";
import { devicesIn, partsOf } from "./parse-document.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const LONGEST_MS = 31 * DAY_MS;
const POINTS = 2_000;
/** Work without a pause, so that running automations do not wait. */
const SLICE_MS = 8;

export interface SimulationRequest {
  readonly document: AutomationDocument;
  readonly id: string;
  /** The automation of a file, whose `document` has no actions. */
  readonly code?: { readonly automation: Automation; readonly devices: readonly string[] };
  readonly from?: string;
  readonly to?: string;
  readonly source?: "recorded" | "demo";
}

interface Home extends Pick<EngineHome, "timeZone" | "coordinates"> {
  readonly devices: readonly EngineDevice[];
}

/** A value that a field really had. */
interface Recorded {
  readonly at: string;
  readonly device: string;
  readonly field: string;
  readonly value: unknown;
}

/**
 * Simulates one automation in the home of the past, or in one that is made up.
 * @throws MantelError `invalid` for a wrong span, `service_unavailable` without a recorder
 */
export async function simulateDocument(
  { document, id, code, source = "recorded", ...span }: SimulationRequest,
  home: Home,
  call: PluginContext<unknown, unknown>["call"],
): Promise<
  Simulated & { from: string; to: string; source: "recorded" | "demo"; recorded: Recorded[] }
> {
  const { from, to } = parseSpan(span);
  const named = new Set([...devicesIn(document), ...(code?.devices ?? [])]);
  const hasPresence = JSON.stringify(document).includes('"type":"presence"');
  const devices = home.devices.filter(
    (device) => named.has(device.id) || (hasPresence && device.kind === "tracker"),
  );
  const past =
    source === "demo"
      ? {
          happenings: demoDays({ fields: fieldsOf(document, devices), from, to, ...home }),
          devices,
          recorded: [],
        }
      : await readPast({ document, devices, from, to }, call);
  const result = await simulate({
    automations: [code?.automation ?? toAutomation(id, document)],
    ...home,
    ...past,
    from,
    to,
    breathe: inSlices(),
  });
  const iso = (instant: number) => new Date(instant).toISOString();
  return { from: iso(from), to: iso(to), source, ...result, recorded: past.recorded };
}

function parseSpan({ from, to }: Pick<SimulationRequest, "from" | "to">): {
  from: number;
  to: number;
} {
  const end = to === undefined ? Date.now() : Date.parse(to);
  const start = from === undefined ? end - DAY_MS : Date.parse(from);
  if (start < end && end - start <= LONGEST_MS) return { from: start, to: end };
  const detail = "must be before `to`, and at most 31 days";
  throw new MantelError("invalid", `the span is invalid: /from ${detail}`, {
    errors: [{ pointer: "/from", detail }],
  });
}

/** The fields that triggers and conditions look at. */
function fieldsOf(
  document: AutomationDocument,
  devices: readonly EngineDevice[],
): { readonly device: EngineDevice; readonly field: string }[] {
  const watched = partsOf(document).filter(
    (part): part is Extract<Trigger | Condition, { type: "state" }> => part.type === "state",
  );
  const keys = new Set(watched.map(({ device, field }) => `${device}\n${field}`));
  for (const { id, kind } of devices) if (kind === "tracker") keys.add(`${id}\nhome`);
  return [...keys].flatMap((key) => {
    const [id, field = ""] = key.split("\n");
    const device = devices.find((each) => each.id === id);
    return device ? [{ device, field }] : [];
  });
}

async function readPast(
  given: {
    readonly document: AutomationDocument;
    readonly devices: readonly EngineDevice[];
    readonly from: number;
    readonly to: number;
  },
  call: PluginContext<unknown, unknown>["call"],
): Promise<{ happenings: Happening[]; devices: EngineDevice[]; recorded: Recorded[] }> {
  const { document, from, to } = given;
  const span = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  const happenings: Happening[] = [];
  const devices = new Map(given.devices.map((device) => [device.id, device]));
  for (const { device, field } of fieldsOf(document, given.devices)) {
    for (const { at, value } of await readField(call, device, field, span)) {
      const before = devices.get(device.id);
      if (Date.parse(at) <= from && before) devices.set(device.id, withValue(before, field, value));
      else happenings.push({ at: Date.parse(at), device: device.id, field, value });
    }
  }
  const withEvents = partsOf(document).filter((part) => part.type === "event");
  for (const id of new Set(withEvents.map(({ device }) => device))) {
    const { entries } = await call(historyLogbook, { device: id, ...span, limit: 1_000 });
    for (const { kind, at, what } of entries) {
      if (kind === "event") happenings.push({ at: Date.parse(at), device: id, event: what });
    }
  }
  const recorded: Recorded[] = [];
  for (const { device, field } of commandedFields(document, given.devices)) {
    for (const { at, value } of await readField(call, device, field, span)) {
      recorded.push({ at, device: device.id, field, value });
    }
  }
  return { happenings, devices: [...devices.values()], recorded };
}

function commandedFields(document: AutomationDocument, devices: readonly EngineDevice[]) {
  return partsOf(document).flatMap((part) => {
    if (part.type !== "command") return [];
    const device = devices.find(({ id }) => id === part.device);
    const fields = Object.keys(part.command).filter(
      (field) => valueOf(device, field) !== undefined,
    );
    return device ? fields.map((field) => ({ device, field })) : [];
  });
}

/** The values of a field; the recorder keeps numbers and yes-or-no fields. */
async function readField(
  call: PluginContext<unknown, unknown>["call"],
  device: EngineDevice,
  field: string,
  span: { readonly from: string; readonly to: string },
): Promise<{ at: string; value: number | boolean }[]> {
  const now = valueOf(device, field);
  if (typeof now !== "number" && typeof now !== "boolean") return [];
  const name = field.replace(/^parts\//, "").replaceAll("/", ".");
  const { points } = await call(historyReadings, {
    device: device.id,
    field: name,
    ...span,
    points: POINTS,
  });
  return points.flatMap(({ at, value }) => {
    if (value === null) return [];
    return [{ at, value: typeof now === "boolean" ? value >= 0.5 : value }];
  });
}

/** Lets other work run between slices. */
function inSlices(): () => Promise<void> {
  let beganAt = performance.now();
  return async () => {
    if (performance.now() - beganAt < SLICE_MS) return;
    await setImmediate();
    beganAt = performance.now();
  };
}
