import type { TestContext } from "node:test";
import type { CommandBeyond, DeviceCommand, DeviceDescription } from "@mantel/plugin-sdk/device";
import type { SentFrame, SentImage } from "@mantel/plugin-sdk/device-image";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { ApiEvent } from "../../../host/api/events.ts";
import type { Bridge, BridgeDirectory, BridgeStatus } from "../../../host/devices/bridge.ts";
import { DeviceRegistry } from "../../../host/devices/registry.ts";
import { Bus } from "../../../host/events/bus.ts";
import type { HostLog } from "../../../host/log.ts";
import { emptyFolder } from "../../helpers/folder.ts";

/** The bridge's behaviour, which a test can change, and the commands that it received. */
export interface TestBridge extends Bridge {
  status: BridgeStatus;
  readonly asked: {
    nativeId: string;
    command: DeviceCommand;
    commandId: string;
    beyond?: CommandBeyond;
  }[];
  readonly activated: string[];
  /** The devices whose picture was read. */
  readonly pictured: string[];
  /** The answer to the request for a picture; absent means that there is none. */
  picture?: (nativeId: string) => Promise<SentImage | null>;
  /** The answer to the request for a live picture; absent means that none comes. */
  frame?: (nativeId: string, after: number) => Promise<SentFrame | null>;
  /** The answer to the offer of a video. */
  connect?: (nativeId: string, offer: string) => Promise<string>;
  /** The bridge's answer; absent means that it confirms at once. */
  answer?: (nativeId: string, command: DeviceCommand) => Promise<void>;
}

/** A bridge in this process, in place of a plugin's. */
export function createBridge(id: string, kind: string, limits: Partial<Bridge["limits"]> = {}) {
  const bridge: TestBridge = {
    status: "ok",
    asked: [],
    activated: [],
    pictured: [],
    isComingBack: false,
    ready: () => undefined,
    limits: { commandsPerSecond: 1_000, burst: 1_000, confirmMs: 5_000, ...limits },
    get view() {
      return { id, kind, name: id, status: bridge.status, reason: null };
    },
    async command(nativeId, command, commandId, beyond) {
      bridge.asked.push({ nativeId, command, commandId, ...(beyond ? { beyond } : {}) });
      await bridge.answer?.(nativeId, command);
    },
    async activateScene(nativeId) {
      bridge.activated.push(nativeId);
      await bridge.answer?.(nativeId, {});
    },
    async image(nativeId) {
      bridge.pictured.push(nativeId);
      return (await bridge.picture?.(nativeId)) ?? null;
    },
    nextFrame: async (nativeId, after) => (await bridge.frame?.(nativeId, after)) ?? null,
    async video(nativeId, offer) {
      if (bridge.connect) return bridge.connect(nativeId, offer);
      throw new MantelError("not_found", `${nativeId} has no video`);
    },
  };
  return bridge;
}

export interface LogLine {
  readonly level: string;
  readonly sentence: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface OpenDevices {
  readonly dataFolder: string;
  readonly bus: Bus;
  readonly bridges: BridgeDirectory;
  readonly log: HostLog;
  readonly lines: readonly LogLine[];
  readonly devices: DeviceRegistry;
  /** Announcements since the last call, as `topic id`. */
  readonly heard: () => string[];
}

/** A registry over bridges of the test, in a folder of its own or one that was used before. */
export async function openDevices(
  t: TestContext,
  bridges: readonly TestBridge[],
  usedFolder?: string,
): Promise<OpenDevices> {
  const dataFolder = usedFolder ?? (await emptyFolder(t));
  const bus = new Bus();
  const announcements: ApiEvent[] = [];
  bus.on((announcement) => announcements.push(announcement));
  const { log, lines } = recordedLog();
  const directory = {
    find: (id: string) => bridges.find((bridge) => bridge.view.id === id),
    list: () => bridges,
  };
  const devices = await DeviceRegistry.open({ dataFolder, bus, bridges: directory, log });
  return {
    dataFolder,
    bus,
    bridges: directory,
    log,
    lines,
    devices,
    heard: () => announcements.splice(0).map(inShort),
  };
}

/** A dimmable lamp. */
export function lamp(nativeId: string, fields: Partial<DeviceDescription> = {}): DeviceDescription {
  return {
    nativeId,
    kind: "light",
    name: nativeId,
    capabilities: {
      on: { type: "boolean" },
      brightness: { type: "number", min: 0, max: 100, step: 1, unit: "%" },
      color: { type: "color" },
      effect: { type: "choice", values: ["none", "candle"] },
      power: { type: "number", unit: "W", readOnly: true },
    },
    state: { on: false, brightness: 40 },
    ...fields,
  };
}

/** A fan of three speeds with a lamp as a part and a child lock as an extra. */
export function fanWithLight(fields: Partial<DeviceDescription> = {}): DeviceDescription {
  const { capabilities, state } = lamp("light");
  return {
    nativeId: "fan",
    kind: "fan",
    name: "Fan",
    capabilities: {
      on: { type: "boolean" },
      speed: { type: "number", min: 0, max: 100, step: 100 / 3, unit: "%" },
    },
    state: { on: false, speed: 0 },
    parts: [{ id: "light", kind: "light", name: "Light", capabilities, state }],
    extra: {
      capabilities: {
        childLock: { type: "boolean", group: "configuration" },
        identify: { type: "command", group: "configuration" },
        linkQuality: { type: "number", min: 0, max: 255, readOnly: true, group: "diagnostic" },
      },
      state: { childLock: false, linkQuality: 80 },
    },
    ...fields,
  };
}

/** A blind that reports its position. */
export function blind(fields: Partial<DeviceDescription> = {}): DeviceDescription {
  return {
    nativeId: "blind",
    kind: "cover",
    name: "Blind",
    capabilities: {
      position: { type: "number", min: 0, max: 100, unit: "%" },
      tilt: { type: "number", min: 0, max: 100, unit: "%" },
      open: { type: "command" },
      close: { type: "command" },
      stop: { type: "command" },
    },
    state: { position: 40, tilt: 0 },
    ...fields,
  };
}

/** A log that keeps its lines. */
export function recordedLog(): { log: HostLog; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const write =
    (level: string) =>
    (sentence: string, fields: Readonly<Record<string, unknown>> = {}) => {
      lines.push({ level, sentence, fields });
    };
  const log: HostLog = {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    with: () => log,
    setLevel: () => undefined,
  };
  return { log, lines };
}

function inShort({ topic, data }: ApiEvent): string {
  if (topic === "device.removed") return `${topic} ${data.id}`;
  if (topic === "device.state" || topic === "device.added") return `${topic} ${data.device.id}`;
  return topic;
}
