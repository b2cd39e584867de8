import type { Capabilities, Device } from "@mantel/plugin-sdk";

/** The parts of a device that the import looks at. */
export type ImportDevice = Pick<
  Device,
  "id" | "name" | "room" | "kind" | "bridgeKind" | "capabilities"
> & {
  readonly parts?: readonly Pick<
    NonNullable<Device["parts"]>[number],
    "id" | "kind" | "name" | "capabilities"
  >[];
};

/** The home in which the automations will run. */
export interface ImportHome {
  readonly devices: readonly ImportDevice[];
  /** Scenes and calendars by id, with their names. */
  readonly scenes: readonly { readonly id: string; readonly name: string }[];
  readonly calendars: readonly { readonly id: string; readonly name: string }[];
}

/** The device, scene or calendar for an entity, or a typical one in place of a missing one. */
export interface Match {
  readonly entity: string;
  /** The first part of the entity's id, such as `light`. */
  readonly domain: string;
  /** Its id here. */
  readonly id: string;
  readonly isFound: boolean;
  /** `undefined` means that it may have any. */
  readonly capabilities: Capabilities | undefined;
  /** The part of a device that is meant; `undefined` for the whole device. */
  readonly part: string | undefined;
  /** The field that the entity's name means, such as `temperature` in `sensor.hall_temperature`. */
  readonly field: string | undefined;
}

/** One entity of the import, for the list. */
export interface EntityView {
  readonly entity: string;
  /** The kind of thing here that it is. */
  readonly kind: "device" | "scene" | "calendar";
  /** An id, or null if none was found. */
  readonly device: string | null;
  /** Ids that may be meant, the likeliest first. */
  readonly candidates: readonly string[];
}

const kindOf = (domain: string): EntityView["kind"] =>
  domain === "scene" || domain === "calendar" ? domain : "device";

/** The kinds of devices that entities of a domain may be here. Others may be any. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  light: ["light", "group", "switch", "plug"],
  switch: ["switch", "plug", "light", "group", "valve", "siren", "fan"],
  input_boolean: ["switch", "plug"],
  cover: ["cover", "group"],
  climate: ["thermostat", "air-conditioner", "water-heater"],
  water_heater: ["water-heater", "thermostat"],
  lock: ["lock"],
  fan: ["fan"],
  media_player: ["media-player"],
  vacuum: ["vacuum"],
  lawn_mower: ["lawn-mower"],
  alarm_control_panel: ["alarm"],
  humidifier: ["humidifier", "dehumidifier"],
  siren: ["siren"],
  valve: ["valve"],
  person: ["tracker"],
  device_tracker: ["tracker"],
  camera: ["camera"],
  button: ["button"],
  input_button: ["button"],
  weather: ["weather-station"],
  update: ["update"],
};

/** The bridge whose devices have the names that Home Assistant made the ids of entities from. */
const HOME_ASSISTANT = "ha";
const MOST_CANDIDATES = 5;
const SHORTEST_WORD = 3;

/** The entities of an import, and the devices that they are here. */
export class Entities {
  readonly #home: ImportHome;
  /** Choices of the user, by entity. */
  readonly #chosen: Readonly<Record<string, string>>;
  readonly #known = new Map<string, Match>();

  constructor(home: ImportHome, chosen: Readonly<Record<string, string>> = {}) {
    this.#home = home;
    this.#chosen = chosen;
  }

  match(entity: string): Match {
    const known = this.#known.get(entity);
    if (known) return known;
    const match = this.#find(entity);
    this.#known.set(entity, match);
    return match;
  }

  /** The devices of an area and a domain, as entities that are found. */
  inArea(area: string, domain: string): Match[] {
    const kinds = KINDS[domain]?.slice(0, 1) ?? [];
    return this.#home.devices
      .filter(({ room, kind }) => kinds.includes(kind) && slug(room ?? "") === slug(area))
      .map((device) => matchOf(`${domain}.${slug(device.name)}`, domain, device));
  }

  /** All devices of a domain. */
  ofDomain(domain: string): Match[] {
    const kinds = KINDS[domain]?.slice(0, 1) ?? [];
    return this.#home.devices
      .filter(({ kind }) => kinds.includes(kind))
      .map((device) => matchOf(`${domain}.${slug(device.name)}`, domain, device));
  }

  list(): EntityView[] {
    return [...this.#known.values()]
      .map(({ entity, domain, id, isFound }) => ({
        entity,
        kind: kindOf(domain),
        device: isFound ? id : null,
        candidates: isFound ? [] : this.#candidates(entity),
      }))
      .toSorted((a, b) => (a.entity < b.entity ? -1 : 1));
  }

  #find(entity: string): Match {
    const [domain, objectId] = partsOf(entity);
    const chosen = Object.hasOwn(this.#chosen, entity) ? this.#chosen[entity] : undefined;
    if (domain === "scene" || domain === "calendar") {
      return this.#named(domain, entity, chosen ?? objectId, chosen !== undefined);
    }
    if (chosen !== undefined) {
      const device = this.#home.devices.find(({ id }) => id === chosen);
      const named = fieldOfName(objectId, device?.capabilities ?? {});
      if (device) return { ...matchOf(entity, domain, device), field: named };
    }
    return this.#byName(entity) ?? missing(entity, domain);
  }

  #named(domain: "scene" | "calendar", entity: string, wanted: string, isId: boolean): Match {
    const all = domain === "scene" ? this.#home.scenes : this.#home.calendars;
    const found = all.filter(({ id, name }) =>
      isId ? id === wanted : slug(name) === wanted || id === entity || id.endsWith(`:${entity}`),
    );
    const [only] = found;
    if (!only || found.length > 1) return missing(entity, domain);
    return { ...missing(entity, domain), id: only.id, isFound: true };
  }

  /** The only device whose name makes this id of an entity; with several, the one of Home Assistant. */
  #byName(entity: string): Match | undefined {
    const [domain, objectId] = partsOf(entity);
    const fitting = this.#home.devices.flatMap((device) =>
      namedAs(objectId, domain, device, entity),
    );
    for (const level of [0, 1]) {
      const found = fitting.filter((each) => each.level === level).map(({ match }) => match);
      const [only] = found;
      if (only && found.length === 1) return only;
      const [ours, ...others] = found.filter(({ id }) => id.startsWith(`${HOME_ASSISTANT}:`));
      if (ours && others.length === 0) return ours;
      if (found.length > 1) return undefined;
    }
    return undefined;
  }

  #candidates(entity: string): string[] {
    const [domain, objectId] = partsOf(entity);
    if (domain === "scene") return this.#home.scenes.slice(0, 50).map(({ id }) => id);
    if (domain === "calendar") return this.#home.calendars.map(({ id }) => id);
    const wanted = words(objectId);
    const rated = this.#home.devices
      .filter(({ kind }) => KINDS[domain]?.includes(kind) !== false)
      .map((device) => {
        const has = words(slug(`${device.room ?? ""} ${device.name}`));
        return { id: device.id, rate: wanted.filter((word) => has.includes(word)).length };
      });
    return rated
      .filter(({ rate }) => rate > 0)
      .toSorted((a, b) => b.rate - a.rate)
      .slice(0, MOST_CANDIDATES)
      .map(({ id }) => id);
  }
}

interface Named {
  /** 0 for the device's own name, 1 with the name of a field or room. */
  readonly level: 0 | 1;
  readonly match: Match;
}

function namedAs(objectId: string, domain: string, device: ImportDevice, entity: string): Named[] {
  if (KINDS[domain]?.includes(device.kind) === false) {
    const part = device.parts?.find(
      ({ kind, name }) =>
        KINDS[domain]?.includes(kind) && slug(`${device.name} ${name}`) === objectId,
    );
    return part ? [{ level: 1, match: matchOf(entity, domain, device, part) }] : [];
  }
  const name = slug(device.name);
  if (name === "") return [];
  const match = matchOf(entity, domain, device);
  const own = fieldOfName(objectId, device.capabilities);
  if (name === objectId) return [{ level: 0, match: { ...match, field: own } }];
  if (slug(`${device.room ?? ""} ${device.name}`) === objectId) {
    return [{ level: 1, match: { ...match, field: own } }];
  }
  if (!objectId.startsWith(`${name}_`)) return [];
  const rest = objectId.slice(name.length + 1);
  const field = Object.keys(device.capabilities).find((each) => slug(snake(each)) === rest);
  return field === undefined ? [] : [{ level: 1, match: { ...match, field } }];
}

function matchOf(
  entity: string,
  domain: string,
  device: ImportDevice,
  part?: NonNullable<ImportDevice["parts"]>[number],
): Match {
  return {
    entity,
    domain,
    id: device.id,
    isFound: true,
    capabilities: part?.capabilities ?? device.capabilities,
    part: part?.id,
    field: undefined,
  };
}

const missing = (entity: string, domain: string): Match => ({
  entity,
  domain,
  id: entity,
  isFound: false,
  capabilities: undefined,
  part: undefined,
  field: undefined,
});

/** The capability whose name ends the name of an entity. */
function fieldOfName(objectId: string, capabilities: Capabilities): string | undefined {
  return Object.keys(capabilities).find((name) => `_${objectId}`.endsWith(`_${snake(name)}`));
}

const partsOf = (entity: string): [domain: string, objectId: string] => {
  const dot = entity.indexOf(".");
  return dot < 0 ? ["", entity] : [entity.slice(0, dot), entity.slice(dot + 1)];
};
const snake = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const words = (text: string): string[] =>
  text.split("_").filter((word) => word.length >= SHORTEST_WORD);

/** A name as Home Assistant makes the id of an entity from it. */
export const slug = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replaceAll("ø", "o")
    .replaceAll("æ", "ae")
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
