import type { DiscoveryHostApi, DiscoveryRequest } from "@mantel/plugin-sdk/discovery";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Manifest } from "@mantel/plugin-sdk/manifest";
import {
  requireBridge,
  requirePublication,
  requireSearch,
  undeclared,
} from "@mantel/plugin-sdk/manifest-rights";
import type { HostApi } from "@mantel/plugin-sdk/protocol";
import type { Handlers } from "@mantel/plugin-sdk/rpc";
import { normalServiceKey, type PublicationName } from "@mantel/plugin-sdk/service";
import type { ChannelFollower } from "../../channels/follower.ts";
import type { ChannelRegistry } from "../../channels/registry.ts";
import type { DeviceRegistry } from "../../devices/registry.ts";
import type { Discovery, PluginSearch } from "../../discovery/discovery.ts";
import type { RouteSecrets } from "../../routes/secrets.ts";
import type { SceneRegistry } from "../../scenes/registry.ts";
import type { Scheduler } from "../../schedule/scheduler.ts";
import { parseChain } from "../../services/chain.ts";
import type { ServiceRegistry } from "../../services/registry.ts";
import type { SourceFolders } from "../sources/source-folders.ts";
import type { ModuleLog } from "../state/logs.ts";
import { CalendarChunks } from "./calendar-chunks.ts";
import { type HomeCaller, type HomeDependencies, homeApi, moduleCause } from "./home-api.ts";
import { RejectedCallLog } from "./rejected-call-log.ts";
import { type ScheduleCaller, scheduleApi } from "./schedule-api.ts";
import { type SourcesCaller, sourcesApi } from "./sources-api.ts";

/** The part of the host that serves the values published under one name. */
export interface Publication {
  /** Serves this value of a module from now on; it is valid for its schema. */
  accept(value: never, module: string): void;
  /** The publishing module has ended; stops serving its value. */
  gone(module: string): void;
}
export type Publications = { readonly [N in PublicationName]: Publication };

/** The registries that plugins push into. */
export interface HostDependencies {
  readonly devices: DeviceRegistry;
  readonly scenes: SceneRegistry;
  readonly services: ServiceRegistry;
  readonly publications: Publications;
  readonly channels: ChannelRegistry;
  readonly home: HomeDependencies;
  readonly scheduler: Scheduler;
  readonly discovery: Discovery;
  readonly sourceFolders: SourceFolders;
  readonly routeSecrets: RouteSecrets;
  /** The prefix of the API, such as `/api/v1`. */
  readonly routePrefix: string;
}

/** The module that makes the calls. */
export interface Caller {
  readonly id: string;
  readonly manifest: Manifest;
  readonly log: ModuleLog;
  /** True only for the working generation. */
  readonly isLive: () => boolean;
  readonly degraded: (reason: string | undefined) => void;
  /** Delivers the channels that this generation follows. */
  readonly follower: () => ChannelFollower;
}

/** The calls that a plugin's process may make to the host, each checked against its manifest. */
export function hostApi(
  caller: Caller &
    Pick<HomeCaller, "sendChanges" | "exited"> &
    Pick<ScheduleCaller, "runSchedule"> &
    Pick<SourcesCaller, "sendSource">,
  parts: HostDependencies,
): Handlers<HostApi> {
  const { id, manifest } = caller;
  const live = { ...caller, requireLive: () => requireLive(caller) };
  return {
    ...homeApi(live, parts.home),
    ...scheduleApi(live, parts.scheduler),
    ...bridgeApi(caller, parts),
    ...publishingApi(caller, parts),
    ...channelApi(caller, parts),
    ...discoveryApi(caller, parts),
    ...sourcesApi(live, parts.sourceFolders),
    callService({ name, input, chain }) {
      const key = normalServiceKey(String(name));
      if (manifest.uses?.some((used) => normalServiceKey(used) === key)) {
        const call = { key, input, chain: parseChain(chain) };
        return parts.services.callFor(call, moduleCause(caller));
      }
      throw undeclared(id, `call ${key}`, `"uses": ["${key}"]`);
    },
    async routeUrl({ path }) {
      const secret = await parts.routeSecrets.secretOf(id);
      return `${parts.routePrefix}/plugins/${id}/hooks/${secret}${String(path).slice(0, 500)}`;
    },
    reportDegraded({ reason }) {
      requireLive(caller);
      caller.degraded(reason === undefined ? undefined : String(reason).slice(0, 500));
    },
    showStep() {
      throw new MantelError("invalid", `${id} sent a setup step, but no setup of it is running`);
    },
    log: (record) => caller.log.record(record),
  };
}

type PublishingCalls = "publish" | "publishCalendarPart";

function publishingApi(
  caller: Caller,
  { publications }: HostDependencies,
): Pick<Handlers<HostApi>, PublishingCalls> {
  const { id } = caller;
  const calendar = new CalendarChunks();
  const requireProvided = (name: string): PublicationName => {
    requireLive(caller);
    return requirePublication(caller, name);
  };
  return {
    publish(request) {
      const name = requireProvided(request.name);
      publications[name].accept(calendar.assemble(request.value, id) as never, id);
    },
    publishCalendarPart(part) {
      requireProvided("calendar.window");
      calendar.take(part, id);
    },
  };
}

function channelApi(
  { id, manifest, log, follower, ...caller }: Caller,
  { channels }: HostDependencies,
): Pick<Handlers<HostApi>, "publishChannel" | "followChannel"> {
  const refusals = new RejectedCallLog(log);
  return {
    async publishChannel({ channel, json }) {
      requireLive({ id, ...caller });
      try {
        await channels.publish(id, String(channel), String(json));
      } catch (error) {
        refusals.add("refused a value of a channel", error);
        throw error;
      }
    },
    followChannel({ channel }) {
      if (manifest.uses?.some((used) => used === channel)) return follower().follow(channel);
      throw undeclared(id, `read ${channel}`, `"uses": ["${channel}"]`);
    },
  };
}

function discoveryApi(
  { id, manifest, exited }: Caller & Pick<HomeCaller, "exited">,
  { discovery }: HostDependencies,
): Handlers<DiscoveryHostApi> {
  const searchOf = ({ what, forMs }: DiscoveryRequest): PluginSearch => {
    requireSearch({ id, manifest });
    return { plugin: id, what, forMs, exited };
  };
  return {
    discoverMdns: async (request) => discovery.mdns(searchOf(request)),
    discoverSsdp: async (request) => discovery.ssdp(searchOf(request)),
  };
}

type BridgeCalls = "publishDevices" | "updateDevices" | "announceDeviceEvent" | "publishScenes";

function bridgeApi(
  caller: Caller,
  { devices, scenes }: HostDependencies,
): Pick<Handlers<HostApi>, BridgeCalls> {
  const { id } = caller;
  const refusals = new RejectedCallLog(caller.log);
  const requireLiveBridge = (): void => {
    requireLive(caller);
    requireBridge(caller);
  };
  /** Handles calls without an answer; the plugin finds refused ones in its log. */
  const take = async (refused: string, work: () => Promise<void>): Promise<void> => {
    requireLive(caller);
    try {
      requireBridge(caller);
      await work();
    } catch (error) {
      refusals.add(refused, error);
    }
  };
  return {
    async publishDevices(described) {
      requireLiveBridge();
      await devices.publish(id, described);
    },
    updateDevices: (updates) =>
      take("refused an update of devices", () => devices.update(id, updates)),
    announceDeviceEvent: (event) =>
      take("refused an event of a device", () => devices.announceEvent(id, event)),
    async publishScenes(described) {
      requireLiveBridge();
      await scenes.publish(id, described);
    },
  };
}

function requireLive({ id, isLive }: Pick<Caller, "id" | "isLive">): void {
  if (isLive()) return;
  throw new MantelError("module_down", `this generation of ${id} has ended`);
}
