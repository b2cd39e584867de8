import { type Static, Type } from "@mantel/plugin-sdk";

const Strict = { additionalProperties: false } as const;

/** The id of a bridge as in its certificate: 16 lower-case hexadecimal digits. */
export const BRIDGE_ID = "^[0-9a-f]{16}$";
/** A host name or an IP address, optionally with a port. */
export const ADDRESS = "^([A-Za-z0-9_.-]+|\\[[0-9a-fA-F:]+\\])(:[0-9]{1,5})?$";

/** The address of a bridge, and the credentials that identify it. */
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

/** The state of a bridge in handovers and in storage. */
export const BridgeState = Type.Object(
  {
    resources: Type.Array(
      Type.Object({ id: Type.String(), type: Type.String() }, { additionalProperties: true }),
    ),
    /** The new address, if the bridge was not found at the configured one. */
    moved: Type.Optional(Type.Object({ from: Type.String(), to: Type.String() }, Strict)),
    /** True if it was reachable most recently, even if nothing was received since. */
    isThere: Type.Optional(Type.Boolean()),
    /** The id of the last processed event, and the time of the last data (milliseconds). */
    lastEventId: Type.Optional(Type.String()),
    heardAt: Type.Optional(Type.Number()),
  },
  Strict,
);
export type BridgeState = Static<typeof BridgeState>;

export const State = Type.Object(
  { version: Type.Literal(1), bridges: Type.Record(Type.String(), BridgeState) },
  Strict,
);
export type State = Static<typeof State>;
