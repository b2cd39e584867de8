import type { StreamEvent } from "@mantel/plugin-sdk/client/event-stream";
import { MODULE_STATES } from "@mantel/plugin-sdk/module-state";

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
const orAbsent =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const record =
  (fields: Readonly<Record<string, Check>> = {}): Check =>
  (value) =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(fields).every(([name, check]) => check((value as Fields)[name]));

type Fields = Readonly<Record<string, unknown>>;

const WIDGET = { hash: text, url: text, runsIn: text, needs: record() };
const device = record({
  id: text,
  kind: text,
  name: text,
  room: orNull(text),
  groups: list,
  available: flag,
  revision: number,
  capabilities: record(),
  state: record(),
  pending: record(),
  parts: orAbsent(list),
  extra: orAbsent(record({ capabilities: record(), state: record(), pending: record() })),
});
const module = record({
  id: text,
  name: text,
  titles: orAbsent(record()),
  state: oneOf(MODULE_STATES),
  kinds: list,
  resources: record(),
  error: orNull(record({ message: text })),
  lastReload: orNull(record()),
  consent: orAbsent(orNull(record({ needed: list, permissions: list }))),
  widget: orNull(record(WIDGET)),
});

/** Checks of the event data, by topic. They cover only the fields that the page uses. */
const CHECKS: ReadonlyMap<string, Check> = new Map([
  ["device.state", record({ device })],
  ["device.added", record({ device })],
  ["device.removed", record({ id: text })],
  ["module.state", record({ module })],
  ["module.removed", record({ id: text })],
  ["widget.updated", record({ module: text, ...WIDGET })],
  ["scene.activated", record({ sceneId: text })],
  ["channel", record({ plugin: text, name: text, revision: orAbsent(number) })],
]);

/** The data of a change of a plugin's channel. Without a value the channel is gone. */
export interface ChannelData {
  readonly plugin: string;
  readonly name: string;
  readonly value?: unknown;
  readonly revision?: number;
}

const CHANNEL = /^\{"plugin":"([a-z0-9-]+)","name":"([A-Za-z0-9-]+)",/;

/** The `plugin/name` of a change of a channel, found without parsing its value; empty for other data. */
export function channelOf({ data }: StreamEvent): string {
  const [, plugin, name] = CHANNEL.exec(data) ?? [];
  return name === undefined ? "" : `${plugin}/${name}`;
}

/**
 * The checked data of an event.
 * @throws Error if the data does not match its topic
 */
export function dataOf({ topic, data }: StreamEvent): unknown {
  const value: unknown = JSON.parse(data);
  if (CHECKS.get(topic)?.(value) === false) throw new Error(`invalid event data for ${topic}`);
  return value;
}
