import type { CalendarWindow } from "@mantel/plugin-sdk/calendar";
import type { Device } from "@mantel/plugin-sdk/device";
import type { Scene } from "@mantel/plugin-sdk/scene";
import type { FormChoices } from "../form/field.ts";
import { capabilityText, kindText } from "../settings/device-words.ts";
import type { WidgetContexts } from "../widget-context.ts";

type Named = NonNullable<FormChoices["named"]>;

/** The things of the home that settings of a tile can name. Each list is read only for a setting that needs it. */
export function namedThings(
  devices: readonly Device[],
  contexts: Pick<WidgetContexts, "channel">,
): Named {
  return {
    get field() {
      const measured = devices.flatMap(({ capabilities }) =>
        Object.entries(capabilities).filter(
          ([, { type, readOnly }]) => type === "number" && readOnly,
        ),
      );
      return sorted(measured.map(([name]) => [name, capabilityText(name)]));
    },
    get kind() {
      return sorted(devices.map(({ kind }) => [kind, kindText(kind)]));
    },
    get group() {
      return sorted(devices.flatMap(({ groups }) => groups.map((name) => [name, name] as const)));
    },
    get scene() {
      const scenes = contexts.channel("scenes").value as readonly Scene[] | undefined;
      return scenes?.map(({ id, name }) => [id, name] as const) ?? [];
    },
    get calendar() {
      const calendar = contexts.channel("calendar").value as CalendarWindow | undefined;
      return calendar?.sources.map(({ id, name }) => [id, name] as const) ?? [];
    },
  };
}

/** Each value once, by name. */
function sorted(things: readonly (readonly [value: string, name: string])[]) {
  return [...new Map(things)].toSorted(([, a], [, b]) => a.localeCompare(b));
}
