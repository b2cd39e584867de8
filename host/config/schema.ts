import { Limits, PLUGIN_ID } from "@mantel/plugin-sdk/manifest";
import { LOG_LEVELS } from "@mantel/plugin-sdk/protocol";
import { Type, type Static, type TProperties, type TSchema } from "typebox";
import { Format } from "typebox/format";
import { NightSpan, THEMES } from "../api/theme.ts";
import { machineTimeZone } from "../time-zone.ts";

Format.Set("time-zone", (text) => /^[A-Za-z]/.test(text) && accepted(() => zone(text)));
Format.Set("network", isNetwork);
Format.Set("locale", (text) => accepted(() => Intl.getCanonicalLocales(text)));

/** Marks a key that the `edit` scope may change; every other key needs `admin`. */
const forEditors = { "x-scope": "edit" } as const;
/** Names the environment variable whose value overrides the file. */
const from = (variable: string) => ({ "x-env": variable });
const section = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });
const seconds = (fallback: number, minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, default: fallback, ...forEditors });

/** The config of one module. */
export const ModuleSettings = section({
  enabled: Type.Optional(Type.Boolean()),
  limits: Type.Optional(Limits),
  /** The lowest level of its records in the host's log; absent means `log.level`. */
  logLevel: Type.Optional(Type.Enum([...LOG_LEVELS])),
  /** The debugger port of the module, on this machine's loopback address. */
  inspect: Type.Optional(
    Type.Integer({ minimum: 1024, maximum: 65_535, description: "a port from 1024 to 65535" }),
  ),
  /** True if its folder, or a package it imports, may be a link to a folder elsewhere. */
  links: Type.Optional(Type.Boolean()),
  /** True if its widget may run in the dashboard's page, with all permissions of the screen. */
  trusted: Type.Optional(Type.Boolean()),
});

/**
 * Every key of the config: type, default, scope, and the variable that overrides it. A plugin's
 * options belong to the section named by its id.
 */
export const CoreConfig = section({
  api: section({
    /** The path prefix of the routes. A change takes effect at the next start. */
    prefix: Type.Enum(["/api/v1", "/api"], { default: "/api/v1" }),
  }),
  server: section({
    /** Allowed names in the `Host` header, besides localhost and addresses. */
    hosts: Type.Array(
      Type.String({
        pattern: "^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$",
        description: "a host name without port, such as mantel.local",
      }),
      { maxItems: 100, default: [] },
    ),
    /** Trusted reverse proxies, whose `X-Forwarded-For` is used: addresses, or networks such as 10.0.0.0/8. */
    proxies: Type.Array(
      Type.String({
        format: "network",
        description: "an IP address, or a network such as 10.0.0.0/8",
      }),
      { maxItems: 100, default: [] },
    ),
    /**
     * PEM files of a certificate and its key; they enable HTTPS. Paths are relative to the data
     * folder. Changed paths take effect at the next start, changed contents immediately.
     */
    tls: Type.Optional(
      Type.Object(
        {
          cert: Type.String({ minLength: 1, maxLength: 4_096 }),
          key: Type.String({ minLength: 1, maxLength: 4_096 }),
        },
        { additionalProperties: false },
      ),
    ),
    /** Origins of pages that tiles may show; a screen applies a change when it is loaded again. */
    frames: Type.Array(
      Type.String({
        pattern: "^https?://[A-Za-z0-9.-]+(:\\d{1,5})?$",
        maxLength: 300,
        description: "an origin without a path, such as https://example.org",
      }),
      { maxItems: 50, default: [] },
    ),
    rateLimit: Type.Object(
      {
        perSecond: Type.Number({ exclusiveMinimum: 0, maximum: 100_000, default: 20 }),
        burst: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 100 }),
        /** True if callers on this machine are limited too. */
        loopback: Type.Boolean({ default: false }),
      },
      { additionalProperties: false, default: {} },
    ),
  }),
  ui: section({
    theme: Type.Enum([...THEMES], { default: "auto", ...forEditors }),
    locale: Type.String({
      format: "locale",
      maxLength: 50,
      description: "a BCP 47 language tag such as en-GB",
      default: "en-GB",
      ...forEditors,
    }),
    timeZone: Type.String({
      format: "time-zone",
      maxLength: 64,
      description: "an IANA time zone such as Europe/Berlin",
      default: machineTimeZone(),
      ...forEditors,
    }),
    units: Type.Enum(["metric", "imperial"], { default: "metric", ...forEditors }),
    /** The time of the screens' night theme; null means never. */
    night: Type.Union([NightSpan, Type.Null()], { default: null, ...forEditors }),
    /** Seconds without a touch after which a display returns to its first page; 0 means never. */
    idleSeconds: seconds(300, 0, 86_400),
    // The next three are for admins: a client may rely on the list of what editors change.
    /** The colour of main buttons, of the focus and of the light behind the home; absent means neutral. */
    accent: Type.Optional(Type.Enum(["amber", "coral", "rose", "violet", "blue", "teal", "green"])),
    /** The photo behind the pages, as `GET /photos` names it. */
    wallpaper: Type.Optional(
      Type.Object(
        {
          name: Type.String({ minLength: 1, maxLength: 255 }),
          album: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
        },
        { additionalProperties: false },
      ),
    ),
    /** The picture over the first page of an idle screen; absent means none. */
    screensaver: Type.Optional(Type.Enum(["clock", "photos"])),
  }),
  /** The place of the home, for the weather and the position of the sun. */
  home: section({
    /** The name of the town. */
    place: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    latitude: Type.Optional(
      Type.Number({ minimum: -90, maximum: 90, description: "degrees; north is above 0" }),
    ),
    longitude: Type.Optional(
      Type.Number({ minimum: -180, maximum: 180, description: "degrees; east is above 0" }),
    ),
  }),
  calendar: section({
    refreshSeconds: seconds(900, 60, 86_400),
    /** The length of the window if a request names none. */
    defaultDays: Type.Integer({ minimum: 1, maximum: 366, default: 14, ...forEditors }),
  }),
  system: section({ sampleSeconds: seconds(5, 1, 3_600) }),
  devices: section({ pollSeconds: seconds(30, 1, 86_400) }),
  log: section({
    level: Type.Enum([...LOG_LEVELS], {
      default: "info",
      ...forEditors,
      ...from("MANTEL_LOG_LEVEL"),
    }),
  }),
  mqtt: section({
    /** The broker; absent means the embedded one. */
    url: Type.Optional(
      Type.String({
        pattern: "^(mqtts?|wss?)://[^\\s@/?#]+(/[^\\s@]*)?$",
        maxLength: 2_000,
        description: "the address of a broker such as mqtt://192.168.1.5:1883",
        ...from("MANTEL_MQTT_URL"),
      }),
    ),
    username: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
    password: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, writeOnly: true })),
    /** CA certificates (PEM) for the broker's certificate; absent means the system's. */
    ca: Type.Optional(
      Type.String({
        pattern: "^\\s*-----BEGIN CERTIFICATE-----",
        maxLength: 100_000,
        description: "a certificate in PEM form",
      }),
    ),
    /** Topic filters that `POST /mqtt/publish` refuses. */
    denyTopics: Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), {
      maxItems: 1_000,
      default: ["zigbee2mqtt/bridge/request/#"],
    }),
  }),
  /** By module id. */
  modules: Type.Record(Type.String({ pattern: PLUGIN_ID }), ModuleSettings, {
    additionalProperties: false,
  }),
});

/**
 * A JSON Merge Patch (RFC 7396) of the host's own keys, for documentation: plugins add keys, and a
 * patch is checked key by key.
 */
export const ConfigPatch = patchOf(CoreConfig);

/** The effective config: core sections by name, and a section for each plugin that has options. */
export type Config = Static<typeof CoreConfig> & {
  readonly [section: string]: Readonly<Record<string, unknown>>;
};

/** Sections of the host; no plugin may have such an id. */
export const HOST_SECTIONS: ReadonlySet<string> = new Set([
  "api",
  "server",
  "ui",
  "devices",
  "home",
  "log",
  "modules",
]);

function patchOf(schema: TSchema): TSchema {
  const { properties } = schema as { properties?: TProperties };
  if (!properties) return Type.Union([schema, Type.Null()]);
  const parts = Object.entries(properties).map(([key, part]) => [key, patchOf(part)] as const);
  return Type.Union([Type.Partial(Type.Object(Object.fromEntries(parts))), Type.Null()]);
}

const zone = (timeZone: string) => new Intl.DateTimeFormat("en", { timeZone });

/** Uses the schema library's own formats and not `node:net`, because browsers load this file too. */
function isNetwork(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const longest = Format.Test("ipv4", address) ? 32 : Format.Test("ipv6", address) ? 128 : -1;
  if (longest < 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= longest);
}

function accepted(construct: () => unknown): boolean {
  try {
    construct();
    return true;
  } catch {
    return false; // Intl reports an invalid text only by throwing
  }
}
