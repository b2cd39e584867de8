import { MODULE_STATES } from "@mantel/plugin-sdk/module-state";
import type { StreamEvent } from "./event-stream.ts";

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === "string";
const number: Check = (value) => typeof value === "number";
const flag: Check = (value) => typeof value === "boolean";
const list: Check = Array.isArray;
const oneOf =
  (values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const record =
  (fields: Readonly<Record<string, Check>> = {}): Check =>
  (value) =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(fields).every(([name, check]) => check((value as Fields)[name]));

type Fields = Readonly<Record<string, unknown>>;

const device = record({
  ...{ id: text, kind: text, name: text, room: orNull(text) },
  ...{ available: flag, revision: number },
  ...{ capabilities: record(), state: record(), pending: record() },
});
const module = record({
  ...{ id: text, name: text, state: oneOf(MODULE_STATES), kinds: list, resources: record() },
  error: orNull(record({ message: text })),
  lastReload: orNull(record()),
  widget: orNull(record({ hash: text, url: text })),
});

/** What the page relies on in the data of each topic that it reads. */
const CHECKS: ReadonlyMap<string, Check> = new Map([
  ["device.state", record({ device })],
  ["device.added", record({ device })],
  ["device.removed", record({ id: text })],
  ["module.state", record({ module })],
  ["module.removed", record({ id: text })],
  ["widget.updated", record({ module: text, hash: text, url: text })],
  ["scene.activated", record({ sceneId: text })],
  [
    "system.sample",
    record({
      ...{ sampledAt: text, disks: list, network: list },
      cpu: record({ perCore: list, loadAverage: list }),
      memory: record({ percent: number }),
      temperature: record({ sensors: list }),
      uptime: record({ systemSeconds: number }),
    }),
  ],
]);

/**
 * The data of an event, which fits its topic as far as the page relies on it.
 * @throws Error when it does not
 */
export function dataOf({ topic, data }: StreamEvent): unknown {
  const value: unknown = JSON.parse(data);
  if (CHECKS.get(topic)?.(value) === false) throw new Error(`this is no ${topic}`);
  return value;
}
