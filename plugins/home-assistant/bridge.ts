import {
  type CalendarWindow,
  type CommandBeyond,
  Confirmations,
  DeviceCache,
  type DeviceCommand,
  type DeviceImage,
  imageTypeOf,
  MAX_IMAGE_BYTES,
  MantelError,
  type PluginContext,
  PublishedDevices,
} from "@mantel/plugin-sdk";
import { Calendars } from "./calendars.ts";
import { Client } from "./client.ts";
import { confirmsAll, type Moment } from "./confirmations.ts";
import { button, eventOf, EventTimes } from "./convert-button.ts";
import { framesPath, picturePath } from "./convert-camera.ts";
import { domainOf } from "./convert.ts";
import { DeviceStore, type KeptDevices, type Setting, shapeOf } from "./device-store.ts";
import type { Call, Domain } from "./domain.ts";
import type { Entities, Entity } from "./entities.ts";
import { Mirror } from "./mirror.ts";
import type { Options } from "./options.ts";
import { readRest, readRestFrames } from "./rest.ts";
import { Refused, type Session, toMantelError } from "./session.ts";

/** Less than the manifest's `confirmMs`, so that the reason reaches the caller. */
const CONFIRM_MS = 9_500;
const SAVE_AFTER_MS = 5_000;
/** Thousands of events with their texts. */
const MAX_CALENDAR_BYTES = 8 * 2 ** 20;

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
  readonly #home: DeviceStore;
  readonly #published: PublishedDevices;
  readonly #cache: DeviceCache<KeptDevices>;
  readonly #client: Client;
  readonly #confirmations = new Confirmations<Moment>();
  readonly #calendars: Calendars;
  readonly #eventTimes = new EventTimes();
  #mirror: Mirror | undefined;
  /** The stored devices without their states, which change all the time. */
  #storedShape: string | undefined;
  #reason: string | undefined;

  constructor(ctx: PluginContext<Options, KeptDevices>) {
    this.#ctx = ctx;
    const home = new DeviceStore(ctx.config.domains);
    this.#home = home;
    this.#published = new PublishedDevices(ctx, () => ({
      devices: home.devices,
      scenes: home.scenes,
    }));
    this.#cache = new DeviceCache(ctx, "home", SAVE_AFTER_MS);
    this.#client = new Client({
      address: ctx.config,
      log: ctx.log,
      sync: (session) => this.#sync(session),
      report: (reason) => this.#report(reason),
    });
    this.#calendars = new Calendars({
      timeZone: ctx.home.timeZone,
      list: () => home.calendars,
      read: (id, span) => this.#readCalendar(id, span),
      publish: (window) => ctx.publish("calendar.window", window),
      onFault: (error) => ctx.log.error("the calendars could not be published", { error }),
    });
  }

  /** Publishes what is known from before, and begins to follow Home Assistant. */
  async start(): Promise<void> {
    const { handedOver, signal, onDispose } = this.#ctx;
    const kept = handedOver ?? ((await this.#cache.read()) as KeptDevices | undefined);
    if (kept !== undefined) await this.#restore(kept, handedOver !== undefined);
    const running = this.#client.run(signal);
    onDispose(() => this.#calendars.close());
    onDispose(async () => {
      const reason = "the bridge was reloaded before the device showed what was asked";
      this.#confirmations.failAll(new MantelError("deadline_passed", reason));
      await running;
      this.#mirror?.close();
    });
  }

  async command(
    nativeId: string,
    command: DeviceCommand,
    { extra }: Pick<CommandBeyond, "extra">,
  ): Promise<void> {
    const kept = this.#home.device(nativeId);
    const domain = kept && domainOf(kept.entityId.split(".")[0] ?? "");
    if (!domain) throw new MantelError("device_unknown", `Home Assistant has no ${nativeId}`);
    const asked = { ...command, ...extra };
    const session = await this.#client.current();
    const entity = this.#reachable(kept.entityId);
    const stored = this.#home.storedValues(nativeId, domain);
    const { unit, playerGroups } = this.#home;
    const calls = domain.calls?.({ ...stored, ...asked }, entity, unit, playerGroups) ?? [];
    const isOnlyStored = Object.keys(asked).every((field) => domain.stored?.includes(field));
    const moment = this.#moment(entity);
    const isAsRequested = () => confirmsAll(asked, domain, moment)(moment, false);
    if (calls.length === 0 && !isOnlyStored && !isAsRequested()) throw nothingToSend(entity, asked);
    if (calls.length > 0) await this.#carryOut({ session, entity, domain, calls, command: asked });
    this.#published.update(...this.#home.store(nativeId, domain, asked));
  }

  /** The state of a scene is the time when it was last activated, as a button's is that of its press. */
  async activateScene(nativeId: string): Promise<void> {
    const kept = this.#home.scene(nativeId);
    if (!kept) throw new MantelError("scene_unknown", `Home Assistant has no scene ${nativeId}`);
    const session = await this.#client.current();
    const entity = this.#reachable(kept.entityId);
    const calls = [{ service: "scene.turn_on" }];
    await this.#carryOut({ session, entity, domain: button, calls, command: { press: true } });
  }

  /** The picture of a camera now. @throws MantelError `bridge_down`, `deadline_passed`, `not_found` */
  async image(nativeId: string): Promise<DeviceImage | undefined> {
    const kept = this.#home.device(nativeId);
    if (!kept) return undefined;
    await this.#client.current();
    const entity = this.#reachable(kept.entityId);
    const path = picturePath(entity);
    if (path === undefined) return undefined;
    const { config, signal } = this.#ctx;
    const what = `the picture of ${entity.id}`;
    const request = { path, maxBytes: MAX_IMAGE_BYTES, deadlineMs: CONFIRM_MS, what };
    const { body, type } = await readRest(config, request, signal);
    const found = imageTypeOf(body);
    if (found) return { type: found, bytes: body };
    throw new MantelError("not_found", `${what} is ${type || "of no type"}, which is not shown`);
  }

  /** The motion JPEG of a camera, until `signal` aborts. @throws MantelError `bridge_down`, `deadline_passed`, `not_found` */
  async *frames(nativeId: string, signal: AbortSignal): AsyncGenerator<DeviceImage> {
    const kept = this.#home.device(nativeId);
    await this.#client.current();
    const entity = kept && this.#reachable(kept.entityId);
    const path = entity && framesPath(entity);
    if (!entity || path === undefined) return;
    const what = `the live picture of ${entity.id}`;
    const request = { path, maxBytes: MAX_IMAGE_BYTES, deadlineMs: CONFIRM_MS, what };
    for await (const bytes of readRestFrames(this.#ctx.config, request, signal)) {
      const type = imageTypeOf(bytes);
      if (type) yield { type, bytes };
    }
  }

  /** The events of its calendars in a span of instants. @throws MantelError `bridge_down` */
  async events(start: string, end: string): Promise<CalendarWindow> {
    await this.#client.current();
    return this.#calendars.window(start, end);
  }

  handOver(): KeptDevices {
    return this.#home.kept;
  }

  async #readCalendar(id: string, span: { start: Date; end: Date }): Promise<unknown> {
    const query = new URLSearchParams({
      start: span.start.toISOString(),
      end: span.end.toISOString(),
    });
    const path = `calendars/${id}?${query.toString()}`;
    const what = `the events of ${id}`;
    const request = { path, maxBytes: MAX_CALENDAR_BYTES, deadlineMs: CONFIRM_MS, what };
    const { config, signal } = this.#ctx;
    const { body } = await readRest(config, request, signal);
    try {
      return JSON.parse(body.toString()) as unknown;
    } catch (cause) {
      throw new MantelError("bridge_down", `${what} are not JSON`, { cause });
    }
  }

  async #carryOut({ session, entity, domain, calls, command }: Work): Promise<void> {
    const { id } = entity;
    const isConfirmed = confirmsAll(command, domain, this.#moment(entity));
    let last = entity;
    let isAnswered = false;
    await this.#confirmations.confirm(id, {
      send: async () => {
        isAnswered = await callAll(session, id, calls);
        this.#see(this.#mirror?.entities.get(id));
      },
      isConfirmed: (now) => {
        const reason = domain.fails?.(now.entity, last);
        last = now.entity;
        if (reason !== undefined) this.#failCommands(id, reason);
        return reason === undefined && isConfirmed(now, isAnswered);
      },
      deadlineMs: CONFIRM_MS,
      overdue: () => `the command to ${id} timed out after ${CONFIRM_MS} ms`,
    });
  }

  #failCommands(entityId: string, reason: string): void {
    this.#confirmations.fail(entityId, new MantelError("bridge_down", reason));
  }

  #reachable(entityId: string): Entity {
    const entity = this.#mirror?.entities.get(entityId);
    if (entity && entity.state !== "unavailable") return entity;
    throw new MantelError("bridge_down", `Home Assistant cannot reach ${entityId} now`);
  }

  #see(entity: Entity | undefined): void {
    if (entity) this.#confirmations.report(entity.id, this.#moment(entity));
  }

  #moment(entity: Entity): Moment {
    const nativeId = this.#home.nativeIdOf(entity.id) ?? "";
    return { entity, device: this.#home.device(nativeId)?.description };
  }

  /** A state that cannot be used, such as one of other code, is as good as none. */
  async #restore(kept: KeptDevices, isCurrent: boolean): Promise<void> {
    try {
      this.#home.restore(kept);
      if (!isCurrent) this.#home.lose();
      await this.#published.publish();
    } catch (error) {
      this.#ctx.log.warn("the known devices cannot be used", { error: String(error) });
      this.#home.restore({ devices: [], scenes: [] });
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
    const updates = this.#home.update(entities);
    const known = updates.filter((update) => update !== undefined);
    this.#published.update(...known);
    if (known.length < updates.length) this.#mirror?.gather();
    for (const entity of entities) {
      this.#see(entity);
      if (this.#eventTimes.isNew(entity)) this.#tellEvent(entity);
    }
    if (entities.some(({ domain }) => domain === "calendar")) this.#calendars.changed();
  }

  #tellEvent(entity: Entity): void {
    const nativeId = this.#home.nativeIdOf(entity.id);
    const event = eventOf(entity);
    if (nativeId !== undefined && event) {
      this.#published.event(nativeId, event.event, event.data);
    }
  }

  async #rearranged(entities: Entities, setting: Setting): Promise<void> {
    this.#eventTimes.reset(entities.all());
    this.#home.rebuild(entities, setting);
    await this.#published.publish();
    this.#storeLater();
    this.#reportStatus();
    this.#calendars.changed();
  }

  /** Stores the devices if there are others. */
  #storeLater(): void {
    const shape = shapeOf(this.#home.kept);
    if (shape === this.#storedShape) return;
    this.#storedShape = shape;
    this.#cache.changed(() => this.#home.kept);
  }

  #report(reason: string | undefined): void {
    this.#reason = reason;
    if (reason !== undefined) {
      this.#published.update(...this.#home.lose());
      this.#calendars.away(reason);
    }
    this.#reportStatus();
  }

  #reportStatus(): void {
    const { left } = this.#home;
    const full = left > 0 ? `${left} of its entities exceed the limit` : undefined;
    const reason = this.#reason ?? full;
    if (reason === undefined) this.#ctx.status.ok();
    else this.#ctx.status.degraded(reason);
  }
}

function nothingToSend({ id }: Entity, asked: DeviceCommand): MantelError {
  const fields = Object.keys(asked).join(" and ");
  return new MantelError("invalid", `${id}: ${fields} cannot be set alone`);
}

/**
 * Resolves with true once Home Assistant has answered every call; a call whose connection was lost may have arrived.
 * @throws MantelError what Home Assistant refused
 */
async function callAll(
  session: Session,
  entityId: string,
  calls: readonly Call[],
): Promise<boolean> {
  for (const { service, data = {}, entityId: other } of calls) {
    const [domain, name] = service.split(".");
    const target = { entity_id: other ?? entityId };
    const message = { type: "call_service", domain, service: name, service_data: data, target };
    try {
      await session.ask(message);
    } catch (error) {
      if (error instanceof Refused && error.code === "") return false;
      throw toMantelError(error);
    }
  }
  return true;
}
