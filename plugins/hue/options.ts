import { type Static, Type } from "@mantel/plugin-sdk";

const Strict = { additionalProperties: false } as const;

/** A bridge's id as its certificate has it: 16 hexadecimal digits in lower case. */
export const BRIDGE_ID = "^[0-9a-f]{16}$";
/** A name or an IP address, with a port or without. */
export const ADDRESS = "^([A-Za-z0-9_.-]+|\\[[0-9a-fA-F:]+\\])(:[0-9]{1,5})?$";

/** How one bridge is reached, and what makes sure that it is the one that was paired. */
export const BridgeOptions = Type.Object(
  {
    address: Type.String({ title: "Address", pattern: ADDRESS, maxLength: 253 }),
    fingerprint: Type.String({
      title: "Fingerprint of its certificate",
      description: "SHA-256, 64 hexadecimal digits; pairing writes it here",
      pattern: "^[0-9a-f]{64}$",
    }),
    applicationKey: Type.String({
      title: "Application key",
      minLength: 1,
      maxLength: 200,
      pattern: "^[\\x21-\\x7e]+$",
      writeOnly: true,
    }),
  },
  Strict,
);
export type BridgeOptions = Static<typeof BridgeOptions>;

export const Options = Type.Object(
  {
    bridges: Type.Record(Type.String({ pattern: BRIDGE_ID }), BridgeOptions, {
      ...Strict,
      default: {},
      maxProperties: 10,
      title: "Bridges",
      description: "by their ids; pairing adds one",
    }),
  },
  Strict,
);
export type Options = Static<typeof Options>;

/** What is known of a bridge, as one generation hands it to the next and as it outlasts a restart. */
export const Kept = Type.Object(
  {
    resources: Type.Array(
      Type.Object({ id: Type.String(), type: Type.String() }, { additionalProperties: true }),
    ),
    /** Where it was found when it was not at the address in the config any more. */
    moved: Type.Optional(Type.Object({ from: Type.String(), to: Type.String() }, Strict)),
    /** True when it was there a moment ago, whatever has been heard of it since. */
    isThere: Type.Optional(Type.Boolean()),
    /** Of the last event that was taken in, and when the bridge was last heard (milliseconds). */
    lastEventId: Type.Optional(Type.String()),
    heardAt: Type.Optional(Type.Number()),
  },
  Strict,
);
export type Kept = Static<typeof Kept>;

export const State = Type.Object(
  { version: Type.Literal(1), bridges: Type.Record(Type.String(), Kept) },
  Strict,
);
export type State = Static<typeof State>;
