import { randomUUID } from "node:crypto";
import { faultsBelow } from "@mantel/plugin-sdk/capability";
import { type Cause, causedBy } from "@mantel/plugin-sdk/cause";
import type { CommandBody } from "@mantel/plugin-sdk/device";
import { OWN } from "@mantel/plugin-sdk/device-sections";
import { MantelError, type Fault } from "@mantel/plugin-sdk/errors";
import { faultsOfStored } from "@mantel/plugin-sdk/parse-command";
import { parseScenes } from "@mantel/plugin-sdk/parse-scenes";
import type { Scene } from "@mantel/plugin-sdk/scene";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import { BridgeQueue } from "../devices/bridge-queue.ts";
import { type BridgeDirectory, isUp } from "../devices/bridge.ts";
import type { EndCommand } from "../devices/causes.ts";
import { LineLimit } from "../devices/command-log.ts";
import { type Commands, errorOf } from "../devices/commands.ts";
import type { DeviceRegistry } from "../devices/registry.ts";
import { assertIfMatch } from "../documents/if-match.ts";
import type { Bus } from "../events/bus.ts";
import type { HostLog } from "../log.ts";
import { check, faultsOf, invalid } from "../validate.ts";
import { activateInBridge, sendTargets } from "./activate.ts";
import { type BridgeScene, BridgeScenes } from "./bridge-scenes.ts";
import { HostScenes } from "./host-scenes.ts";
import { withMovedFields } from "./moved-fields.ts";
import { inOrder, mergedOrder } from "./scene-order.ts";
import { type Activation, SceneBody, SceneOrder, type SceneResult } from "./schema.ts";

const HOST_SCENE_ID = /^host:scene:[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const ID_LENGTH = 100;

interface Dependencies {
  readonly bus: Bus;
  readonly bridges: BridgeDirectory;
  readonly devices: DeviceRegistry;
  readonly commands: Commands;
  readonly log: HostLog;
}

/** All scenes: those of bridges, and those made by users, which the host stores. */
export class SceneRegistry {
  readonly #parts: Dependencies;
  readonly #hostScenes: HostScenes;
  readonly #bridgeScenes: BridgeScenes;
  readonly #order = new BridgeQueue();
  readonly #orders = new SerialQueue();
  readonly #activatedAt = new Map<string, string>();
  readonly #lines = new LineLimit();
  /** Begins at the time of day, so that it differs from all revisions before a restart. */
  #revision = Date.now();

  static async open({
    dataFolder,
    ...parts
  }: Dependencies & { dataFolder: string }): Promise<SceneRegistry> {
    const hostScenes = await HostScenes.open(dataFolder, parts.log);
    const bridgeScenes = await BridgeScenes.open(dataFolder, parts.log);
    return new SceneRegistry(parts, hostScenes, bridgeScenes);
  }

  private constructor(parts: Dependencies, hostScenes: HostScenes, bridgeScenes: BridgeScenes) {
    this.#parts = parts;
    this.#hostScenes = hostScenes;
    this.#bridgeScenes = bridgeScenes;
  }

  /** Grows with each change of any scene. */
  get revision(): number {
    return this.#revision;
  }

  /**
   * Replaces the whole set of a bridge's own scenes.
   * @throws MantelError `invalid` with every fault, `disk_full`; the previous set stays then
   */
  async publish(bridgeId: string, input: unknown): Promise<void> {
    const descriptions = parseScenes(bridgeId, input);
    await this.#order.take(bridgeId, async () => {
      const bridge = this.#parts.bridges.find(bridgeId)?.view;
      if (!bridge) throw new MantelError("invalid", `${bridgeId} is not a bridge`);
      if (await this.#bridgeScenes.replace(bridge, descriptions)) this.#announceChange();
    });
  }

  /** Applies a changed status of a bridge, on which the availability of its scenes depends. */
  bridgeChanged(bridgeId: string): void {
    if (this.#bridgeScenes.has(bridgeId)) this.#announceChange();
  }

  /** Removes the scenes of a missing or disabled bridge. They keep their ids if it comes back. */
  removeBridge(bridgeId: string): void {
    void this.#order.follow(bridgeId, () => {
      if (this.#bridgeScenes.remove(bridgeId)) this.#announceChange();
    });
  }

  /** All scenes in their order; scenes that are not in it come last, those of the host first. */
  list(): readonly Scene[] {
    const scenes = [
      ...[...this.#hostScenes.all].map(([id, scene]) => [id, this.#hostView(id, scene)] as const),
      ...this.#bridgeScenes.list().map(([id, scene]) => [id, this.#bridgeView(id, scene)] as const),
    ];
    return inOrder(scenes, this.#hostScenes.order).map(([, scene]) => scene);
  }

  /**
   * Stores the order of the scenes. A scene that is not listed stays behind the one that it follows,
   * or comes last if it has no place yet.
   *
   * @throws MantelError `revision_stale`, `invalid` with every fault, `disk_full`
   */
  reorder(body: unknown, ifMatch?: string): Promise<void> {
    return this.#orders.take(async () => {
      assertIfMatch(this.#revision, ifMatch);
      const { scenes } = check(SceneOrder, body, "the order");
      const faults = this.#faultsOfOrder(scenes);
      if (faults.length > 0) throw invalid("the order", faults);
      await this.#hostScenes.setOrder((stored) =>
        mergedOrder(scenes, stored).filter((id) => this.#keepsPlace(id)),
      );
      this.#announceChange();
    });
  }

  /** @throws MantelError `scene_unknown` */
  get(id: string): Scene {
    const hostScene = this.#hostScenes.all.get(id);
    return hostScene ? this.#hostView(id, hostScene) : this.#bridgeView(id, this.#inBridge(id));
  }

  /**
   * Stores a scene of the host. Its commands are checked against
   * the current devices.
   *
   * @throws MantelError `bad_id`, `scene_read_only`, `invalid` with every fault, `disk_full`
   */
  async put(id: string, body: unknown): Promise<Scene> {
    this.#assertOwn(id);
    const faults = [...faultsOf(SceneBody, body), ...this.#faultsOfTargets(body)];
    if (faults.length > 0) throw invalid("the scene", faults);
    await this.#hostScenes.put(id, body as SceneBody);
    this.#announceChange();
    return this.get(id);
  }

  /** @throws MantelError `bad_id`, `scene_read_only`, `scene_unknown`, `disk_full` */
  async remove(id: string): Promise<void> {
    this.#assertOwn(id);
    await this.#hostScenes.remove(id);
    this.#activatedAt.delete(id);
    this.#announceChange();
  }

  /**
   * Resolves when every device has confirmed its command or failed. A scene of a bridge is one call
   * and fails as a whole, which is announced as `scene.failed`.
   *
   * @throws MantelError `scene_unknown`; for a scene of a bridge also the errors of a command
   */
  async activate(id: string, cause?: Cause): Promise<Activation> {
    const activationId = randomUUID();
    const { name } = this.get(id);
    const scene = { kind: "scene", id, name, at: new Date().toISOString() } as const;
    const ofScene = causedBy(scene, cause);
    const level = this.#lines.admits(`${id} ${cause?.id ?? ""}`) ? "info" : "debug";
    this.#parts.log[level]("activates a scene", { scene: id, name, activationId, cause });
    const hostScene = this.#hostScenes.all.get(id);
    const results = hostScene
      ? await sendTargets(this.#targetsOfHost(hostScene), this.#parts.commands, ofScene)
      : await this.#activateInBridge(this.#inBridge(id), activationId, ofScene);
    const failed = results.some((result) => result.status === "failed");
    const status = failed ? "partial" : "ok";
    const activation = { sceneId: id, activationId, status, ...(cause && { cause }) } as const;
    const at = new Date().toISOString();
    this.#activatedAt.set(id, at);
    this.#revision++;
    this.#parts.bus.emit("scene.activated", { ...activation, name, at });
    return { ...activation, results };
  }

  async #activateInBridge(
    scene: BridgeScene,
    activationId: string,
    cause: Cause,
  ): Promise<SceneResult[]> {
    const { commands, devices, bus, log } = this.#parts;
    const begin = (): EndCommand => {
      const ends = Object.entries(this.#targetsOf(scene)).map(([id, target]) =>
        devices.beginCommand(id, causesOfAll(target, cause)),
      );
      return (settleMs) => ends.forEach((end) => end(settleMs));
    };
    try {
      await activateInBridge(scene, activationId, { commands, begin });
    } catch (error) {
      const { id: sceneId, name, parent } = cause;
      const at = new Date().toISOString();
      const failed = { sceneId, name, activationId, at, error: errorOf(error) };
      const level = this.#lines.admits(`${sceneId} failed`) ? "warn" : "debug";
      const reason = error instanceof MantelError ? { code: error.code } : { error };
      log[level]("a scene failed", { scene: sceneId, activationId, ...reason, cause: parent });
      bus.emit("scene.failed", { ...failed, ...(parent && { cause: parent }) });
      throw error;
    }
    return Object.keys(this.#targetsOf(scene)).map((deviceId) => ({ deviceId, status: "applied" }));
  }

  #hostView(id: string, scene: SceneBody): Scene {
    const { name, room = null, icon = null } = scene;
    const targets = this.#targetsOfHost(scene);
    const lastActivatedAt = this.#activatedAt.get(id) ?? null;
    return { id, name, room, icon, source: "host", available: true, targets, lastActivatedAt };
  }

  /** The commands of a scene, for the devices as they are now. */
  #targetsOfHost({ targets }: SceneBody): Scene["targets"] {
    return Object.fromEntries(
      Object.entries(targets).map(([id, target]) => {
        const command = target as CommandBody;
        const device = this.#parts.devices.find(id);
        return [id, device ? withMovedFields(device, command) : command];
      }),
    );
  }

  #bridgeView(id: string, scene: BridgeScene): Scene {
    const { name, room = null, icon = null, available = true } = scene.description;
    return {
      id,
      name,
      room,
      icon,
      source: scene.bridgeId,
      available: available && isUp(this.#parts.bridges.find(scene.bridgeId)),
      targets: this.#targetsOf(scene),
      lastActivatedAt: this.#activatedAt.get(id) ?? null,
    };
  }

  /** The targets by the devices' public ids; a bridge uses its own. */
  #targetsOf({ bridgeId, description }: BridgeScene): Scene["targets"] {
    return Object.fromEntries(
      Object.entries(description.targets ?? {}).flatMap(([nativeId, state]) => {
        const id = this.#parts.devices.idOf(bridgeId, nativeId);
        return id === undefined ? [] : [[id, state as CommandBody]];
      }),
    );
  }

  #inBridge(id: string): BridgeScene {
    const scene = this.#bridgeScenes.find(id);
    if (scene) return scene;
    throw new MantelError("scene_unknown", `no scene has the id ${id}`);
  }

  #assertOwn(id: string): void {
    const scene = this.#bridgeScenes.find(id);
    if (scene)
      throw new MantelError(
        "scene_read_only",
        `${id} belongs to ${scene.bridgeId}; change it there`,
      );
    if (id.length <= ID_LENGTH && HOST_SCENE_ID.test(id)) return;
    throw new MantelError(
      "bad_id",
      `${id} is not an id of a host scene; use host:scene:<name-in-lower-case>`,
    );
  }

  #faultsOfTargets(body: unknown): Fault[] {
    const { targets } = (body ?? {}) as { targets?: unknown };
    if (typeof targets !== "object" || targets === null) return [];
    return Object.entries(targets).flatMap(([id, command]) => {
      const device = this.#parts.devices.find(id);
      const faults = device
        ? faultsOfStored(device, command)
        : [{ pointer: "", detail: "is not a known device" }];
      return faultsBelow("targets", faultsBelow(id, faults));
    });
  }

  #faultsOfOrder(ids: readonly string[]): Fault[] {
    const first = new Map<string, number>();
    return ids.flatMap((id, index) => {
      const pointer = `/scenes/${index}`;
      if (!this.#has(id)) return [{ pointer, detail: "is not a known scene" }];
      const before = first.get(id);
      if (before !== undefined)
        return [{ pointer, detail: `is ${id}, which is also at /scenes/${before}` }];
      first.set(id, index);
      return [];
    });
  }

  #has(id: string): boolean {
    return this.#hostScenes.all.has(id) || this.#bridgeScenes.find(id) !== undefined;
  }

  /** True if the scene exists, or belongs to a bridge that has no scenes now, such as one that is disabled. */
  #keepsPlace(id: string): boolean {
    if (this.#has(id)) return true;
    const bridgeId = this.#bridgeScenes.bridgeOf(id);
    return bridgeId !== undefined && !this.#bridgeScenes.has(bridgeId);
  }

  #announceChange(): void {
    this.#parts.bus.emit("scenes.changed", { revision: ++this.#revision });
  }
}

/** The cause for every value of a scene's target. */
function causesOfAll(target: CommandBody, cause: Cause) {
  return new Map([[OWN, new Map(Object.keys(target).map((name) => [name, cause]))]]);
}
