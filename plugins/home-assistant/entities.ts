const ENTITY_ID = /^[a-z0-9_]{1,100}\.[a-z0-9_]{1,155}$/;
/** Maximum number of entities; further ones are dropped. */
const MOST_ENTITIES = 20_000;

/** Home Assistant itself allows 255. */
const STATE_LENGTH = 1_000;

export type Attributes = Readonly<Record<string, unknown>>;

/** An entity as Home Assistant tells of it now. */
export interface Entity {
  /** For example `light.sofa`. */
  readonly id: string;
  readonly domain: string;
  /** `unavailable` while it cannot be reached, `unknown` when it has no value. */
  readonly state: string;
  readonly attributes: Attributes;
}

/** The entities of one session, by id, as `subscribe_entities` tells of them. */
export class Entities {
  readonly #byId = new Map<string, Entity>();
  /** Parts of events that were not what they should be. */
  dropped = 0;

  get(id: string): Entity | undefined {
    return this.#byId.get(id);
  }

  all(): Iterable<Entity> {
    return this.#byId.values();
  }

  /**
   * Takes over one event: `a` has entities that are new, `c` what has changed of known ones, and `r` the
   * ids of those that are gone. Gives the changed entities, and whether there are others than before.
   */
  apply(event: unknown): { changed: Entity[]; isOtherSet: boolean } {
    const { a, c, r } = record(event);
    const changed: Entity[] = [];
    let isOtherSet = false;
    for (const [id, added] of Object.entries(record(a))) {
      isOtherSet ||= !this.#byId.has(id);
      this.#put(id, this.#added(id, record(added)), changed);
    }
    for (const [id, change] of Object.entries(record(c))) {
      const known = this.#byId.get(id);
      this.#put(id, known && changedBy(known, record(change)), changed);
    }
    for (const id of Array.isArray(r) ? r : []) {
      isOtherSet = this.#byId.delete(String(id)) || isOtherSet;
    }
    return { changed, isOtherSet };
  }

  #put(id: string, entity: Entity | undefined, changed: Entity[]): void {
    if (!entity) {
      this.dropped++;
      return;
    }
    this.#byId.set(id, entity);
    changed.push(entity);
  }

  #added(id: string, { s: state, a: attributes }: Record<string, unknown>): Entity | undefined {
    if (!ENTITY_ID.test(id) || typeof state !== "string") return undefined;
    if (this.#byId.size >= MOST_ENTITIES && !this.#byId.has(id)) return undefined;
    const [domain = ""] = id.split(".");
    return { id, domain, state: state.slice(0, STATE_LENGTH), attributes: record(attributes) };
  }
}

/** `+` has a new state and attributes, `-` the names of attributes that are gone. */
function changedBy(known: Entity, change: Record<string, unknown>): Entity {
  const { s: state, a: set } = record(change["+"]);
  const { a: removed } = record(change["-"]);
  const gone = Array.isArray(removed) ? removed : [];
  const attributes =
    set === undefined && gone.length === 0
      ? known.attributes
      : Object.fromEntries(
          Object.entries({ ...known.attributes, ...record(set) }).filter(
            ([name]) => !gone.includes(name),
          ),
        );
  const now = typeof state === "string" ? state.slice(0, STATE_LENGTH) : known.state;
  return { ...known, attributes, state: now };
}

/** An untrusted value as an object; empty if it is not one. */
export function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
