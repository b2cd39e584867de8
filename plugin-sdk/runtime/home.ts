import type { PluginContext } from "../context.ts";
import type { Device } from "../device.ts";
import type { DeviceSelector, Home, Presence } from "../home.ts";
import { homeNotify } from "../services/index.ts";
import type { Followers } from "./followers.ts";
import type { HostLink } from "./host-link.ts";
import type { LiveSettings } from "./live-settings.ts";
import { freeze } from "./primordials.ts";

interface HomeDependencies {
  readonly host: HostLink;
  readonly followers: Followers;
  readonly call: PluginContext<unknown, unknown>["call"];
}

/** Creates `ctx.home`. The host checks each call against the manifest. */
export function createHome(
  settings: LiveSettings,
  { host, followers, call }: HomeDependencies,
): Home {
  const list = (selector: DeviceSelector = "*") => listDevices(host, selector);
  const home: Home = {
    get locale() {
      return settings.read("locale");
    },
    get timeZone() {
      return settings.read("timeZone");
    },
    get pollSeconds() {
      return settings.read("pollSeconds");
    },
    on: (setting, listener) => settings.on(setting, listener),
    devices: freeze({
      list,
      get: (id) => host.call("getHomeDevice", { id }),
      follow: (selector = "*") => followers.iterate(selector),
      on: (selector, listener, { each = false } = {}) =>
        followers.onChanges({ selector, each }, ({ device, old, cause }) =>
          listener(device, old, cause),
        ),
    } satisfies Home["devices"]),
    events: freeze({
      on: (selector, listener) => followers.onEvents("events", selector, listener),
    } satisfies Home["events"]),
    failures: freeze({
      on: (selector, listener) => followers.onEvents("failures", selector, listener),
    } satisfies Home["failures"]),
    scenes: freeze({
      list: async () => [...(await host.call("listHomeScenes", {}))],
      on: (listener) => followers.onEvents("scenes", "*", listener),
    } satisfies Home["scenes"]),
    calendar: freeze({
      between: (start, end) =>
        host.call("listHomeEvents", { start: start.toISOString(), end: end.toISOString() }),
    } satisfies Home["calendar"]),
    command: (id, command, { by } = {}) =>
      host.call("commandHome", { id, command, ...(by && { by }) }),
    activateScene: (id, { by } = {}) => host.call("activateHomeScene", { id, ...(by && { by }) }),
    rooms: async () => [...(await host.call("listHomeRooms", {}))],
    presence: async () => (await list("tracker:*")).map(presenceOf),
    sun: async (at) => (await host.call("getSun", at ? { at: at.toISOString() } : {})) ?? undefined,
    coordinates: async () => (await host.call("getCoordinates", {})) ?? undefined,
    async notify(message, { to, from } = {}) {
      const receivers = typeof to === "string" ? [to] : to;
      await call(homeNotify, {
        message,
        ...(receivers && { to: [...receivers] }),
        ...(from !== undefined && { from }),
      });
    },
  };
  return freeze(home);
}

async function listDevices(host: HostLink, selector: DeviceSelector): Promise<Device[]> {
  const all: Device[] = [];
  for (;;) {
    const after = all.at(-1)?.id;
    const part = await host.call("listHomeDevices", {
      selector,
      ...(after !== undefined && { after }),
    });
    all.push(...part.devices);
    if (part.isLast || part.devices.length === 0) return all;
  }
}

function presenceOf({ id, name, state }: Device): Presence {
  const { home, zone } = state;
  return {
    deviceId: id,
    name,
    isHome: typeof home === "boolean" ? home : undefined,
    zone: typeof zone === "string" ? zone : undefined,
  };
}
