import { isDeepStrictEqual } from "node:util";
import type { Json } from "./home-assistant-services.ts";

/** An entity as Home Assistant keeps it. */
export interface FakeEntity {
  state: string;
  attributes: Json;
}

export const NOON = "2026-11-20T12:00:00.000000+00:00";
export const CONTEXT = { id: "01JD4E9Z0000000000000000AA", parent_id: null, user_id: null };
const NOON_S = Date.parse(NOON) / 1_000;

/** An entity as `subscribe_entities` tells of it at first. */
export function compressed({ state, attributes }: FakeEntity): Json {
  return { s: state, a: attributes, c: CONTEXT.id, lc: NOON_S };
}

/** The message of `subscribe_entities` for a change: only the differences. */
export function changeOf(before: FakeEntity, next: FakeEntity): Json {
  const set = Object.entries(next.attributes).filter(
    ([name, value]) => !isDeepStrictEqual(before.attributes[name], value),
  );
  const gone = Object.keys(before.attributes).filter((name) => !(name in next.attributes));
  const plus = {
    ...(before.state === next.state ? { lu: NOON_S + 1 } : { s: next.state, lc: NOON_S + 1 }),
    ...(set.length > 0 ? { a: Object.fromEntries(set) } : {}),
    c: CONTEXT.id,
  };
  return { "+": plus, ...(gone.length > 0 ? { "-": { a: gone } } : {}) };
}

/** Says that a registry is another, without saying what has changed. */
export function registryEvent(type: string): Json {
  const data = { action: "update" };
  return { event_type: type, data, origin: "LOCAL", time_fired: NOON, context: CONTEXT };
}

export const ENTITY_ENTRY = {
  area_id: null,
  categories: {},
  config_entry_id: null,
  device_id: null,
  disabled_by: null,
  entity_category: null,
  has_entity_name: false,
  hidden_by: null,
  icon: null,
  labels: [],
  name: null,
  options: {},
  original_name: null,
  platform: "demo",
  translation_key: null,
  unique_id: "demo-1",
};

export const DEVICE_ENTRY = {
  area_id: null,
  manufacturer: null,
  model: null,
  name: null,
  name_by_user: null,
  serial_number: null,
  sw_version: null,
};

export const AREA_ENTRY = { aliases: [], floor_id: null, icon: null, labels: [], picture: null };

export function configOf(state: string, temperature: string): Json {
  return {
    latitude: 52.52,
    longitude: 13.4,
    elevation: 38,
    radius: 100,
    location_name: "Test home",
    unit_system: {
      length: "km",
      mass: "g",
      volume: "L",
      temperature,
      pressure: "Pa",
      wind_speed: "m/s",
      accumulated_precipitation: "mm",
    },
    time_zone: "Europe/Berlin",
    components: ["light"],
    config_dir: "/config",
    allowlist_external_dirs: [],
    allowlist_external_urls: [],
    version: "2026.11.1",
    config_source: "storage",
    recovery_mode: false,
    safe_mode: false,
    state,
    external_url: null,
    internal_url: null,
    currency: "EUR",
    country: "DE",
    language: "en",
  };
}
