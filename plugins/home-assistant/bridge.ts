import {
  type DeviceCommand,
  MantelError,
  type PluginContext,
  withDeadline,
} from "@mantel/plugin-sdk";
import { Client } from "./client.ts";
import { Confirmations } from "./confirmations.ts";
import { button } from "./convert-simple.ts";
import { domainOf } from "./convert.ts";
import { DeviceCache } from "./device-cache.ts";
import { DeviceStore, type KeptDevices, type Setting } from "./device-store.ts";
import type { Call, Domain } from "./domain.ts";
import type { Entities, Entity } from "./entities.ts";
import { Mirror } from "./mirror.ts";
import type { Options } from "./options.ts";
import { Refused, type Session, toMantelError } from "./session.ts";

/** Less than the manifest's `confirmMs`, so that the reason reaches the caller. */
const CONFIRM_MS = 9_500;

interface Work {
  readonly session: Session;
  readonly entity: Entity;
  readonly domain: Domain;
  readonly calls: readonly Call[];
  readonly command: DeviceCommand;
}

/** A Home Assistant as a bridge: keeps the host in step with it, and carries out commands. */
export class Bridge {
  readonly #ctx: PluginContext<Options, KeptDevices>;
  readonly #house: DeviceStore;
  readonly #store: DeviceCache;
  readonly #client: Client;
  readonly #confirmations = new Confirmations();
  #mirror: Mirror | undefined;
  /** Publications go one after the other. */
  #publishing: Promise<void> = Promise.resolve();
  #reason: string | undefined;

  constructor(ctx: PluginContext<Options, KeptDevices>) {
    this.#ctx = ctx;
    this.#house = new DeviceStore(ctx.config.domains);
    this.#store = new DeviceCache(ctx);
    this.#client = new Client({
      ...{ address: ctx.config, log: ctx.log },
      sync: (session) => this.#sync(session),
      report: (reason) => this.#report(reason),
    });
  }

  /** Publishes what is known from before, and begins to follow Home Assistant. */
  async start(): Promise<void> {
    const { handedOver, signal, onDispose } = this.#ctx;
    const kept = handedOver ?? (await this.#store.read());
    if (kept !== undefined) await this.#restore(kept, handedOver !== undefined);
    const running = this.#client.run(signal);
    onDispose(async () => {
      this.#confirmations.end();
      await running;
      this.#mirror?.close();
    });
  }

  async command(nativeId: string, command: DeviceCommand): Promise<void> {
    const kept = this.#house.device(nativeId);
    const domain = kept && domainOf(kept.entityId.split(".")[0] ?? "");
    if (!domain) throw new MantelError("device_unknown", `Home Assistant has no ${nativeId}`);
    const session = await this.#client.current();
    const entity = this.#reachable(kept.entityId);
    const calls = domain.calls?.(command, entity, this.#house.unit) ?? [];
    await this.#carryOut({ session, entity, domain, calls, command });
  }

  /** The state of a scene is the time when it was last activated, as a button's is that of its press. */
  async activateScene(nativeId: string): Promise<void> {
    const kept = this.#house.scene(nativeId);
    if (!kept) throw new MantelError("scene_unknown", `Home Assistant has no scene ${nativeId}`);
    const session = await this.#client.current();
    const entity = this.#reachable(kept.entityId);
    const calls = [{ service: "scene.turn_on" }];
    await this.#carryOut({ session, entity, domain: button, calls, command: { press: true } });
  }

  async handOver(): Promise<KeptDevices> {
    await this.#store.flush();
    return this.#house.kept;
  }

  async #carryOut({ session, entity, domain, calls, command }: Work): Promise<void> {
    const { id } = entity;
    const { confirmed, end } = this.#confirmations.expect(command, domain, this.#moment(entity));
    const sent = callAll(session, id, calls).then(() => {
      this.#see(this.#mirror?.entities.get(id));
      return confirmed;
    });
    try {
      await withDeadline(Promise.race([confirmed, sent]), CONFIRM_MS, `the command to ${id}`);
    } finally {
      end();
    }
  }

  #reachable(entityId: string): Entity {
    const entity = this.#mirror?.entities.get(entityId);
    if (entity && entity.state !== "unavailable") return entity;
    throw new MantelError("bridge_down", `Home Assistant cannot reach ${entityId} now`);
  }

  #see(entity: Entity | undefined): void {
    if (entity) this.#confirmations.see(this.#moment(entity));
  }

  #moment(entity: Entity) {
    const nativeId = this.#house.nativeIdOf(entity.id) ?? "";
    return { entity, state: this.#house.device(nativeId)?.description.state ?? {} };
  }

  /** A state that cannot be used, such as one of other code, is as good as none. */
  async #restore(kept: KeptDevices, isCurrent: boolean): Promise<void> {
    try {
      this.#house.restore(kept);
      if (!isCurrent) this.#house.lose();
      await this.#publish();
    } catch (error) {
      this.#ctx.log.warn("what was known of the house cannot be used", { error: String(error) });
      this.#house.restore({ devices: [], scenes: [] });
    }
  }

  async #sync(session: Session): Promise<void> {
    const hearers = {
      changed: (entities: readonly Entity[]) => this.#changed(entities),
      rearranged: (entities: Entities, setting: Setting) => this.#rearranged(entities, setting),
    };
    const mirror = new Mirror(session, hearers, this.#ctx.log);
    this.#mirror = mirror;
    void session.lost.then(() => mirror.close());
    await mirror.open();
    for (const entity of mirror.entities.all()) this.#see(entity);
  }

  #changed(entities: readonly Entity[]): void {
    const updates = this.#house.update(entities);
    const known = updates.filter((update) => update !== undefined);
    if (known.length > 0) this.#ctx.devices.update(...known);
    if (known.length < updates.length) this.#mirror?.gather();
    for (const entity of entities) this.#see(entity);
  }

  async #rearranged(entities: Entities, setting: Setting): Promise<void> {
    this.#house.rebuild(entities, setting);
    await this.#publish();
    this.#store.save(this.#house.kept);
    this.#reportStatus();
  }

  #publish(): Promise<void> {
    const { devices, scenes } = this.#ctx;
    const done = this.#publishing.then(async () => {
      await devices.publish(this.#house.devices);
      await scenes.publish(this.#house.scenes);
    });
    this.#publishing = done.catch(() => undefined); // the caller that published reports the error
    return done;
  }

  #report(reason: string | undefined): void {
    this.#reason = reason;
    if (reason !== undefined) {
      const lost = this.#house.lose();
      if (lost.length > 0) this.#ctx.devices.update(...lost);
    }
    this.#reportStatus();
  }

  #reportStatus(): void {
    const { left } = this.#house;
    const full = left > 0 ? `${left} of its entities exceed the limit` : undefined;
    const reason = this.#reason ?? full;
    if (reason === undefined) this.#ctx.status.ok();
    else this.#ctx.status.degraded(reason);
  }
}

/** @throws MantelError what Home Assistant refused. A call whose connection was lost may have arrived. */
async function callAll(session: Session, entityId: string, calls: readonly Call[]): Promise<void> {
  for (const { service, data = {} } of calls) {
    const [domain, name] = service.split(".");
    const target = { entity_id: entityId };
    const message = { type: "call_service", domain, service: name, service_data: data, target };
    try {
      await session.ask(message);
    } catch (error) {
      if (error instanceof Refused && error.code === "") return;
      throw toMantelError(error);
    }
  }
}
