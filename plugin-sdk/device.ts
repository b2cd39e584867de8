import { Type, type Static } from "typebox";
import { Nullable, Strict } from "./schema.ts";

/** The kinds of devices. The capabilities of each are in `vocabulary/kinds.ts`. */
export const DEVICE_KINDS = [
  "light",
  "switch",
  "plug",
  "sensor",
  "binary-sensor",
  "button",
  "cover",
  "thermostat",
  "fan",
  "lock",
  "media-player",
  "vacuum",
  "alarm",
  "group",
  "humidifier",
  "dehumidifier",
  "water-heater",
  "air-conditioner",
  "valve",
  "siren",
  "lawn-mower",
  "camera",
  "doorbell",
  "tracker",
  "weather-station",
  "update",
] as const;
export type DeviceKind = (typeof DEVICE_KINDS)[number];
export const DeviceKind = Type.Enum([...DEVICE_KINDS]);

/** The units of values. `toCanonicalUnit` converts others. */
export const UNITS = [
  "%",
  "K",
  "°C",
  "lx",
  "W",
  "kWh",
  "hPa",
  "°",
  "V",
  "A",
  "ppm",
  "µg/m³",
  "s",
  "min",
  "dBm",
  "dB",
  "ppb",
  "Hz",
  "VA",
  "var",
  "m³",
  "L",
  "m³/h",
  "mm",
  "mm/h",
  "m",
  "km",
  "km/h",
  "kg",
  "W/m²",
  "µS/cm",
] as const;
export type Unit = (typeof UNITS)[number];
const UnitSchema = Type.Enum([...UNITS]);

const access = { readOnly: Type.Optional(Type.Boolean()) };

/** A number in `unit`, from `min` to `max` in steps of `step`. */
export const NumberCapability = Type.Object(
  {
    type: Type.Literal("number"),
    min: Type.Optional(Type.Number()),
    max: Type.Optional(Type.Number()),
    step: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    unit: Type.Optional(UnitSchema),
    ...access,
  },
  Strict,
);
/** True or false. */
const BooleanCapability = Type.Object({ type: Type.Literal("boolean"), ...access }, Strict);
/** One of the texts in `values`. */
const ChoiceCapability = Type.Object(
  { type: Type.Literal("choice"), values: Type.Array(Type.String(), { minItems: 1 }), ...access },
  Strict,
);
/** A colour `{hue: 0 to 360 degrees, saturation: 0 to 100 percent}`. */
const ColorCapability = Type.Object({ type: Type.Literal("color"), ...access }, Strict);
/** Free text, at most 1,000 characters. */
const TextCapability = Type.Object({ type: Type.Literal("text"), ...access }, Strict);
/** Something that the device does when it is sent `true`. It has no state. */
const CommandCapability = Type.Object({ type: Type.Literal("command"), ...access }, Strict);

/** The type and range of one field of a device's state, as data, so that clients need no code for single brands. */
export const Capability = Type.Union([
  NumberCapability,
  BooleanCapability,
  ChoiceCapability,
  ColorCapability,
  TextCapability,
  CommandCapability,
]);
export type Capability = Static<typeof Capability>;

export const Color = Type.Object(
  {
    hue: Type.Number({ minimum: 0, maximum: 360 }),
    saturation: Type.Number({ minimum: 0, maximum: 100 }),
  },
  Strict,
);
export type Color = Static<typeof Color>;

/** One value of a state. `null` means that the value is unknown. */
export const StateValue = Type.Union([
  Type.Boolean(),
  Type.Number(),
  Type.String({ maxLength: 1000 }),
  Color,
  Type.Null(),
]);
export type StateValue = Static<typeof StateValue>;

const FieldName = "^[a-z][A-Za-z0-9]{0,63}$";

/** The current values by capability name. Absent fields keep their values in an update. */
export const DeviceState = Type.Record(Type.String({ pattern: FieldName }), StateValue);
export type DeviceState = Readonly<Record<string, StateValue>>;

/** The requested values by capability name, such as `{on: true, brightness: 62}`. */
export type DeviceCommand = Readonly<Record<string, Exclude<StateValue, null>>>;

/** The part of a command that is for the parts and the extras of a device. */
export interface CommandBeyond {
  /** The requested values by part id, such as `{light: {on: true}}`. */
  readonly parts: Readonly<Record<string, DeviceCommand>>;
  readonly extra: DeviceCommand;
}

const CommandFields = Type.Record(Type.String(), StateValue);
/**
 * A command as clients send it: fields of the device, of its parts by part id, and of its extras, such as
 * `{on: true, parts: {light: {on: true}}, extra: {childLock: true}}`.
 */
export type CommandBody = Readonly<
  Record<string, DeviceCommand[string] | DeviceCommand | Readonly<Record<string, DeviceCommand>>>
>;
const commandBody = (options: { minProperties?: number }) =>
  Type.Unsafe<CommandBody>(
    Type.Object(
      {
        parts: Type.Optional(
          Type.Record(Type.String(), CommandFields, { description: "fields of parts, by part id" }),
        ),
        extra: Type.Optional({ ...CommandFields, description: "fields of the extras" }),
      },
      { additionalProperties: StateValue, ...options },
    ),
  );
export const CommandBody = commandBody({ minProperties: 1 });

/** The command of a scene to one device. That of a bridge's own scene may have no fields. */
export const SceneTarget = commandBody({});

export const Capabilities = Type.Record(Type.String({ pattern: FieldName }), Capability);
export type Capabilities = Readonly<Record<string, Capability>>;

/**
 * The gateway through which the plugin reaches the device, such as the id of one of its bridges. The manifest's rate
 * limits apply to each gateway separately; all devices without a gateway share one limit.
 */
export const Gateway = Type.Optional(Type.String({ minLength: 1, maxLength: 100 }));

const Groups = Type.Enum(["main", "configuration", "diagnostic"]);
/** A capability that a brand adds to the vocabulary. Users see `main` first, and the others folded away. */
export const ExtraCapability = Type.Union(
  Capability.anyOf.map((type) => Type.Object({ ...type.properties, group: Groups }, Strict)),
);
export type ExtraCapability = Capability & {
  readonly group: "main" | "configuration" | "diagnostic";
};

const ExtraCapabilities = Type.Unsafe<Readonly<Record<string, ExtraCapability>>>(
  Type.Record(Type.String({ pattern: FieldName }), ExtraCapability),
);

/** Capabilities beyond the vocabulary, under names of the bridge's own. */
export const DeviceExtra = Type.Object(
  { capabilities: ExtraCapabilities, state: DeviceState },
  Strict,
);
export type DeviceExtra = Static<typeof DeviceExtra>;

/** The id of a part, such as `light` or `l1`. It never changes. */
export const PartId = Type.String({ pattern: "^[a-z][a-z0-9-]{0,39}$" });

/** A further function of a device, with a kind of its own: the light of a ceiling fan, one gang of a switch. */
export const DevicePart = Type.Object(
  {
    id: PartId,
    kind: DeviceKind,
    name: Type.String({ minLength: 1, maxLength: 200 }),
    capabilities: Capabilities,
    state: DeviceState,
  },
  Strict,
);
export type DevicePart = Static<typeof DevicePart>;

/** `frames`: pictures in a row, as motion JPEG. `video`: a connection by WebRTC. */
export const LiveForm = Type.Enum(["frames", "video"]);
export type LiveForm = Static<typeof LiveForm>;
const LiveForms = Type.Array(LiveForm, { minItems: 1, uniqueItems: true });

/** A device as its bridge describes it. The host adds the id, whose number never changes. */
export const DeviceDescription = Type.Object(
  {
    /** The bridge's own permanent id of the device, such as a serial number or an IEEE address. */
    nativeId: Type.String({ minLength: 1, maxLength: 200 }),
    kind: DeviceKind,
    name: Type.String({ minLength: 1, maxLength: 200 }),
    room: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    groups: Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100 })),
    info: Type.Optional(
      Type.Object(
        {
          manufacturer: Type.Optional(Type.String({ maxLength: 200 })),
          model: Type.Optional(Type.String({ maxLength: 200 })),
          serial: Type.Optional(Type.String({ maxLength: 200 })),
          firmware: Type.Optional(Type.String({ maxLength: 200 })),
        },
        Strict,
      ),
    ),
    /** False while the bridge cannot reach the device; absent means true. */
    available: Type.Optional(Type.Boolean()),
    /** True if the device never reports: its state is then what was sent, and a command needs no confirmation. */
    assumed: Type.Optional(Type.Boolean()),
    /** True if the bridge has a picture of it or by it: see `image` of the running plugin. */
    image: Type.Optional(Type.Boolean()),
    /** The forms of its live picture: see `frames` and `video` of the running plugin. It needs `image` too. */
    live: Type.Optional(LiveForms),
    gateway: Gateway,
    capabilities: Capabilities,
    state: DeviceState,
    /** Further functions, each with a kind of its own. */
    parts: Type.Optional(Type.Array(DevicePart, { maxItems: 50 })),
    /** Capabilities beyond the vocabulary, each with a `group`. */
    extra: Type.Optional(DeviceExtra),
  },
  Strict,
);
export type DeviceDescription = Static<typeof DeviceDescription>;

/** A change to one published device. Absent state fields keep their values. */
export const DeviceUpdate = Type.Object(
  {
    nativeId: Type.String({ minLength: 1, maxLength: 200 }),
    available: Type.Optional(Type.Boolean()),
    state: Type.Optional(DeviceState),
    /** Changed values of parts, by part id. */
    parts: Type.Optional(Type.Record(PartId, DeviceState, { additionalProperties: false })),
    /** Changed values of extras. */
    extra: Type.Optional(DeviceState),
  },
  Strict,
);
export type DeviceUpdate = Static<typeof DeviceUpdate>;

const EventText = Type.String({ maxLength: 200 });

/** A momentary event of a device, such as a button press. Two equal events in a row count as two. */
export const DeviceEvent = Type.Object(
  {
    nativeId: Type.String({ minLength: 1, maxLength: 200 }),
    /** The event's name in the bridge's own terms, such as `on` or `brightness_move_up`. */
    event: Type.String({ minLength: 1, maxLength: 100 }),
    /** Further details, such as `{side: 2}`; at most 20 fields. */
    data: Type.Optional(
      Type.Record(
        Type.String({ pattern: FieldName }),
        Type.Union([Type.Boolean(), Type.Number(), EventText, Type.Null()]),
        { maxProperties: 20, additionalProperties: false },
      ),
    ),
  },
  Strict,
);
export type DeviceEvent = Static<typeof DeviceEvent>;

/** A device as the HTTP API and widgets see it. Instants are ISO 8601 in UTC. */
export const Device = Type.Object({
  /** `<bridge_kind>:<device_kind>:<number>`, such as `hue:light:3`. */
  id: Type.String(),
  bridgeKind: Type.String(),
  kind: DeviceKind,
  number: Type.Integer({ minimum: 1 }),
  /** The id of the module that serves the device. */
  bridge: Type.String(),
  name: Type.String(),
  room: Nullable(Type.String()),
  groups: Type.Array(Type.String()),
  info: Type.Object({
    manufacturer: Nullable(Type.String()),
    model: Nullable(Type.String()),
    serial: Nullable(Type.String()),
    firmware: Nullable(Type.String()),
  }),
  /** False when the device or its bridge cannot be reached. */
  available: Type.Boolean(),
  /** True when a user has hidden the device: user-facing lists omit it. */
  hidden: Type.Optional(Type.Boolean()),
  lastSeenAt: Nullable(Type.String({ format: "date-time" })),
  stateChangedAt: Nullable(Type.String({ format: "date-time" })),
  revision: Type.Integer(),
  /** True if the device never reports its state, which is then what was sent. */
  assumed: Type.Optional(Type.Literal(true)),
  /** True if `GET /smart-home/devices/:id/image` has a picture. */
  image: Type.Optional(Type.Literal(true)),
  /** The forms of its live picture: `GET /smart-home/devices/:id/frames`, and `POST /smart-home/devices/:id/video`. */
  live: Type.Optional(LiveForms),
  capabilities: Capabilities,
  state: DeviceState,
  /** Requested values that the bridge has not confirmed yet. */
  pending: DeviceState,
  /** Further functions, each with its kind. */
  parts: Type.Optional(Type.Array(Type.Object({ ...DevicePart.properties, pending: DeviceState }))),
  /** Capabilities beyond the vocabulary. */
  extra: Type.Optional(Type.Object({ ...DeviceExtra.properties, pending: DeviceState })),
});
export type Device = Static<typeof Device>;
