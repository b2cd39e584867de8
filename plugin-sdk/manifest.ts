import { Type, type Static } from "typebox";
import { CHANNEL_NAME } from "./channel-names.ts";
import { DEVICE_KINDS } from "./device.ts";
import { Needs } from "./needs.ts";
import { Permissions } from "./permissions.ts";
import { PLUGIN_ID } from "./plugin-id.ts";
import { Strict } from "./schema.ts";
import { SERVICE_KEY, SERVICE_LIMITS } from "./service.ts";

export { PLUGIN_ID };

/** A channel of another plugin, such as `news/headlines`. */
const ChannelKey = Type.String({
  pattern: `${PLUGIN_ID.slice(0, -1)}/${CHANNEL_NAME.slice(1)}`,
  maxLength: 130,
  description: "a channel of another plugin, such as news/headlines",
});

const ServiceKey = Type.String({
  pattern: SERVICE_KEY,
  maxLength: SERVICE_LIMITS.nameLength + 5,
  description: "a service, such as acme.news.items or acme.news.items@2",
});

/** Resource limits of a module. A limit in the config overrides the manifest, whether higher or lower. */
export const Limits = Type.Object(
  {
    /** Heap of the plugin's process, in MiB. */
    memoryMiB: Type.Optional(Type.Integer({ minimum: 16, maximum: 4096 })),
    /** Disk space for its storage and its folders below the data folder, in MiB. */
    storageMiB: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_536 })),
    /** Average share of one CPU over 30 seconds, in percent; several threads can use more than 100. */
    cpuPercent: Type.Optional(Type.Integer({ minimum: 5, maximum: 6400 })),
    /** Time for the start; absent means 10,000, and 1,500 in a reload. */
    startMs: Type.Optional(Type.Integer({ minimum: 100, maximum: 120_000 })),
    /** Time to finish calls and hand over the state; absent means 2,000. */
    quiesceMs: Type.Optional(Type.Integer({ minimum: 50, maximum: 30_000 })),
    /** Time for a call of one of its services; absent means 10,000. */
    callMs: Type.Optional(Type.Integer({ minimum: 50, maximum: 60_000 })),
    /** Maximum number of calls that wait for the module. */
    queueLength: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
  },
  Strict,
);
export type Limits = Static<typeof Limits>;

const rate = {
  /** Average commands per second that each gateway accepts. The host enforces the rate. */
  commandsPerSecond: Type.Number({ exclusiveMinimum: 0, maximum: 1000 }),
  /** Commands that may be sent in a burst after a pause; absent means `commandsPerSecond`. */
  burst: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
};

/** A separate rate for some device kinds or for scenes. Kinds in one entry share the rate. */
const KindRate = Type.Object(
  {
    kinds: Type.Array(Type.Enum([...DEVICE_KINDS, "scene"]), { minItems: 1, uniqueItems: true }),
    ...rate,
  },
  Strict,
);

/** A key of the config, such as `home.latitude`. */
const ConfigKey = Type.String({ pattern: "^[A-Za-z]+(\\.[A-Za-z]+)+$" });

/** A service of the network that the plugin can connect to. */
const Find = Type.Object(
  {
    /** The name in multicast DNS, such as `_lamps._tcp`. */
    mdns: Type.String({ pattern: "^_[a-z0-9-]{1,15}\\._(tcp|udp)$" }),
    /** The user-facing name of what was found, such as `Lamp bridge`. */
    name: Type.String({ minLength: 1, maxLength: 60 }),
    /** A Material Design icon, such as `mdi:lightbulb-group`. */
    icon: Type.Optional(Type.String({ pattern: "^mdi:[a-z0-9-]{1,60}$" })),
    /** Options that connect it, with `{address}` and `{port}`, such as `{"url": "mqtt://{address}:{port}"}`. */
    options: Type.Optional(
      Type.Record(Type.String({ maxLength: 60 }), Type.String({ maxLength: 500 }), {
        ...Strict,
        maxProperties: 10,
      }),
    ),
  },
  Strict,
);
export type Find = Static<typeof Find>;

/** A channel of the plugin that the host serves at a path of the API. */
const ServedPath = Type.Object(
  {
    channel: Type.String({ pattern: CHANNEL_NAME, maxLength: 60 }),
    /**
     * The field of the answer that has the value; null before the first value. Absent: the value is the answer, and
     * without a value the answer is 503.
     */
    field: Type.Optional(Type.String({ pattern: "^[a-z][A-Za-z0-9]*$", maxLength: 60 })),
    /** Sent as `Cache-Control: private, max-age=…`. */
    maxAgeSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600 })),
    /** A topic of the event stream that has these fields of each value; all if absent. */
    event: Type.Optional(
      Type.Object(
        {
          topic: Type.String({ pattern: "^[a-z]+(\\.[a-z]+)+$", maxLength: 60 }),
          fields: Type.Optional(Type.Array(Type.String({ maxLength: 60 }), { maxItems: 50 })),
        },
        Strict,
      ),
    ),
  },
  Strict,
);
export type ServedPath = Static<typeof ServedPath>;

const Translations = Type.Record(
  Type.String({ pattern: "^[a-z]{2,3}$" }),
  Type.Record(Type.String({ maxLength: 2_000 }), Type.String({ maxLength: 2_000 }), {
    maxProperties: 1_000,
  }),
  { ...Strict, maxProperties: 50 },
);

/** A path of the API at which and below which the plugin has routes (`defineRoute({ at })`). */
const RoutedPath = Type.Object({ routes: Type.Literal(true) }, Strict);
/** The claim of a plugin to a path of the API: for a channel or for routes. */
export type ApiPath = ServedPath | Static<typeof RoutedPath>;

/** The `mantel` key of a plugin's `package.json`. The host reads it before it runs any of the plugin's code. */
export const Manifest = Type.Object(
  {
    /** The id of the module: lower-case words joined by hyphens. */
    id: Type.String({
      pattern: PLUGIN_ID,
      maxLength: 64,
      description: "lower-case words joined by hyphens, such as garden-lamp",
    }),
    /** The user-facing name; absent means the id. */
    title: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    /**
     * Translations by language (`de`), then by the English text: the title, titles and descriptions of options and of
     * setup steps, titles of channels, and names in `finds`. A missing one stays English.
     */
    translations: Type.Optional(Translations),
    kinds: Type.Array(Type.Enum(["bridge", "service", "widget", "automation"]), {
      minItems: 1,
      uniqueItems: true,
    }),
    /** The server entry, relative to the plugin's folder. Absent for a plugin with only a widget. */
    server: Type.Optional(
      Type.String({
        pattern: "^[\\w./-]+\\.(ts|js|mts|mjs)$",
        description: "a path in the plugin's folder, such as index.ts",
      }),
    ),
    /** The widget entry, relative to the plugin's folder. */
    widget: Type.Optional(
      Type.String({
        pattern: "^[\\w./-]+\\.(ts|tsx|js)$",
        description: "a path in the plugin's folder, such as widget.ts",
      }),
    ),
    /** The data and commands that the widget may use; absent means none. */
    needs: Type.Optional(Needs),
    /** Required for the kind `bridge`: how its devices are named and commanded. */
    bridge: Type.Optional(
      Type.Object(
        {
          /** The first part of its device ids, such as `lamps` in `lamps:light:3`. */
          kind: Type.String({
            pattern: "^[a-z][a-z0-9]{0,30}$",
            description: "a lower-case word, such as lamps",
          }),
          ...rate,
          /** Kinds with a different rate. Their commands do not count towards `commandsPerSecond`. */
          rates: Type.Optional(Type.Array(KindRate, { maxItems: 10 })),
          /** Time for a device to confirm a command, in milliseconds; absent means 5,000. */
          confirmMs: Type.Optional(Type.Integer({ minimum: 50, maximum: 30_000 })),
        },
        Strict,
      ),
    ),
    /** The services and publications that this plugin provides, such as `acme.news.items` or `acme.news.items@2`. */
    provides: Type.Optional(
      Type.Array(ServiceKey, { maxItems: SERVICE_LIMITS.services, uniqueItems: true }),
    ),
    /** Services of `provides` that other plugins may provide too; their definitions have `providers: "many"`. */
    shares: Type.Optional(
      Type.Array(ServiceKey, { maxItems: SERVICE_LIMITS.services, uniqueItems: true }),
    ),
    /** The services that this plugin calls, and the channels of other plugins that it reads, as `plugin/channel`. */
    uses: Type.Optional(
      Type.Array(Type.Union([ServiceKey, ChannelKey]), { maxItems: 200, uniqueItems: true }),
    ),
    /**
     * A folder below the data folder, such as `automations`. The host compiles its TypeScript files, and the plugin runs
     * them (`ctx.sources`).
     */
    sources: Type.Optional(Type.String({ pattern: "^[a-z][a-z0-9-]{0,40}$" })),
    /**
     * Paths of the API such as `/tides`. The host serves a channel there without asking the plugin, or the plugin has
     * routes there. A path belongs to the first plugin that claims it.
     */
    paths: Type.Optional(
      Type.Record(
        Type.String({ pattern: "^/[a-z][a-z0-9-]{0,40}$" }),
        Type.Union([ServedPath, RoutedPath]),
        Strict,
      ),
    ),
    /**
     * Makes the plugin a fallback. It does not run while one of the config keys is set or, with `bridges`, while
     * another bridge is configured that is not itself a fallback.
     */
    fallbackFor: Type.Optional(
      Type.Object(
        {
          config: Type.Optional(Type.Array(ConfigKey)),
          bridges: Type.Optional(Type.Boolean()),
        },
        Strict,
      ),
    ),
    /**
     * True for a plugin that works only after it was configured. It does not start until one of its options is set or
     * `modules.<id>.enabled` is true; an empty section sets none. With keys such as `home.latitude` it also starts when all
     * of them are set.
     */
    requiresConfig: Type.Optional(
      Type.Union([Type.Boolean(), Type.Array(ConfigKey, { minItems: 1, maxItems: 10 })]),
    ),
    /**
     * Options in which users list what they add to the home, by what that is, such as `{"calendar": "sources"}`. The
     * dashboard offers to add entries where it shows such things. The option is an object with an entry by id.
     */
    adds: Type.Optional(
      Type.Record(
        Type.String({ pattern: "^[a-z][a-z-]{0,40}$" }),
        Type.String({ pattern: "^[A-Za-z][A-Za-z0-9]{0,60}$" }),
        { ...Strict, maxProperties: 10 },
      ),
    ),
    /** Services of the network by which the dashboard offers to connect the plugin. */
    finds: Type.Optional(Type.Array(Find, { maxItems: 5 })),
    /** The permissions of its process; absent means none. */
    permissions: Type.Optional(Permissions),
    /** Resource limits, which the config may override. */
    limits: Type.Optional(Limits),
  },
  Strict,
);
export type Manifest = Static<typeof Manifest>;

/** True for a path with routes, false for one with a channel. */
export function hasRoutes(path: ApiPath): path is Static<typeof RoutedPath> {
  return "routes" in path;
}

/** A device kind or `scene`, for which a bridge can declare a rate. */
export type RateLimitedKind = Static<typeof KindRate>["kinds"][number];
export type ModuleKind = Manifest["kinds"][number];

/** The title in the languages for which the manifest has a translation; `undefined` if it has none. */
export function translatedTitles(manifest: Manifest): Record<string, string> | undefined {
  return translationsOf(manifest.title ?? "", manifest.translations);
}

/** An English text of a manifest by language; `undefined` if there is no translation. */
export function translationsOf(
  text: string,
  translations: Manifest["translations"] = {},
): Record<string, string> | undefined {
  const found = Object.entries(translations).flatMap(([language, texts]) => {
    const own = Object.hasOwn(texts, text) ? texts[text] : undefined;
    return own === undefined ? [] : [[language, own] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
