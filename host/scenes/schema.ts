import { Cause } from "@mantel/plugin-sdk/cause";
import { SceneDescription } from "@mantel/plugin-sdk/scene";
import { Type, type Static } from "typebox";

const Strict = { additionalProperties: false } as const;
const { name, room, icon } = SceneDescription.properties;

/** The commands of a scene by device id. Each is validated by its device. */
const Targets = Type.Record(Type.String(), Type.Unknown(), {
  minProperties: 1,
  maxProperties: 500,
});

/** The body of `PUT /smart-home/scenes/:id`. */
export const SceneBody = Type.Object({ name, room, icon, targets: Targets }, Strict);
export type SceneBody = Static<typeof SceneBody>;

/** `<data>/scenes.json`: the scenes made by users, by id, and the order of all scenes. */
export const ScenesFile = Type.Object(
  {
    version: Type.Literal(1),
    scenes: Type.Record(Type.String(), SceneBody),
    /** Ids of scenes of the host and of bridges. Absent until somebody orders the scenes. */
    order: Type.Optional(Type.Array(Type.String())),
  },
  Strict,
);

/** The body of `PUT /smart-home/scenes/order`. */
export const SceneOrder = Type.Object(
  { scenes: Type.Array(Type.String({ maxLength: 150 }), { maxItems: 2_000 }) },
  Strict,
);

/** The result of one device when a scene was activated. */
export const SceneResult = Type.Object({
  deviceId: Type.String(),
  status: Type.Enum(["applied", "superseded", "failed"]),
  error: Type.Optional(Type.Object({ code: Type.String(), detail: Type.String() })),
});
export type SceneResult = Static<typeof SceneResult>;

/** The answer to `POST /smart-home/scenes/:id/activate`. `partial`: not every device took its command. */
export const Activation = Type.Object({
  sceneId: Type.String(),
  activationId: Type.String(),
  status: Type.Enum(["ok", "partial"]),
  /** The cause of the activation. */
  cause: Type.Optional(Cause),
  /** Empty for a scene of a bridge that does not report its targets. */
  results: Type.Array(SceneResult),
});
export type Activation = Static<typeof Activation>;
