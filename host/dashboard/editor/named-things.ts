import type { CalendarWindow } from "@mantel/plugin-sdk/calendar";
import type { Device } from "@mantel/plugin-sdk/device";
import type { Scene } from "@mantel/plugin-sdk/scene";
import type { FormChoices } from "../form/field.ts";
import { capabilityText, kindText } from "../settings/device-words.ts";
import type { WidgetContexts } from "../widget-context.ts";

type Named = NonNullable<FormChoices["named"]>;

/** The things of the home that settings of a tile can name. */
export function namedThings(
  devices: readonly Device[],
  contexts: Pick<WidgetContexts, "channel">,
): Named {
  const scenes = contexts.channel("scenes").value as readonly Scene[] | undefined;
  const calendar = contexts.channel("calendar").value as CalendarWindow | undefined;
  const fields = devices.flatMap(({ capabilities }) =>
    Object.entries(capabilities)
      .filter(([, { type, readOnly }]) => type === "number" && readOnly)
      .map(([name]) => name),
  );
  return {
    field: sorted(fields.map((name) => [name, capabilityText(name)])),
    kind: sorted(devices.map(({ kind }) => [kind, kindText(kind)])),
    group: sorted(devices.flatMap(({ groups }) => groups.map((name) => [name, name] as const))),
    scene: scenes?.map(({ id, name }) => [id, name]) ?? [],
    calendar: calendar?.sources.map(({ id, name }) => [id, name]) ?? [],
  };
}

/** Each value once, by name. */
function sorted(things: readonly (readonly [value: string, name: string])[]) {
  return [...new Map(things)].toSorted(([, a], [, b]) => a.localeCompare(b));
}
