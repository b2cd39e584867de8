import { Cause, causedBy, CauseReason } from "@mantel/plugin-sdk/cause";
import type { Device } from "@mantel/plugin-sdk/device";
import { type Coordinates, DeviceSelector, type HomeRoom, selects } from "@mantel/plugin-sdk/home";
import { includesPart } from "@mantel/plugin-sdk/home-permissions";
import type { HomeBatch, HomeHostApi } from "@mantel/plugin-sdk/home-protocol";
import type { Manifest } from "@mantel/plugin-sdk/manifest";
import { HomeRights, requireAutomation } from "@mantel/plugin-sdk/manifest-rights";
import type { Handlers } from "@mantel/plugin-sdk/rpc";
import { sunAt } from "@mantel/plugin-sdk/time";
import { Type } from "typebox";
import type { Calendar } from "../../calendar/calendar.ts";
import type { Commands } from "../../devices/commands.ts";
import type { DeviceRegistry } from "../../devices/registry.ts";
import type { FeedHandle, HomeFeeds } from "../../home/feeds.ts";
import type { SceneRegistry } from "../../scenes/registry.ts";
import { check } from "../../validate.ts";
import type { ModuleLog } from "../state/logs.ts";
import { HomeCommandLimit } from "./home-commands.ts";

/** Devices in one part of a list. */
const LISTED_AT_ONCE = 200;
const CALENDAR_LIMIT = 2_000;

/** The parts of the host behind `ctx.home`. */
export interface HomeDependencies {
  readonly devices: DeviceRegistry;
  readonly scenes: SceneRegistry;
  readonly commands: Commands;
  readonly calendar: Calendar;
  readonly feeds: HomeFeeds;
  readonly coordinates: () => Coordinates | undefined;
}

/** A process that calls `ctx.home`. */
export interface HomeCaller {
  readonly id: string;
  readonly manifest: Manifest;
  readonly log: ModuleLog;
  /** Sends changes to the process. Resolves when it has taken them. */
  readonly sendChanges: (batch: HomeBatch) => Promise<void>;
  readonly exited: Promise<unknown>;
  /** @throws MantelError `module_down` unless this is the working generation */
  readonly requireLive: () => void;
}

const FollowRequest = Type.Object({
  follower: Type.Integer({ minimum: 1 }),
  selector: DeviceSelector,
  what: Type.Enum(["devices", "changes", "events", "failures", "scenes"]),
  isStart: Type.Boolean(),
  each: Type.Optional(Type.Boolean()),
});
const ActsFor = Type.Object({
  by: Type.Optional(
    Type.Object({
      automation: Type.Object({
        id: Type.String({ minLength: 1, maxLength: 200 }),
        name: Type.String({ minLength: 1, maxLength: 200 }),
      }),
      parent: Type.Optional(Cause),
      what: Type.Optional(CauseReason),
      at: Type.Optional(Type.String({ format: "date-time" })),
    }),
  ),
});
const Id = Type.Object({ id: Type.String({ maxLength: 150 }) });
const At = Type.Object({ at: Type.Optional(Type.String({ format: "date-time" })) });
const Span = Type.Object({
  start: Type.String({ format: "date-time" }),
  end: Type.String({ format: "date-time" }),
});
const ListRequest = Type.Object({
  selector: DeviceSelector,
  after: Type.Optional(Type.String({ maxLength: 150 })),
});
const Suspension = Type.Object({
  unseen: Type.Array(
    Type.Object({
      id: Type.String(),
      device: Type.Optional(Type.Unsafe<Device>(Type.Object({}))),
      before: Type.Optional(Type.Unsafe<Partial<Device>>(Type.Object({}))),
      cause: Type.Optional(Cause),
    }),
    { maxItems: 1_000 },
  ),
});

/** The calls of `ctx.home`, each within `permissions.home` of the manifest. */
export function homeApi(caller: HomeCaller, parts: HomeDependencies): Handlers<HomeHostApi> {
  const limit = new HomeCommandLimit(caller);
  return {
    ...readingApi(caller, parts),
    ...followingApi(caller, parts, limit),
    ...controllingApi(caller, parts, limit),
  };
}

function readingApi(caller: HomeCaller, parts: HomeDependencies) {
  const { devices, scenes, calendar, coordinates } = parts;
  const rights = new HomeRights(caller);
  const place = (): Coordinates | undefined => {
    rights.requireNamed("location", "know where the home is");
    return coordinates();
  };
  return {
    listHomeDevices(request) {
      const { selector, after } = check(ListRequest, request, "a list of devices");
      rights.requireReading(selector);
      const all = readable(devices, rights, selector).toSorted(byId);
      const from = after === undefined ? 0 : all.findIndex(({ id }) => id > after);
      const part = from < 0 ? [] : all.slice(from, from + LISTED_AT_ONCE);
      return { devices: part, isLast: from < 0 || from + part.length >= all.length };
    },
    getHomeDevice(request) {
      const { id } = check(Id, request, "the id of a device");
      rights.requireReading(id);
      return devices.get(id);
    },
    listHomeScenes() {
      rights.requireReadingScenes();
      return scenes.list().filter(({ id }) => rights.mayRead(id));
    },
    listHomeRooms() {
      rights.requireReading("*");
      return roomsOf(readable(devices, rights, "*"));
    },
    getCoordinates: () => place() ?? null,
    getSun(request) {
      const { at } = check(At, request, "the instant of a position of the sun");
      const here = place();
      return here ? sunAt(here, at === undefined ? new Date() : new Date(at)) : null;
    },
    async listHomeEvents(request) {
      rights.requireNamed("calendar", "read the calendars");
      const { start, end } = check(Span, request, "a span of the calendar");
      const query = new URLSearchParams({ start, end, limit: String(CALENDAR_LIMIT) });
      const { events, sources, truncated, complete } = await calendar.events(query);
      return { events: events.map(({ event }) => event), sources, truncated, complete };
    },
  } satisfies Partial<Handlers<HomeHostApi>>;
}

function followingApi(caller: HomeCaller, { feeds }: HomeDependencies, limit: HomeCommandLimit) {
  const rights = new HomeRights(caller);
  let feed: FeedHandle | undefined;
  const open = (): FeedHandle => {
    const opened = feeds.open(caller.id, {
      send: caller.sendChanges,
      mayRead: (id) => rights.mayRead(id),
      warn: (sentence, fields) => caller.log.record({ level: "warn", sentence, fields }),
      sent: (id, cause) => {
        limit.noteChange(id, cause);
        if (cause) feeds.causes.note(caller.id, cause);
      },
    });
    void caller.exited.then(() => opened.suspend());
    return opened;
  };
  return {
    followHome(request) {
      caller.requireLive();
      const checked = check(FollowRequest, request, "a listener of the home");
      if (checked.what === "scenes") rights.requireReadingScenes();
      else rights.requireReading(checked.selector);
      feed ??= open();
      feed.follow(checked);
    },
    unfollowHome: ({ follower }) => feed?.unfollow(follower),
    suspendHome(request) {
      const { unseen } = check(Suspension, request, "the changes that were not seen");
      feed?.suspend(unseen);
    },
  } satisfies Partial<Handlers<HomeHostApi>>;
}

function controllingApi(caller: HomeCaller, parts: HomeDependencies, limit: HomeCommandLimit) {
  const { commands, scenes } = parts;
  const rights = new HomeRights(caller);
  const begin = (request: unknown, what: string): { id: string; cause: Cause } => {
    caller.requireLive();
    const { id } = check(Id, request, what);
    rights.requireControl(id);
    const cause = causeOf(request, caller, parts);
    limit.take(id);
    return { id, cause };
  };
  return {
    async commandHome(request) {
      const { id, cause } = begin(request, "a command");
      const { commandId, status } = await commands.send(id, request.command, { cause }).done;
      return { commandId, status };
    },
    async activateHomeScene(request) {
      const { id, cause } = begin(request, "a scene");
      const { activationId, status, results } = await scenes.activate(id, cause);
      return { activationId, status, results };
    },
  } satisfies Partial<Handlers<HomeHostApi>>;
}

/**
 * The cause of what a module does: itself, or the automation for which it acts, with the cause of its run. That cause is
 * left out unless the host has sent it to the module, or it is a device that the module reads.
 * @throws MantelError `invalid` for a plugin that is not of the kind `automation`
 */
function causeOf(request: unknown, { id, manifest }: HomeCaller, parts: HomeDependencies): Cause {
  const { by } = check(ActsFor, request, "the automation for which a plugin acts");
  const now = Date.now();
  const instant = (at: number) => ({ at: new Date(at).toISOString() });
  if (!by) return moduleCause({ id, manifest });
  requireAutomation({ id, manifest });
  const { automation, parent, what, at } = by;
  const began = at === undefined ? now : Math.min(Date.parse(at), now);
  const link = { kind: "automation", id: automation.id, name: automation.name } as const;
  return causedBy(
    { ...link, ...(what && { what }), ...instant(began) },
    parent && knownCause(parent, { id, manifest }, parts),
  );
}

/** A module as the cause of what it does now. */
export function moduleCause({ id, manifest }: Pick<HomeCaller, "id" | "manifest">): Cause {
  return { kind: "module", id, name: manifest.title ?? id, at: new Date().toISOString() };
}

function knownCause(
  cause: Cause,
  { id: module, manifest }: Pick<HomeCaller, "id" | "manifest">,
  { feeds, devices }: HomeDependencies,
): Cause | undefined {
  if (feeds.causes.has(module, cause)) return cause;
  const isReadable = includesPart(manifest.permissions?.home?.read, cause.id);
  const device = isReadable && cause.kind === "device" ? devices.find(cause.id) : undefined;
  return device && { kind: "device", id: device.id, name: device.name };
}

function readable(devices: DeviceRegistry, rights: HomeRights, selector: DeviceSelector): Device[] {
  return devices.list().filter((device) => rights.mayRead(device.id) && selects(selector, device));
}

const byId = (a: Device, b: Device) => (a.id < b.id ? -1 : 1);

function roomsOf(devices: readonly Device[]): HomeRoom[] {
  const rooms = new Map<string, string[]>();
  for (const { id, room } of devices) {
    if (room !== null) rooms.set(room, [...(rooms.get(room) ?? []), id]);
  }
  return [...rooms]
    .map(([name, deviceIds]) => ({ name, deviceIds }))
    .toSorted((a, b) => a.name.localeCompare(b.name));
}
