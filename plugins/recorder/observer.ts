import type {
  Capability,
  Cause,
  Device,
  HomeDeviceEvent,
  HomeFailure,
  HomeSceneEvent,
  StateValue,
} from "@mantel/plugin-sdk";
import type { Known } from "./history.ts";
import type { Batch, DeviceRow, NewEntry, NewRun, SeriesRow } from "./storage.ts";
import { isSameCause } from "./stored-cause.ts";

/** Entries of one device within a minute; more are only counted. */
const MOST_ENTRIES = 60;
const MINUTE_MS = 60_000;
const LONGEST_VALUE = 1_000;
/** The vocabulary's names of counters. */
const COUNTERS: ReadonlySet<string> = new Set([
  "energy",
  "energyReturned",
  "water",
  "gasVolume",
  "rain",
]);

/** The field of a player that changes by itself while it plays. */
const PROGRESS = /(^|\.)elapsed$/;

/** One recorded field of a device. */
interface FieldValue {
  /** `on`, `light.on`, `extra.linkQuality`. */
  readonly field: string;
  readonly capability: Capability;
  readonly value: StateValue | undefined;
  readonly isExtra: boolean;
}

type Changed = Pick<Device, "id" | "name" | "room" | "kind">;

/** Turns changes of the home into batches for the history. */
export class Observer {
  readonly #isRecorded: (deviceId: string) => boolean;
  readonly #devices = new Map<string, DeviceRow>();
  readonly #removed = new Set<string>();
  /** Devices of which the logbook says that they cannot be reached. */
  readonly #unreachable: Set<string>;
  readonly #series = new Map<string, SeriesRow>();
  /** The last value of each series, by its id. */
  readonly #values = new Map<number, number>();
  readonly #fieldsOf = new Map<string, SeriesRow[]>();
  #batch = emptyBatch();
  #lastId = 0;
  #minute = 0;
  readonly #entriesOf = new Map<string, number>();

  constructor(
    known: Pick<Known, "devices" | "series" | "unreachable">,
    isRecorded: (deviceId: string) => boolean,
  ) {
    this.#isRecorded = isRecorded;
    this.#unreachable = new Set(known.unreachable);
    for (const device of known.devices) this.#devices.set(device.id, device);
    for (const { value, ...row } of known.series) {
      this.#keep(row);
      this.#values.set(row.id, value);
    }
  }

  get isEmpty(): boolean {
    const { devices, series, points, runs, entries } = this.#batch;
    const length = devices.length + series.length + points.at.length + runs.length;
    return length + entries.length === 0;
  }

  /** The number of fields that are recorded. */
  get fields(): number {
    return this.#series.size;
  }

  /** The batch of all changes since the last call. */
  take(): Batch {
    const batch = this.#batch;
    this.#batch = emptyBatch();
    return batch;
  }

  findSeries(device: string, field: string): SeriesRow | undefined {
    return this.#series.get(keyOf(device, field));
  }

  /** The recorded fields of a device. */
  seriesOf(device: string): readonly SeriesRow[] {
    return this.#fieldsOf.get(device) ?? [];
  }

  findDevice(id: string): DeviceRow | undefined {
    return this.#devices.get(id);
  }

  /** The history was interrupted: no value is known from `at` on, until it is reported again. */
  interrupted(at: number): void {
    for (const [id, value] of this.#values) if (!Number.isNaN(value)) this.#point(id, at, NaN);
  }

  /** A device as it is at the start. */
  found(device: Device, at: number): void {
    if (!this.#isRecorded(device.id)) return;
    this.#describe(device, at, undefined);
    this.#compareAvailability(device, undefined, itself(device), at);
    if (device.available) this.#record(device, at);
    else this.#forgetValues(device.id, at);
  }

  /** A change. A removed device is absent as the first one, a new one as the second. */
  changed(
    device: Device | undefined,
    old: Device | undefined,
    cause: Cause | undefined,
    at: number,
  ): void {
    if (device) this.#deviceChanged(device, old, cause ?? itself(device), at);
    else if (old) this.#deviceRemoved(old, cause ?? itself(old), at);
  }

  #deviceRemoved({ id }: Device, cause: Cause, at: number): void {
    if (!this.#isRecorded(id)) return;
    this.#forgetValues(id, at);
    this.#removed.add(id);
    this.#unreachable.delete(id);
    this.#entry({ at, kind: "removed", device: id, what: "removed", cause });
  }

  #deviceChanged(device: Device, old: Device | undefined, cause: Cause, at: number): void {
    const { id } = device;
    if (!this.#isRecorded(id)) return;
    const isNew = !this.#devices.has(id) || this.#removed.delete(id);
    this.#describe(device, at, old);
    if (!old && isNew) this.#entry({ at, kind: "added", device: id, what: "added", cause });
    const wasSeen = old?.available === true || this.#unreachable.has(id);
    this.#compareAvailability(device, old, cause, at);
    if (!device.available) this.#forgetValues(id, at);
    else this.#record(device, at);
    if (old && wasSeen) this.#compare(device, old, cause, at);
  }

  happened({ deviceId, event, at, data }: HomeDeviceEvent, now: number): void {
    const device = this.#devices.get(deviceId);
    if (!device || !this.#isRecorded(deviceId)) return;
    const details = data === undefined ? {} : { to: JSON.stringify(data) };
    const entry = { at: pastOf(at, now), kind: "event", device: deviceId, what: event };
    this.#entry({ ...entry, ...details, cause: itself(device) });
  }

  /** A command that failed. */
  failed({ deviceId, at, command, error, cause }: HomeFailure, now: number): void {
    const device = this.#devices.get(deviceId);
    if (!device || !this.#isRecorded(deviceId)) return;
    if (error.code === "bridge_rate_limited" && cause && SENT_AGAIN.has(cause.kind)) return;
    this.#entry({
      at: pastOf(at, now),
      kind: "failed",
      device: deviceId,
      what: error.code,
      from: JSON.stringify(command),
      to: error.detail,
      cause: cause ?? itself(device),
    });
  }

  /** The end of a scene's activation. */
  activated({ sceneId, name, at, status, error, cause }: HomeSceneEvent, now: number): void {
    const scene = { kind: "scene", id: sceneId, name } as const;
    this.#entry({
      at: pastOf(at, now),
      kind: "scene",
      device: null,
      what: status,
      cause: cause ? { ...scene, parent: cause } : scene,
      ...(error && { to: error.detail }),
    });
  }

  /** An entry that a plugin wrote. */
  wrote(entry: {
    readonly at: number;
    readonly device?: string;
    readonly what: string;
    readonly from?: StateValue;
    readonly to?: StateValue;
    readonly cause: Cause;
  }): void {
    this.#entry({ ...entry, kind: "record", device: entry.device ?? null });
  }

  /** A run of an automation that has ended. */
  ran(run: NewRun): void {
    const { id, endedAt: at, result: what, error, cause } = run;
    const entry = { at, kind: "run", device: null, what, cause, run: id };
    if (this.#entry({ ...entry, ...(error !== null && { to: error }) })) this.#batch.runs.push(run);
  }

  /** Records numbers and yes-or-no values that differ from the last ones. */
  #record(device: Device, at: number): void {
    for (const { field, capability, value } of fieldsOf(device)) {
      if (capability.type !== "number" && capability.type !== "boolean") continue;
      if (value === undefined) continue;
      const number = typeof value === "number" ? value : typeof value === "boolean" ? +value : NaN;
      const known = this.#series.get(keyOf(device.id, field));
      if (!known && Number.isNaN(number)) continue;
      const { id } = known ?? this.#created(device.id, field, capability);
      if (!Object.is(this.#values.get(id), number)) this.#point(id, at, number);
    }
  }

  /** Writes an entry for a device that is lost or back. Until its bridge is connected, a new one cannot be reached either. */
  #compareAvailability(
    { id: device, available }: Device,
    old: Device | undefined,
    cause: Cause,
    at: number,
  ): void {
    const entry = { at, kind: "availability", device, what: "available", cause };
    if (available && this.#unreachable.delete(device)) {
      this.#entry({ ...entry, from: false, to: true });
    } else if (!available && old?.available === true) {
      this.#unreachable.add(device);
      this.#entry({ ...entry, from: true, to: false });
    }
  }

  /** Writes entries for changed values. Measured numbers are in curves and not in the logbook; neither is the progress of a player. */
  #compare(device: Device, old: Device, cause: Cause, at: number): void {
    if (device.state === old.state && device.parts === old.parts && device.extra === old.extra)
      return;
    const before = new Map(fieldsOf(old).map((each) => [each.field, each.value]));
    for (const { field, capability, value, isExtra } of fieldsOf(device)) {
      const from = before.get(field);
      if (value === undefined || from === undefined || isSame(value, from)) continue;
      const isMeasured = capability.type === "number" && capability.readOnly === true;
      const isOwn = cause.kind === "device" && (isExtra || PROGRESS.test(field));
      if (isMeasured || isOwn) continue;
      this.#entry({ at, kind: "state", device: device.id, what: field, cause, from, to: value });
    }
  }

  /** Adds an entry. Returns false if there are too many. */
  #entry({
    from,
    to,
    ...entry
  }: Omit<NewEntry, "from" | "to"> & { from?: StateValue; to?: StateValue }): boolean {
    const { entries } = this.#batch;
    const pending = entries.findLast(
      ({ device, what, kind }) =>
        device === entry.device && what === entry.what && kind === entry.kind,
    );
    const target = to === undefined ? null : textOf(to);
    const isStep = entry.kind === "state" && canFade(from) && canFade(to);
    if (isStep && pending && isSameCause(pending.cause, entry.cause)) {
      pending.to = target; // a lamp that dims reports each step
      if (pending.from === target) entries.splice(entries.indexOf(pending), 1);
      return true;
    }
    if (!this.#isAllowed(entry.device ?? entry.cause.id, entry.at)) return false;
    entries.push({
      ...entry,
      from: from === undefined ? null : textOf(from),
      to: target,
    });
    return true;
  }

  #isAllowed(device: string, at: number): boolean {
    const minute = Math.floor(at / MINUTE_MS);
    if (minute !== this.#minute) this.#entriesOf.clear();
    this.#minute = minute;
    const count = (this.#entriesOf.get(device) ?? 0) + 1;
    this.#entriesOf.set(device, count);
    return count <= MOST_ENTRIES;
  }

  #describe(device: Device, at: number, old: Device | undefined): void {
    const { id, name, room, kind } = device;
    const known = this.#devices.get(id);
    if (known?.name === name && known.room === room && known.kind === kind) return;
    const row = { id, name, room, kind };
    this.#devices.set(id, row);
    this.#batch.devices.push(row);
    if (!old || old.name === name) return;
    const cause = itself(device);
    this.#entry({
      at,
      kind: "renamed",
      device: id,
      what: "name",
      cause,
      from: old.name,
      to: name,
    });
  }

  #forgetValues(device: string, at: number): void {
    for (const { id } of this.seriesOf(device)) {
      if (!Number.isNaN(this.#values.get(id) ?? NaN)) this.#point(id, at, NaN);
    }
  }

  #point(series: number, at: number, value: number): void {
    const { points } = this.#batch;
    points.series.push(series);
    points.at.push(at);
    points.value.push(value);
    this.#values.set(series, value);
  }

  #created(device: string, field: string, capability: Capability): SeriesRow {
    const unit = capability.type === "number" ? (capability.unit ?? null) : null;
    const name = field.split(".").at(-1) ?? field;
    const isCounter = capability.type === "number" && COUNTERS.has(name);
    const row = { id: this.#lastId + 1, device, field, unit, isCounter };
    this.#keep(row);
    this.#batch.series.push(row);
    return row;
  }

  #keep(row: SeriesRow): void {
    this.#lastId = Math.max(this.#lastId, row.id);
    this.#series.set(keyOf(row.device, row.field), row);
    const all = this.#fieldsOf.get(row.device) ?? [];
    all.push(row);
    this.#fieldsOf.set(row.device, all);
  }
}

interface PendingEntry extends NewEntry {
  to: string | null;
}

function emptyBatch() {
  return {
    devices: [] as DeviceRow[],
    series: [] as SeriesRow[],
    points: { series: [] as number[], at: [] as number[], value: [] as number[] },
    runs: [] as NewRun[],
    entries: [] as PendingEntry[],
  };
}

/** Programs and dashboards send a command again that was refused because of the rate limit. */
const SENT_AGAIN: ReadonlySet<Cause["kind"]> = new Set(["person", "display", "token"]);

/** Epoch milliseconds, not later than now. */
const pastOf = (at: string, now: number): number => Math.min(Date.parse(at) || now, now);

const keyOf = (device: string, field: string): string => `${device} ${field}`;

/** The cause of what a device reports by itself. */
function itself({ id, name }: Pick<Changed, "id" | "name">): Cause {
  return { kind: "device", id, name };
}

/** True for a number or a colour, which changes in steps. */
function canFade(value: StateValue | undefined): boolean {
  return typeof value === "number" || (typeof value === "object" && value !== null);
}

function textOf(value: StateValue): string {
  const text = typeof value === "string" ? value.slice(0, LONGEST_VALUE) : value;
  return JSON.stringify(text);
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object") return false;
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The fields of a device, of its parts and of its extras, with their values. */
function fieldsOf({ capabilities, state, parts = [], extra }: Device): FieldValue[] {
  const sections = [
    { prefix: "", capabilities, state },
    ...parts.map((part) => ({ prefix: `${part.id}.`, ...part })),
    ...(extra ? [{ prefix: "extra.", ...extra }] : []),
  ];
  return sections.flatMap(({ prefix, ...section }) =>
    Object.entries<Capability>(section.capabilities).map(([name, capability]) => ({
      field: prefix + name,
      capability,
      value: Object.hasOwn(section.state, name) ? section.state[name] : undefined,
      isExtra: prefix === "extra.",
    })),
  );
}
