import { createHash } from "node:crypto";
import { MantelError, SerialQueue, type Static, type Storage } from "@mantel/plugin-sdk";
import type { Subscription } from "./routes.ts";

const KEY = "browsers";
const MOST = 100;

/** The push services of Chrome, Firefox, Safari and Edge, as in the manifest. */
const KNOWN_SERVICES =
  /^https:\/\/(fcm\.googleapis\.com|([a-z0-9-]+\.)+(push\.services\.mozilla\.com|push\.apple\.com|notify\.windows\.com))$/;

/** A subscribed browser. */
export interface Browser {
  /** Of its endpoint, which only the browser knows. */
  readonly id: string;
  /** Of the browser, for people. */
  readonly name: string;
  /** Gets messages to this name; every message if absent. */
  readonly person?: string;
  /** ISO 8601. */
  readonly since: string;
  readonly subscription: Static<typeof Subscription>;
}

/** The subscribed browsers, in the plugin's storage. */
export class Browsers {
  readonly #storage: Storage;
  readonly #services: readonly string[];
  readonly #changes = new SerialQueue();
  #all: readonly Browser[];

  /** `services`: origins of push services besides the known ones. */
  static async open(storage: Storage, services: readonly string[]): Promise<Browsers> {
    const stored = (await storage.get(KEY)) as readonly Browser[] | undefined;
    return new Browsers(storage, services, stored ?? []);
  }

  private constructor(storage: Storage, services: readonly string[], all: readonly Browser[]) {
    this.#storage = storage;
    this.#services = services.map((address) => new URL(address).origin);
    this.#all = all;
  }

  get all(): readonly Browser[] {
    return this.#all;
  }

  /**
   * Adds a browser, or replaces its subscription, and resolves with its id when that is stored.
   * @throws MantelError `invalid` for an unknown push service, or above a hundred browsers
   */
  async add(browser: Omit<Browser, "id" | "since">): Promise<string> {
    const { endpoint } = browser.subscription;
    this.#requireKnown(endpoint);
    const id = idOf(endpoint);
    await this.#change((all) => {
      const others = all.filter((each) => each.id !== id);
      if (others.length >= MOST)
        throw new MantelError("invalid", `${MOST} browsers get messages already; remove one first`);
      return [...others, { id, since: new Date().toISOString(), ...browser }];
    });
    return id;
  }

  /**
   * Gives a browser another subscription, and resolves with its new id.
   * @throws MantelError `not_found` if none has the endpoint of before; `invalid` for an unknown push service
   */
  async renew(before: string, subscription: Browser["subscription"]): Promise<string> {
    this.#requireKnown(subscription.endpoint);
    const [old, id] = [idOf(before), idOf(subscription.endpoint)];
    await this.#change((all) => {
      if (!all.some((each) => each.id === old)) {
        throw new MantelError("not_found", "no browser has this subscription");
      }
      return all
        .filter((each) => each.id !== id || id === old)
        .map((each) => (each.id === old ? { ...each, id, subscription } : each));
    });
    return id;
  }

  #requireKnown(endpoint: string): void {
    const origin = URL.canParse(endpoint) ? new URL(endpoint).origin : endpoint;
    if (!KNOWN_SERVICES.test(origin) && !this.#services.includes(origin)) {
      const advice = 'add it to the option "services" if you trust it';
      throw new MantelError("invalid", `${origin} is not a known push service; ${advice}`);
    }
  }

  /** False if no browser has this id. */
  async remove(id: string): Promise<boolean> {
    const isKnown = this.#all.some((each) => each.id === id);
    if (isKnown) await this.#change((all) => all.filter((each) => each.id !== id));
    return isKnown;
  }

  /** The browsers of these people; all if none of them has one, so that no message is lost. */
  of(people: readonly string[]): readonly Browser[] {
    const own = this.#all.filter(({ person }) => person !== undefined && people.includes(person));
    return own.length === 0 ? this.#all : own;
  }

  #change(change: (all: readonly Browser[]) => readonly Browser[]): Promise<void> {
    return this.#changes.take(async () => {
      const next = change(this.#all);
      await this.#storage.set(KEY, next);
      this.#all = next;
    });
  }
}

const idOf = (endpoint: string) => createHash("sha256").update(endpoint).digest("hex").slice(0, 32);
