import { DelayedCall, type Log } from "@mantel/plugin-sdk";
import { textIn } from "./attributes.ts";
import type { Setting } from "./device-store.ts";
import { NO_REGISTRIES, readRegistries, REGISTRY_EVENTS, type Registries } from "./discovery.ts";
import { Entities, type Entity, record } from "./entities.ts";
import { Refused, type Session } from "./session.ts";

/** Changes of the set of entities are gathered for so long, because they come in floods. */
const GATHER_MS = 300;
/** Interval for asking a starting Home Assistant if it has finished. */
const STARTING_MS = 3_000;

/** Receives the changes seen by a mirror. */
export interface Hearers {
  /** Entities have other values. */
  readonly changed: (entities: readonly Entity[]) => void;
  /** There are other entities, or they have other names and rooms. */
  readonly rearranged: (entities: Entities, setting: Setting) => Promise<void>;
}

/** All that one session tells of Home Assistant, kept in step while the session lasts. */
export class Mirror {
  readonly entities = new Entities();
  readonly #session: Session;
  readonly #hearers: Hearers;
  readonly #log: Log;
  #isWhole = false;
  readonly #rearrangeSoon = new DelayedCall(() => this.#rearrangeOrClose());
  #isClosed = false;
  #toldDropped = 0;

  constructor(session: Session, hearers: Hearers, log: Log) {
    this.#session = session;
    this.#hearers = hearers;
    this.#log = log;
  }

  /** Resolves when `rearranged` has taken over what there is. @throws as `Session.ask` */
  async open(): Promise<void> {
    let tell = (): void => undefined;
    const first = new Promise<void>((resolve) => (tell = resolve));
    const message = { type: "subscribe_entities" };
    await this.#session.subscribe(message, (event) => {
      this.#hear(event);
      if ("a" in record(event)) tell(); // a change that comes first is not all there is
    });
    await this.#session.told(message, first);
    await Promise.all(REGISTRY_EVENTS.map((name) => this.#followRegistry(name)));
    await this.#rearrange();
  }

  /** Nothing is heard of this session any more. */
  close(): void {
    this.#isClosed = true;
    this.#rearrangeSoon.stop();
  }

  #hear(event: unknown): void {
    const { changed, isOtherSet } = this.entities.apply(event);
    this.#tellDropped();
    if (!this.#isWhole || this.#isClosed) return;
    this.#hearers.changed(changed);
    if (isOtherSet) this.gather();
  }

  /** Reads everything again soon. */
  gather(waitMs: number = GATHER_MS): void {
    if (!this.#isClosed) this.#rearrangeSoon.start(waitMs);
  }

  #rearrangeOrClose(): void {
    this.#rearrange().catch((error: unknown) => {
      this.#log.warn("could not read all entities again", { error: String(error) });
      this.#session.close("it does not report what has changed"); // the next one begins with all there is
    });
  }

  async #rearrange(): Promise<void> {
    const setting = await this.#readSetting();
    if (this.#isClosed) return;
    this.#isWhole = true; // from here on changes are reported one by one, also while the full state is processed
    await this.#hearers.rearranged(this.entities, setting);
    if (!setting.isRunning) this.gather(STARTING_MS);
  }

  async #readSetting(): Promise<Setting> {
    const ask = (message: { type: string }) => this.#session.ask(message);
    const [config, registries] = await Promise.all([
      ask({ type: "get_config" }),
      readRegistries(ask).catch((error: unknown) => this.#withoutRegistries(error)),
    ]);
    const { state, unit_system: units } = record(config);
    const unit = textIn(record(units), "temperature") === "°F" ? "°F" : "°C";
    return { unit, registries, isRunning: state === undefined || state === "RUNNING" };
  }

  /** A user may be refused them; the entities are there anyway. */
  #withoutRegistries(error: unknown): Registries {
    if (!(error instanceof Refused) || error.code === "") throw error;
    this.#log.warn("could not read the registries; rooms and stable ids are unknown", {
      reason: error.message,
    });
    return NO_REGISTRIES;
  }

  async #followRegistry(name: string): Promise<void> {
    const message = { type: "subscribe_events", event_type: name };
    await this.#session
      .subscribe(message, () => this.gather())
      .catch((error: unknown) => {
        if (!(error instanceof Refused) || error.code === "") throw error;
        this.#log.warn("changes of names and rooms are not followed", { reason: error.message });
      });
  }

  /** Logs every tenfold count, because invalid messages usually keep coming. */
  #tellDropped(): void {
    const { dropped } = this.entities;
    if (dropped < Math.max(1, this.#toldDropped * 10)) return;
    this.#toldDropped = dropped;
    this.#log.warn("Home Assistant sent invalid entities", { dropped });
  }
}
