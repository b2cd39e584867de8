import { Type, type Static } from "typebox";
import { CHANNEL_NAME } from "./channel-names.ts";
import { DEVICE_KINDS } from "./device.ts";
import { Strict } from "./schema.ts";
import { SERVICE_KEY, SERVICE_LIMITS } from "./service.ts";

/** The documents that a widget can read with `ctx.read`. */
export const WIDGET_READS = ["calendar", "history", "photos"] as const;

/**
 * The data and commands that a widget may use. The dashboard denies everything else to a widget in a frame, and
 * the settings page shows this list to the user.
 */
export const Needs = Type.Object(
  {
    /** `read` permits reading devices, `command` permits sending commands to them. */
    devices: Type.Optional(Type.Array(Type.Enum(["read", "command"]), { uniqueItems: true })),
    /** Only devices of these kinds; absent means every kind. */
    kinds: Type.Optional(
      Type.Array(Type.Enum([...DEVICE_KINDS]), { minItems: 1, uniqueItems: true }),
    ),
    /** Only devices in these rooms; absent means every room. */
    rooms: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        minItems: 1,
        maxItems: 50,
        uniqueItems: true,
      }),
    ),
    /** Services of other plugins that the widget calls; those of its own plugin need no entry. */
    services: Type.Optional(
      Type.Array(Type.String({ pattern: SERVICE_KEY, maxLength: SERVICE_LIMITS.nameLength + 5 }), {
        maxItems: 50,
        uniqueItems: true,
      }),
    ),
    /**
     * Channels: `headlines` of the own plugin, `news/headlines` of another one, and the host's own `calendar`, `scenes`
     * and `modules`.
     */
    channels: Type.Optional(
      Type.Array(
        Type.String({
          pattern: `^([a-z][a-z0-9-]*/)?${CHANNEL_NAME.slice(1)}`,
          maxLength: 130,
          description: "a channel such as headlines, or news/headlines of another plugin",
        }),
        { maxItems: 50, uniqueItems: true },
      ),
    ),
    /** True for a widget that activates scenes. */
    scenes: Type.Optional(Type.Boolean()),
    /** `calendar` is `/calendar/events`, `history` is `/smart-home/devices/…/history`, `photos` is `/photos`. */
    reads: Type.Optional(Type.Array(Type.Enum([...WIDGET_READS]), { uniqueItems: true })),
  },
  Strict,
);
export type Needs = Static<typeof Needs>;
