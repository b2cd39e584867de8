import type { BridgeState } from "./options.ts";

/** A resource as its bridge tells it: what it says is read with care, by `at`. */
export type Resource = { readonly id: string; readonly type: string } & Readonly<
  Record<string, unknown>
>;

/** The fields kept for each type of resource; all others are dropped. */
const READ: Readonly<Record<string, readonly string[]>> = {
  device: ["metadata", "product_data", "services"],
  room: ["metadata", "children", "services"],
  zone: ["metadata", "children", "services"],
  bridge_home: ["children", "services"],
  service_group: ["metadata"],
  light: ["owner", "metadata", "on", "dimming", "color_temperature", "color", "effects"],
  grouped_light: ["owner", "on", "dimming"],
  scene: ["metadata", "group", "actions"],
  smart_scene: ["metadata", "group"],
  button: ["owner", "metadata", "button"],
  bell_button: ["owner", "metadata", "button", "bell"],
  relative_rotary: ["owner", "relative_rotary"],
  motion: ["owner", "enabled", "motion"],
  camera_motion: ["owner", "enabled", "motion"],
  grouped_motion: ["owner", "enabled", "motion"],
  grouped_light_level: ["owner", "enabled", "light"],
  convenience_area_motion: ["owner", "enabled", "motion"],
  security_area_motion: ["owner", "enabled", "motion"],
  motion_area_configuration: ["name", "group", "enabled", "health"],
  temperature: ["owner", "enabled", "temperature"],
  light_level: ["owner", "enabled", "light"],
  contact: ["owner", "enabled", "contact_report"],
  tamper: ["owner", "tamper_reports"],
  device_power: ["owner", "power_state"],
  zigbee_connectivity: ["owner", "status", "mac_address"],
  zgp_connectivity: ["owner", "status"],
};

/** The largest bridge has room for some 3,000. */
const MOST = 10_000;
const MOST_REFERENCES = 1_000;
/** Ids are parts of addresses. */
const ID = /^[A-Za-z0-9-]{1,64}$/;

/** The resources of one bridge. What does not look like one is left out and counted. */
export class Resources {
  #all = new Map<string, Resource>();
  /** Parts of answers and events that were left out, since the start. */
  dropped = 0;

  get size(): number {
    return this.#all.size;
  }

  get(id: unknown): Resource | undefined {
    return typeof id === "string" ? this.#all.get(id) : undefined;
  }

  list(): Resource[] {
    return [...this.#all.values()];
  }

  /** Takes all that a bridge has in place of what it had. */
  replace(all: readonly unknown[]): void {
    this.#all = new Map();
    for (const each of all) this.#put(each);
  }

  /** Takes in the container of an event, which holds changes of some resources. */
  apply(container: unknown): Change[] {
    const type = at(container, "type");
    const data = at(container, "data");
    if (!Array.isArray(data) || !isChange(type)) {
      this.dropped++;
      return [];
    }
    return data.flatMap((each: unknown) => {
      const before = this.get(at(each, "id"));
      const told = type === "delete" ? this.#delete(each) : this.#put(each);
      return told ? [{ type, told, before }] : [];
    });
  }

  /**
   * Returns the function that takes in the answer to a request which is sent now. A resource that has changed in the
   * meantime is left out, because the answer may be older than the event.
   */
  beginReading(): (data: readonly unknown[]) => Change[] {
    const before = new Map(this.#all);
    return (data) => {
      const isSame = (id: unknown) => typeof id === "string" && this.get(id) === before.get(id);
      return this.apply({ type: "update", data: data.filter((each) => isSame(at(each, "id"))) });
    };
  }

  /** As it is handed to the next generation, and stored. */
  kept(): BridgeState["resources"] {
    return this.list();
  }

  #put(given: unknown): Resource | undefined {
    const told = read(given);
    if (!told) {
      if (!isOther(given)) this.dropped++;
      return undefined;
    }
    const known = this.#all.get(told.id);
    if (!known && this.#all.size >= MOST) {
      this.dropped++;
      return undefined;
    }
    this.#all.set(told.id, known?.type === told.type ? merged(known, told) : told);
    return told;
  }

  #delete(given: unknown): Resource | undefined {
    const known = this.get(at(given, "id"));
    if (known) this.#all.delete(known.id);
    return known;
  }
}

/** One resource of an event: what was told, which may be a part of it, and what was known before. */
export interface Change {
  readonly type: (typeof CHANGES)[number];
  readonly told: Resource;
  readonly before: Resource | undefined;
}

const CHANGES = ["add", "update", "delete"] as const;

function isChange(type: unknown): type is Change["type"] {
  return CHANGES.some((each) => each === type);
}

/** The value at a path of own properties, or `undefined`. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

/** A finite number that a path leads to. */
export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = at(value, ...path);
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
}

/** A text that a path leads to, cut to what a name may have; an empty one counts as none. */
export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === "string" ? found.trim().slice(0, 200) || undefined : undefined;
}

/** The ids of resources of a type in a list of references, such as a device's services. */
export function idsIn(references: unknown, type: string): string[] {
  if (!Array.isArray(references)) return [];
  return references.slice(0, MOST_REFERENCES).flatMap((each: unknown) => {
    const id = at(each, "rid");
    return at(each, "rtype") === type && typeof id === "string" ? [id] : [];
  });
}

function read(given: unknown): Resource | undefined {
  const id = at(given, "id");
  const type = at(given, "type");
  if (typeof id !== "string" || !ID.test(id) || typeof type !== "string") return undefined;
  const keys = Object.hasOwn(READ, type) ? (READ[type] ?? []) : undefined;
  if (!keys) return undefined;
  const told = keys.flatMap((key) => {
    const value = at(given, key);
    return value === undefined ? [] : [[key, value] as const];
  });
  return { ...Object.fromEntries(told), id, type };
}

/** True for a resource of a type that is not read, of which there are many. */
function isOther(given: unknown): boolean {
  const type = at(given, "type");
  return typeof type === "string" && !Object.hasOwn(READ, type);
}

/** An event names what has changed two levels deep: `{dimming: {brightness: 5}}` says nothing of the rest. */
function merged(known: Resource, told: Resource): Resource {
  const fields = Object.entries(told).map(([key, value]) => {
    const before = known[key];
    return [key, isRecord(before) && isRecord(value) ? { ...before, ...value } : value] as const;
  });
  return { ...known, ...Object.fromEntries(fields), id: known.id, type: known.type };
}

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
