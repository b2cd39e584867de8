import { join } from "node:path";
import type { Capability, Device } from "@mantel/plugin-sdk/device";
import { capabilityOf, OWN, sectionsOf } from "@mantel/plugin-sdk/device-sections";
import { DocumentFile } from "@mantel/plugin-sdk/document-file";
import { Type, type Static } from "typebox";
import type { Bus } from "../events/bus.ts";
import type { HostLog } from "../log.ts";
import { check } from "../validate.ts";

const NAME = "readings.json";
/** One reading is stored for each of these spans: the last one in it. */
const STEP_MS = 5 * 60_000;
const KEPT_MS = 24 * 3_600_000;
/** The disk may be an SD card: some hundred kB twice an hour, and once when the host stops. */
const WRITE_EVERY_MS = 30 * 60_000;
/** Far above any home; it limits memory and file to some MiB. */
const MAX_FIELDS = 2_000;

export const ReadingsFile = Type.Object({
  version: Type.Literal(1),
  /** By device id and field: `<seconds since 1970>=<value>`, oldest first, separated by spaces. */
  fields: Type.Record(
    Type.String(),
    Type.String({ pattern: "^(\\d{1,12}=-?\\d[\\d.e+-]*( |$))*$" }),
  ),
});
type ReadingsFile = Static<typeof ReadingsFile>;

/** One measured value with its time. It holds until the next one. */
export const Reading = Type.Object({
  at: Type.String({ format: "date-time" }),
  value: Type.Number(),
});
export type Reading = Static<typeof Reading>;

/** Value by epoch milliseconds, oldest first. */
type Ring = Map<number, number>;

/**
 * The numeric readings of devices within the last day, at most one every five minutes. They are in
 * memory; `<data>/readings.json` is at most half an hour older, for the next start.
 */
export class SensorHistory {
  readonly #file: DocumentFile<ReadingsFile>;
  readonly #log: HostLog;
  readonly #rings: Map<string, Ring>;
  readonly #writing: NodeJS.Timeout;
  readonly #unlisten: () => void;
  #isChanged = false;

  static async open(options: {
    dataFolder: string;
    bus: Bus;
    log: HostLog;
  }): Promise<SensorHistory> {
    const file = new DocumentFile({
      path: join(options.dataFolder, NAME),
      parse: (value) => check(ReadingsFile, value, NAME),
      log: options.log,
      version: 1,
    });
    return new SensorHistory(file, (await file.load())?.fields ?? {}, options);
  }

  private constructor(
    file: DocumentFile<ReadingsFile>,
    fields: ReadingsFile["fields"],
    { bus, log }: { bus: Bus; log: HostLog },
  ) {
    this.#file = file;
    this.#log = log;
    this.#rings = new Map(Object.entries(fields).map(([key, text]) => [key, parseRing(text)]));
    this.#writing = setInterval(() => void this.#write(), WRITE_EVERY_MS);
    this.#unlisten = bus.on(({ topic, data }) => {
      if (topic === "device.state" || topic === "device.added") this.#note(data.device);
    });
  }

  /** The readings of a field from `from` to before `to`, epoch milliseconds; empty if there are none. */
  of(deviceId: string, field: string, { from, to }: { from: number; to: number }): Reading[] {
    const ring = this.#rings.get(keyOf(deviceId, field)) ?? new Map<number, number>();
    return [...ring]
      .filter(([at]) => at >= from && at < to)
      .map(([at, value]) => ({ at: new Date(at).toISOString(), value }));
  }

  /** Writes the remaining readings. */
  async close(): Promise<void> {
    this.#unlisten();
    clearInterval(this.#writing);
    await this.#write();
  }

  #note(device: Device): void {
    const at = Date.now();
    for (const { key, capabilities, state } of sectionsOf(device)) {
      for (const [name, capability] of Object.entries(capabilities)) {
        const value = state[name];
        if (!isReading(capability) || typeof value !== "number") continue;
        this.#keep(keyOf(device.id, fieldOf(key, name)), at, value);
      }
    }
  }

  #keep(key: string, at: number, value: number): void {
    const ring = this.#rings.get(key) ?? new Map<number, number>();
    if (ring.size === 0 && this.#rings.size >= MAX_FIELDS) return;
    this.#rings.set(key, ring);
    const [last] = [...ring.keys()].slice(-1);
    if (last !== undefined && stepOf(last) === stepOf(at)) ring.delete(last);
    ring.set(at, value);
    this.#isChanged = true;
    dropOlderThan(ring, at - KEPT_MS);
  }

  async #write(): Promise<void> {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    const oldest = Date.now() - KEPT_MS;
    for (const [key, ring] of this.#rings) {
      dropOlderThan(ring, oldest);
      if (ring.size === 0) this.#rings.delete(key);
    }
    const fields = [...this.#rings].map(([key, ring]) => [key, textOf(ring)]);
    try {
      await this.#file.write({ version: 1, fields: Object.fromEntries(fields) });
    } catch (error) {
      this.#isChanged = true;
      this.#log.warn("could not store the readings", { file: NAME, error });
    }
  }
}

/** The capability of a field, such as `power`, `light.power` or `extra.linkQuality`, if it is a measured number. */
export function readingOf(device: Device, field: string): NumberReading | undefined {
  const [name = "", key = OWN] = field.split(".").toReversed();
  const section = sectionsOf(device).find((each) => each.key === key);
  const capability = section && capabilityOf(section, name);
  return capability && isReading(capability) && field === fieldOf(key, name)
    ? capability
    : undefined;
}

type NumberReading = Extract<Capability, { type: "number" }>;

function isReading(capability: Capability): capability is NumberReading {
  return capability.type === "number" && capability.readOnly === true;
}

const fieldOf = (section: string, name: string) => (section === OWN ? name : `${section}.${name}`);
const keyOf = (deviceId: string, field: string) => `${deviceId} ${field}`;
const stepOf = (at: number) => Math.floor(at / STEP_MS);

function dropOlderThan(ring: Ring, oldest: number): void {
  for (const at of ring.keys()) {
    if (at >= oldest) return;
    ring.delete(at);
  }
}

function textOf(ring: Ring): string {
  return [...ring].map(([at, value]) => `${Math.floor(at / 1_000)}=${value}`).join(" ");
}

function parseRing(text: string): Ring {
  const readings = text.split(" ").filter(Boolean);
  return new Map(
    readings.map((reading) => {
      const [seconds = "", value = ""] = reading.split("=");
      return [Number(seconds) * 1_000, Number(value)];
    }),
  );
}
