import { Type, type Static } from "typebox";
import { DEVICE_KINDS } from "./device.ts";
import { Permissions } from "./permissions.ts";
import { Strict } from "./schema.ts";
import { PUBLICATIONS, SERVICE_NAMES } from "./service.ts";

/** The pattern of plugin ids: lower-case words joined by hyphens, at most 64 characters. */
export const PLUGIN_ID = "^[a-z][a-z0-9]*(-[a-z0-9]+)*$";

const Provided = Type.Enum([
  ...SERVICE_NAMES,
  ...(Object.keys(PUBLICATIONS) as (keyof typeof PUBLICATIONS)[]),
]);

/** What a module may use. What the config says of a limit, above or below, wins over the manifest. */
export const Limits = Type.Object(
  {
    /** Heap of the process, in MiB. */
    memoryMiB: Type.Optional(Type.Integer({ minimum: 16, maximum: 4096 })),
    /** Share of one CPU over half a minute, in percent; several threads may have more than 100. */
    cpuPercent: Type.Optional(Type.Integer({ minimum: 5, maximum: 6400 })),
    startMs: Type.Optional(Type.Integer({ minimum: 100, maximum: 120_000 })),
    quiesceMs: Type.Optional(Type.Integer({ minimum: 50, maximum: 30_000 })),
    callMs: Type.Optional(Type.Integer({ minimum: 50, maximum: 60_000 })),
    /** Calls that may wait for the module at once. */
    queueLength: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
  },
  Strict,
);
export type Limits = Static<typeof Limits>;

const rate = {
  /** Commands the other side, or each gateway of it, takes per second, on average; the host keeps to it. */
  commandsPerSecond: Type.Number({ exclusiveMinimum: 0, maximum: 1000 }),
  /** Commands that may come at once after a pause; absent means `commandsPerSecond`. */
  burst: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
};

/** A rate of their own for some kinds of devices, and for scenes. Kinds named together share it. */
const KindRate = Type.Object(
  {
    kinds: Type.Array(Type.Enum([...DEVICE_KINDS, "scene"]), { minItems: 1, uniqueItems: true }),
    ...rate,
  },
  Strict,
);

/** The `mantel` key of a plugin's `package.json`: what the host knows before it runs any code. */
export const Manifest = Type.Object(
  {
    id: Type.String({ pattern: PLUGIN_ID, maxLength: 64 }),
    /** A name for people; absent means the id. */
    title: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    kinds: Type.Array(Type.Enum(["bridge", "service", "widget"]), {
      minItems: 1,
      uniqueItems: true,
    }),
    /** The server entry, relative to the folder. A plugin that is only a widget has none. */
    server: Type.Optional(Type.String({ pattern: "^[\\w./-]+\\.(ts|js|mts|mjs)$" })),
    /** The widget entry, relative to the folder. */
    widget: Type.Optional(Type.String({ pattern: "^[\\w./-]+\\.(ts|tsx|js)$" })),
    bridge: Type.Optional(
      Type.Object(
        {
          /** First part of the ids of its devices, such as `hue`. */
          kind: Type.String({ pattern: "^[a-z][a-z0-9]{0,30}$" }),
          ...rate,
          /** What does not go at that rate, and does not count towards it. */
          rates: Type.Optional(Type.Array(KindRate, { maxItems: 10 })),
          /** How long the device may take to confirm a command; absent means 5,000. */
          confirmMs: Type.Optional(Type.Integer({ minimum: 50, maximum: 30_000 })),
        },
        Strict,
      ),
    ),
    /** Services and publications this plugin offers. */
    provides: Type.Optional(Type.Array(Provided, { uniqueItems: true })),
    /** Services this plugin calls. */
    uses: Type.Optional(Type.Array(Type.Enum([...SERVICE_NAMES]), { uniqueItems: true })),
    /**
     * When the plugin steps aside: while one of the config keys is set, or while another bridge that
     * is not itself a stand-in is configured.
     */
    yieldsTo: Type.Optional(
      Type.Object(
        {
          config: Type.Optional(Type.Array(Type.String({ pattern: "^[A-Za-z]+(\\.[A-Za-z]+)+$" }))),
          bridges: Type.Optional(Type.Boolean()),
        },
        Strict,
      ),
    ),
    /**
     * True for a plugin that is of use only to those who have set it up: it does not start until the
     * config has a section for it, or `modules.<id>.enabled` is true.
     */
    optIn: Type.Optional(Type.Boolean()),
    permissions: Type.Optional(Permissions),
    limits: Type.Optional(Limits),
  },
  Strict,
);
export type Manifest = Static<typeof Manifest>;
/** A kind of device, or `scene`, as a bridge may have a rate for it. */
export type PacedKind = Static<typeof KindRate>["kinds"][number];
export type ModuleKind = Manifest["kinds"][number];
