import type { DeviceEvent } from "@mantel/plugin-sdk";

const LONGEST_EVENT = 100;
const MOST_FIELDS = 20;

/** The event in a payload, if there is one: a press, a turn or an entered code. */
export function eventIn(
  payload: Readonly<Record<string, unknown>>,
): Pick<DeviceEvent, "event" | "data"> | undefined {
  const { action } = payload;
  if (typeof action !== "string" || action === "") return undefined;
  const about = Object.entries(payload).flatMap(([key, value]) => {
    const [, name] = /^action_([a-z][a-z0-9_]{0,50})$/.exec(key) ?? [];
    return name !== undefined && isPlain(value) ? [[camelCase(name), value] as const] : [];
  });
  const event = action.slice(0, LONGEST_EVENT);
  if (about.length === 0) return { event };
  return { event, data: Object.fromEntries(about.slice(0, MOST_FIELDS)) };
}

/** `transition_time` as `transitionTime`. */
function camelCase(name: string): string {
  return name.replace(/_+([a-z0-9]?)/g, (_, letter: string) => letter.toUpperCase());
}

function isPlain(value: unknown): value is string | number | boolean {
  return (
    typeof value === "boolean" ||
    (typeof value === "number" && Number.isFinite(value)) ||
    (typeof value === "string" && value.length <= 200)
  );
}
