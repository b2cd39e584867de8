import { setImmediate } from "node:timers/promises";
import type { CalendarEvent } from "./calendar.ts";
import { type Cause, causedBy } from "./cause.ts";
import { bodyOf, statesOfCommand, withStates } from "./device-sections.ts";
import type { CommandBody, Device, DeviceEvent, DeviceState } from "./device.ts";
import { type ErrorCode, MantelError } from "./errors.ts";
import type {
  FollowRequest,
  HomeBatch,
  HomeHostApi,
  HomeOccurrences,
  SentChange,
} from "./home-protocol.ts";
import {
  type ActsFor,
  type Coordinates,
  type DeviceSelector,
  type HomeDeviceEvent,
  type HomeFailure,
  type HomeSceneEvent,
  selects,
  type Sun,
} from "./home.ts";
import { type Declared, HomeRights, requireAutomation } from "./manifest-rights.ts";
import { parseCommand } from "./parse-command.ts";
import type { Scene } from "./scene.ts";
import { type FakeDevice, withCapabilities } from "./testing-device.ts";

/** The home of a test, without bridges. */
export interface FakeHomeOptions {
  readonly devices?: readonly FakeDevice[];
  readonly scenes?: readonly (Pick<Scene, "id" | "name"> & Partial<Scene>)[];
  readonly coordinates?: Coordinates;
  /** The answer of `ctx.home.sun()`. */
  readonly sun?: Sun;
  /** The answer of `ctx.home.calendar.between()`, whatever the span. */
  readonly calendar?: readonly CalendarEvent[];
}

/** A command that a plugin sent with `ctx.home.command`. */
export interface RecordedCommand {
  readonly id: string;
  readonly command: CommandBody;
  /** The automation for which it was sent. */
  readonly by?: ActsFor;
}

/** A home in memory. Commands are checked as by the host, and confirmed at once unless the test lets them fail. */
export class FakeHome implements HomeHostApi {
  /** The commands that the plugin has sent, oldest first. */
  readonly commands: RecordedCommand[] = [];
  /** The ids of the scenes that the plugin has activated. */
  readonly activated: string[] = [];
  readonly #devices = new Map<string, Device>();
  readonly #options: FakeHomeOptions;
  readonly #plugin: Declared | undefined;
  /** Absent without a manifest; then everything is permitted. */
  readonly #rights: HomeRights | undefined;
  readonly #followers = new Map<number, FollowRequest>();
  readonly #failures = new Map<string, MantelError>();
  #deliver: (batch: HomeBatch) => void = () => undefined;
  #revision = 0;

  /** @param plugin the plugin whose manifest limits what it may read and control */
  constructor(options: FakeHomeOptions, plugin?: Declared) {
    this.#options = options;
    this.#plugin = plugin;
    this.#rights = plugin && new HomeRights(plugin);
    for (const device of options.devices ?? [])
      this.#devices.set(device.id, withCapabilities(device));
  }

  /** Sends what is new to this runner. */
  attach(deliver: (batch: HomeBatch) => void): void {
    this.#deliver = deliver;
  }

  /** @throws MantelError `device_unknown` */
  device(id: string): Device {
    const device = this.#devices.get(id);
    if (device) return device;
    throw new MantelError("device_unknown", `no device has the id ${id}`);
  }

  /**
   * Changes the state of a device, and resolves when the plugin's listeners have been called. Without a cause, the
   * device has changed by itself.
   */
  async change(id: string, state: DeviceState, cause?: Cause): Promise<void> {
    const before = this.device(id);
    const own: Cause = { kind: "device", id, name: before.name };
    this.#set({ ...before, state: { ...before.state, ...state } }, before, cause ?? own);
    await setImmediate();
  }

  /** Adds a device. */
  async add(device: FakeDevice): Promise<void> {
    this.#set(withCapabilities(device), undefined, undefined);
    await setImmediate();
  }

  /** Removes a device. */
  async remove(id: string): Promise<void> {
    const before = this.device(id);
    this.#devices.delete(id);
    this.#send(before, [{ id, before }]);
    await setImmediate();
  }

  /** Announces an event of a device, such as a button press. */
  async press(id: string, event: string, data?: DeviceEvent["data"]): Promise<void> {
    const device = this.device(id);
    const at = new Date().toISOString();
    const announced: HomeDeviceEvent = { deviceId: id, event, at, ...(data && { data }) };
    this.#announce("events", announced, device);
    await setImmediate();
  }

  /**
   * Lets the next valid command to a device fail with this error or code, such as `bridge_down`, `bridge_rate_limited` or
   * `deadline_passed`. The state stays, and `ctx.home.failures` has it.
   */
  failNext(id: string, failure: MantelError | ErrorCode): void {
    const { name } = this.device(id);
    const sentence = `the command to ${name} failed in the test`;
    const error = typeof failure === "string" ? new MantelError(failure, sentence) : failure;
    this.#failures.set(id, error);
  }

  /** Announces that a command of somebody else to a device failed; without an error, that the device did not confirm it. */
  async fail(
    id: string,
    command: CommandBody,
    failure: Partial<Pick<HomeFailure, "error" | "cause">> = {},
  ): Promise<void> {
    const device = this.device(id);
    const at = new Date().toISOString();
    const error = { code: "deadline_passed", detail: `the command to ${id} took too long` };
    this.#announce("failures", { deviceId: id, at, command, error, ...failure }, device);
    await setImmediate();
  }

  /** Announces that a scene was activated or, with another status, not wholly. @throws MantelError `scene_unknown` */
  async activate(
    id: string,
    result: Partial<Pick<HomeSceneEvent, "status" | "error" | "cause">> = {},
  ): Promise<void> {
    const { name } = this.#scene(id);
    const at = new Date().toISOString();
    const activationId = `activation-${at}`;
    this.#announce("scenes", { sceneId: id, name, activationId, at, status: "ok", ...result });
    await setImmediate();
  }

  #announce<W extends keyof HomeOccurrences>(
    kind: W,
    event: HomeOccurrences[W],
    device?: Device,
  ): void {
    const sceneId = "sceneId" in event ? event.sceneId : "";
    for (const { follower, what, selector } of this.#followers.values()) {
      const isMeant = device ? this.#isMeant(selector, device) : this.#mayRead(sceneId);
      if (what === kind && isMeant) this.#deliver({ follower, events: [event] });
    }
  }

  #scene(id: string): Pick<Scene, "name"> {
    const scene = this.#options.scenes?.find((each) => each.id === id);
    if (scene) return scene;
    throw new MantelError("scene_unknown", `no scene has the id ${id}`);
  }

  #set(device: Device, before: Device | undefined, cause: Cause | undefined): void {
    const changed = { ...device, revision: ++this.#revision };
    this.#devices.set(device.id, changed);
    const change = { id: device.id, device: changed };
    this.#send(changed, [{ ...change, ...(before && { before }), ...(cause && { cause }) }]);
  }

  #send(device: Device, changes: readonly SentChange[]): void {
    for (const { follower, what, selector } of this.#followers.values()) {
      const isOfDevices = what === "devices" || what === "changes";
      if (isOfDevices && this.#isMeant(selector, device)) this.#deliver({ follower, changes });
    }
  }

  #select(selector: DeviceSelector): Device[] {
    return [...this.#devices.values()].filter((device) => this.#isMeant(selector, device));
  }

  #isMeant(selector: DeviceSelector, device: Device): boolean {
    return selects(selector, device) && this.#mayRead(device.id);
  }

  #mayRead(id: string): boolean {
    return this.#rights?.mayRead(id) ?? true;
  }

  /** The cause of what the plugin does: itself, or the automation for which it acts. */
  #causeOf(by: ActsFor | undefined): Cause {
    if (!by) {
      const { id = "test", manifest } = this.#plugin ?? {};
      return { kind: "module", id, name: manifest?.title ?? id };
    }
    if (this.#plugin) requireAutomation(this.#plugin);
    return automationCause(by);
  }

  async listHomeDevices({ selector, after }: { selector: DeviceSelector; after?: string }) {
    this.#rights?.requireReading(selector);
    const devices = after === undefined ? this.#select(selector) : [];
    return { devices, isLast: true };
  }

  async getHomeDevice({ id }: { id: string }): Promise<Device> {
    this.#rights?.requireReading(id);
    return this.device(id);
  }

  async followHome(request: FollowRequest): Promise<void> {
    const { follower, selector, what } = request;
    if (what === "scenes") this.#rights?.requireReadingScenes();
    else this.#rights?.requireReading(selector);
    this.#followers.set(follower, request);
    if (what !== "devices") return;
    const changes = this.#select(selector).map((device): SentChange => ({
      id: device.id,
      device,
      isInitial: true,
    }));
    this.#deliver({ follower, changes });
  }

  async unfollowHome({ follower }: { follower: number }): Promise<void> {
    this.#followers.delete(follower);
  }

  async suspendHome(): Promise<void> {
    this.#followers.clear();
  }

  async commandHome({ id, command, by }: RecordedCommand) {
    this.#rights?.requireControl(id);
    const cause = this.#causeOf(by);
    const before = this.device(id);
    const parsed = parseCommand(before, command);
    this.commands.push({ id, command, ...(by && { by }) });
    this.#failIfAsked(before, bodyOf(parsed), cause);
    this.#set({ ...before, ...withStates(before, statesOfCommand(before, parsed)) }, before, cause);
    return { commandId: `command-${this.commands.length}`, status: "applied" as const };
  }

  /** @throws the error that `failNext` has set */
  #failIfAsked(device: Device, command: CommandBody, cause: Cause): void {
    const failure = this.#failures.get(device.id);
    if (!failure) return;
    this.#failures.delete(device.id);
    const at = new Date().toISOString();
    const error = { code: failure.code, detail: failure.message };
    this.#announce("failures", { deviceId: device.id, at, command, error, cause }, device);
    throw failure;
  }

  async activateHomeScene({ id, by }: { id: string; by?: ActsFor }) {
    this.#rights?.requireControl(id);
    const cause = this.#causeOf(by);
    const { name } = this.#scene(id);
    this.activated.push(id);
    const activationId = `activation-${this.activated.length}`;
    const at = new Date().toISOString();
    this.#announce("scenes", { sceneId: id, name, activationId, at, status: "ok", cause });
    return { activationId, status: "ok" as const, results: [] };
  }

  async listHomeScenes(): Promise<Scene[]> {
    this.#rights?.requireReadingScenes();
    const scenes = (this.#options.scenes ?? []).filter(({ id }) => this.#mayRead(id));
    return scenes.map((scene) => ({
      room: null,
      icon: null,
      source: "host",
      available: true,
      targets: {},
      lastActivatedAt: null,
      ...scene,
    }));
  }

  async listHomeRooms() {
    this.#rights?.requireReading("*");
    const names = new Set(this.#select("*").flatMap(({ room }) => (room === null ? [] : [room])));
    return [...names].toSorted().map((name) => ({
      name,
      deviceIds: this.#select({ room: name }).map(({ id }) => id),
    }));
  }

  async getSun(): Promise<Sun | null> {
    this.#rights?.requireNamed("location", "know where the home is");
    return this.#options.sun ?? null;
  }

  async getCoordinates(): Promise<Coordinates | null> {
    this.#rights?.requireNamed("location", "know where the home is");
    return this.#options.coordinates ?? null;
  }

  async listHomeEvents() {
    this.#rights?.requireNamed("calendar", "read the calendars");
    return { events: this.#options.calendar ?? [], sources: [], truncated: false, complete: true };
  }
}

/** The cause of what an automation does, as the host makes it. */
function automationCause({ automation, parent, what, at }: ActsFor): Cause {
  const link = { kind: "automation", ...automation } as const;
  return causedBy({ ...link, ...(what && { what }), ...(at !== undefined && { at }) }, parent);
}
