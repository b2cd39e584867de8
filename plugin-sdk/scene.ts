import { Type, type Static } from "typebox";
import { DeviceState, Gateway, SceneTarget } from "./device.ts";
import { Nullable, Strict } from "./schema.ts";

/** A scene that is stored in the bridge and activated with one native call. */
export const SceneDescription = Type.Object(
  {
    nativeId: Type.String({ minLength: 1, maxLength: 200 }),
    name: Type.String({ minLength: 1, maxLength: 200 }),
    room: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    /** The name of a Material Design icon, as `mdi:<name>`. */
    icon: Type.Optional(Type.String({ pattern: "^mdi:[a-z0-9-]{1,60}$" })),
    /** False while the bridge cannot activate the scene; absent means true. */
    available: Type.Optional(Type.Boolean()),
    gateway: Gateway,
    /** The states that the scene sets, by native device id; absent when the bridge does not report them. */
    targets: Type.Optional(Type.Record(Type.String(), DeviceState)),
  },
  Strict,
);
export type SceneDescription = Static<typeof SceneDescription>;

/** A scene as the HTTP API and widgets see it. */
export const Scene = Type.Object({
  /** `<bridge_kind>:scene:<number>`, or `host:scene:<slug>` for one made by a user. */
  id: Type.String(),
  name: Type.String(),
  room: Nullable(Type.String()),
  icon: Nullable(Type.String()),
  /** The module that owns the scene, or `host`. */
  source: Type.String(),
  available: Type.Boolean(),
  /** The commands that the scene sends, by device id; empty when the bridge does not report them. */
  targets: Type.Record(Type.String(), SceneTarget),
  lastActivatedAt: Nullable(Type.String({ format: "date-time" })),
});
export type Scene = Static<typeof Scene>;
