import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, type Duplex } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { CalendarPart, PartedWindow } from "@mantel/plugin-sdk/calendar";
import { DeviceDescription, DeviceEvent, DeviceUpdate } from "@mantel/plugin-sdk/device";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Manifest } from "@mantel/plugin-sdk/manifest";
import { Peer } from "@mantel/plugin-sdk/rpc";
import { SceneDescription } from "@mantel/plugin-sdk/scene";
import * as fc from "fast-check";
import { Type } from "typebox";
import { Calendar } from "../../host/calendar/calendar.ts";
import { ChannelFollower } from "../../host/channels/follower.ts";
import { ChannelRegistry } from "../../host/channels/registry.ts";
import type { Bridge } from "../../host/devices/bridge.ts";
import { DeviceRegistry } from "../../host/devices/registry.ts";
import { Discovery } from "../../host/discovery/discovery.ts";
import { Bus } from "../../host/events/bus.ts";
import { HomeFeeds } from "../../host/home/feeds.ts";
import type { HostLog } from "../../host/log.ts";
import { type HostDependencies, hostApi } from "../../host/modules/calls/host-api.ts";
import { openChannel } from "../../host/modules/process/channel.ts";
import { SourceFolders } from "../../host/modules/sources/source-folders.ts";
import { ModuleLog } from "../../host/modules/state/logs.ts";
import { ApiPaths } from "../../host/routes/api-paths.ts";
import { RouteSecrets } from "../../host/routes/secrets.ts";
import { SceneRegistry } from "../../host/scenes/registry.ts";
import { Scheduler } from "../../host/schedule/scheduler.ts";
import { ServiceRegistry } from "../../host/services/registry.ts";
import type { Schema } from "./document.ts";
import { anyJson, valuesFitting, oddText } from "./values.ts";

/** Maximum CPU time without a pause that one message may cost the host. */
export const LONGEST_TURN_MS = 50;
/** Retries, because a busy machine can slow down one turn; a message that is too expensive is so each time. */
const LOOKS = 4;
const LARGE = 300_000;

const schema = (type: object): fc.Arbitrary<unknown> =>
  valuesFitting(JSON.parse(JSON.stringify(type)) as Schema);
const few = (item: fc.Arbitrary<unknown>) => fc.array(item, { maxLength: 3 });
const nativeId = fc.constantFrom("lamp", "door", "sensor 1");
/** Publications with at most one invalid part, so that the code behind the validation is reached too. */
const named = (item: fc.Arbitrary<unknown>) =>
  fc
    .tuple(
      item,
      nativeId,
      fc.option(fc.tuple(fc.oneof(oddText, fc.constantFrom("state", "name")), anyJson)),
    )
    .map(([value, id, odd]) => ({
      ...(value as object),
      nativeId: id,
      ...(odd ? { [odd[0]]: odd[1] } : {}),
    }));

const INPUTS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  publishDevices: few(named(schema(DeviceDescription))),
  updateDevices: few(named(schema(DeviceUpdate))),
  announceDeviceEvent: named(schema(DeviceEvent)),
  publishScenes: few(named(schema(SceneDescription))),
  publish: fc.record({ name: fc.constant("calendar.window"), value: schema(PartedWindow) }),
  publishChannel: fc.record({
    channel: fc.constantFrom("figures", "other", "__proto__"),
    json: fc.oneof(
      anyJson.map((value) => JSON.stringify(value)),
      oddText,
    ),
  }),
  followChannel: fc.record({ channel: fc.constantFrom("news/headlines", "demo/figures") }),
  publishCalendarPart: schema(CalendarPart),
  callService: fc.record({
    name: fc.constantFrom("calendar.events", "mqtt.broker"),
    input: anyJson,
  }),
  routeUrl: fc.record({ path: oddText }),
  reportDegraded: fc.record({ reason: fc.option(oddText, { nil: undefined }) }),
  showStep: fc.record({ step: fc.integer(), title: oddText, form: anyJson }),
  log: fc.record({ level: fc.constantFrom("info", "loud"), sentence: oddText, fields: anyJson }),
};

const id = fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 1, max: 9 }) }, anyJson);
const method = fc.constantFrom(...Object.keys(INPUTS));
const call = method.chain((name) =>
  fc.record(
    {
      kind: fc.constant("call"),
      call: id,
      method: fc.oneof({ weight: 9, arbitrary: fc.constant(name) }, oddText),
      input: fc.oneof({ weight: 4, arbitrary: INPUTS[name] ?? anyJson }, anyJson),
    },
    { requiredKeys: ["kind", "method"] },
  ),
);
const error = fc.record(
  {
    code: fc.oneof(fc.constant("invalid"), anyJson),
    name: anyJson,
    message: anyJson,
    stack: anyJson,
    extras: anyJson,
  },
  { requiredKeys: [] },
);
const answer = fc.record(
  {
    kind: fc.constantFrom("answer", "failure", "begun"),
    call: id,
    value: anyJson,
    error: fc.oneof(error, anyJson),
  },
  { requiredKeys: ["kind"] },
);
const sound = fc
  .oneof({ weight: 4, arbitrary: call }, { weight: 2, arbitrary: answer }, anyJson)
  .map((message) => JSON.stringify(message) ?? "");

/** JSON text with a part removed, doubled or replaced. */
const broken = fc
  .tuple(
    sound,
    fc.nat(),
    fc.nat({ max: 30 }),
    fc.constantFrom("", "[", "}", ",", '"', "\\ud800", "\u0000", "9e999", " "),
  )
  .map(([text, at, length, other]) => {
    const from = at % (text.length + 1);
    return text.slice(0, from) + other + text.slice(from + length);
  });

/** An otherwise valid message with many repetitions. */
const large = fc
  .tuple(
    method,
    fc.constantFrom(...'[]|{}|0|""|{"a":1}|[[[]]]|"\\ud800"|{"nativeId":"lamp"}|1e9'.split("|")),
    fc.nat({ max: LARGE }),
    fc.boolean(),
  )
  .map(([name, part, length, isKeyed]) => {
    const count = Math.max(1, Math.floor(length / (part.length + (isKeyed ? 10 : 1))));
    const parts = Array.from({ length: count }, (_, n) =>
      isKeyed ? `"k${n}":${part}` : part,
    ).join(",");
    const input = isKeyed ? `{${parts}}` : `[${parts}]`;
    return `{"kind":"call","call":1,"method":"${name}","input":${input}}`;
  });
const deep = fc
  .tuple(fc.constantFrom("[", '{"a":', '[{"b":'), fc.nat({ max: 100_000 }))
  .map(([part, times]) => `{"kind":"answer","call":1,"value":${part.repeat(times)}`);
const long = fc
  .tuple(fc.constantFrom("call", "method", "kind", "input", "error"), fc.nat({ max: LARGE }))
  .map(([key, length]) =>
    JSON.stringify({ kind: "call", call: 1, method: "log", [key]: "x".repeat(length) }),
  );

/** Random lines that a plugin's process could write to its channel. */
export const channelLines = fc.oneof(
  { weight: 600, arbitrary: sound },
  { weight: 300, arbitrary: broken },
  { weight: 4, arbitrary: fc.oneof(large, deep, long) },
);

/** The host's end of a channel, with real registries behind it. */
export interface ChannelFuzz {
  /** Passes a line to the host. @throws Error if it blocked for too long */
  send(line: string): Promise<void>;
  readonly counts: { messages: number; ends: number; longestTurnMs: number };
  close(): Promise<void>;
}

export async function openChannelFuzz(log: HostLog): Promise<ChannelFuzz> {
  const dataFolder = await mkdtemp(join(tmpdir(), "mantel-channel-"));
  const parts = await openParts(dataFolder, log);
  const counts = { messages: 0, ends: 0, longestTurnMs: 0 };
  let open = openEnd(parts, log);

  const attempt = async (line: string): Promise<number> => {
    open.stream.push(`${line}\n`);
    const longestMs = await longestTurn(open.finish);
    if (!open.hasEnded()) return longestMs;
    counts.ends++;
    open.close();
    open = openEnd(parts, log);
    return longestMs;
  };
  return {
    counts,
    async send(line) {
      let longestMs = await attempt(line);
      for (let look = 1; look < LOOKS && longestMs > LONGEST_TURN_MS; look++) {
        longestMs = Math.min(longestMs, await attempt(line));
      }
      counts.messages++;
      counts.longestTurnMs = Math.max(counts.longestTurnMs, longestMs);
      if (longestMs <= LONGEST_TURN_MS) return;
      throw new Error(
        `${longestMs} ms at once for ${line.length} characters: ${line.slice(0, 200)}`,
      );
    },
    async close() {
      open.close();
      await turn();
      await rm(dataFolder, { recursive: true, force: true });
    },
  };
}

/** The longest uninterrupted CPU time of the process in ms, until `finish` has resolved. */
async function longestTurn(finish: () => Promise<void>): Promise<number> {
  let longest = 0;
  const finished = finish().then(() => true);
  for (let isDone = false; !isDone;) {
    const before = process.cpuUsage();
    isDone = await Promise.race([finished, turn(false)]);
    longest = Math.max(longest, process.cpuUsage(before).user);
  }
  return longest / 1_000;
}

function openEnd(parts: HostDependencies, log: HostLog) {
  const stream = new PassThrough();
  const sent = Object.assign(stream, {
    write: (_: string, done?: () => void) => (done?.(), true), // the other end does not read
  }) as unknown as Duplex;
  let hasEnded = false;
  const channel = openChannel(sent, { end: () => (hasEnded = true) });
  const caller = {
    id: "demo",
    manifest: MANIFEST as unknown as Manifest,
    log: new ModuleLog(log),
    isLive: () => true,
    degraded: () => undefined,
    follower: () => new ChannelFollower(parts.channels, async () => undefined),
    sendChanges: () => Promise.resolve(),
    runSchedule: () => Promise.resolve(),
    sendSource: () => Promise.resolve(),
    exited: new Promise(() => undefined),
  };
  const peer = new Peer<{ ping(nothing: object): Promise<unknown> }, object>(
    channel,
    hostApi(caller, parts),
  );
  for (let asked = 0; asked < 5; asked++) peer.call("ping", {}, 60_000).catch(() => undefined);
  return {
    stream,
    finish: async () => {
      await turn(); // pushed data is emitted in a later turn
      await channel.finish();
    },
    hasEnded: () => hasEnded,
    close() {
      peer.close(new MantelError("module_down", "it ended"));
      stream.destroy();
    },
  };
}

const CALENDAR_CONFIG = {
  current: { calendar: { defaultDays: 14 }, ui: { timeZone: "UTC" } },
};

const MANIFEST = {
  id: "demo",
  kinds: ["bridge"],
  server: "index.ts",
  bridge: { kind: "demo", commandsPerSecond: 5 },
  provides: ["calendar.window"],
  uses: ["calendar.events", "news/headlines"],
};

async function openParts(dataFolder: string, log: HostLog): Promise<HostDependencies> {
  const bridge = {
    view: { id: "demo", kind: "demo", name: "Demo", status: "ok", reason: null },
    limits: { commandsPerSecond: 5, burst: 5, confirmMs: 1_000 },
    isComingBack: false,
  } as unknown as Bridge;
  const bridges = { find: () => bridge, list: () => [bridge] };
  const bus = new Bus();
  const devices = await DeviceRegistry.open({ dataFolder, bus, bridges, log });
  const commands = {} as never; // no test activates a scene
  const scenes = await SceneRegistry.open({ dataFolder, bus, bridges, devices, commands, log });
  const nothing = { accept: () => undefined, gone: () => undefined };
  const publications = {
    "calendar.window": nothing,
  };
  const channels = new ChannelRegistry({ bus, paths: new ApiPaths() });
  channels.admit("demo", [
    {
      name: "figures",
      schema: Type.Array(Type.Number()),
      title: "Figures",
      maxBytes: 65_536,
      scope: "read",
      keep: false,
    },
  ]);
  const feeds = new HomeFeeds(bus);
  const scheduler = await Scheduler.open({ dataFolder, log, timeZone: () => "UTC" });
  const calendar = new Calendar({
    bus,
    config: CALENDAR_CONFIG,
    call: () => Promise.reject(new Error("none")),
  });
  const home = { devices, scenes, commands, calendar, feeds, coordinates: () => undefined };
  const routes = {
    routeSecrets: await RouteSecrets.open(dataFolder, log),
    routePrefix: "/api/v1",
  };
  const services = new ServiceRegistry();
  const discovery = new Discovery({ mdns: async () => [], ssdp: async () => [] });
  const sourceFolders = new SourceFolders({ dataFolder, log });
  const answering = { channels, home, scheduler, discovery, sourceFolders };
  return { devices, scenes, services, publications, ...answering, ...routes };
}
