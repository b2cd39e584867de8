import { Type, type Static } from "typebox";
import { CHANNEL_NAME } from "./channel-names.ts";
import { DEVICE_KINDS } from "./device.ts";
import { PLUGIN_ID } from "./plugin-id.ts";
import { Strict } from "./schema.ts";
import { normalServiceKey, SERVICE_KEY, SERVICE_LIMITS } from "./service.ts";

/** A document of the host, or a path at and below which a plugin has routes: `/tides` of the API, or `/plugins/tides`. */
const WidgetRead = Type.String({
  pattern: `^(calendar|history|/plugins/${PLUGIN_ID.slice(1, -1)}|/[a-z][a-z0-9-]{0,40})$`,
  maxLength: 75,
  description: "calendar, history, or routes of another plugin: /tides or /plugins/tides",
});

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
    /**
     * `calendar` is `/calendar/events`, `history` is `/smart-home/devices/…/history`. A path such as `/tides` or
     * `/plugins/tides` is routes of another plugin, at it and below; those of its own plugin need no entry.
     */
    reads: Type.Optional(Type.Array(WidgetRead, { maxItems: 50, uniqueItems: true })),
  },
  Strict,
);
export type Needs = Static<typeof Needs>;

/** The needs of a widget, which may also call the services of its plugin, and read its routes at these paths of the API. */
export function needsWithOwn(
  needs: Needs,
  { provides, routed }: { provides: readonly string[]; routed: readonly string[] },
): Needs {
  const services = [...(needs.services ?? []), ...provides].map(normalServiceKey);
  const reads = [...(needs.reads ?? []), ...routed];
  return {
    ...needs,
    ...(services.length > 0 && { services: [...new Set(services)] }),
    ...(reads.length > 0 && { reads: [...new Set(reads)] }),
  };
}
