import type { CommandBody, DeviceState, StateValue } from "@mantel/plugin-sdk";
import type { EngineDevice } from "./automation.ts";
import { isSame, valueOf } from "./values.ts";

/** Commands without state that undo each other. */
const OPPOSITES: Readonly<Record<string, string>> = { open: "close", close: "open" };

/** The values that a command will replace, by field, such as `on` or `parts/light/on`. */
export type Before = Readonly<Record<string, StateValue>>;

/**
 * The values that a command replaces: those of its fields, and `on` beside them, because a brightness switches on.
 * A command that has an opposite is undone by it.
 */
export function valuesBefore(device: EngineDevice | undefined, command: CommandBody): Before {
  const before: Record<string, StateValue> = {};
  for (const [place, fields] of sectionsOf(command)) {
    const names = Object.keys(fields);
    for (const name of new Set([...names, "on"])) {
      const value = valueOf(device, `${place}${name}`);
      if (value !== undefined && value !== null) before[`${place}${name}`] = value;
    }
    for (const name of names) {
      const opposite = Object.hasOwn(OPPOSITES, name) ? OPPOSITES[name] : undefined;
      const hasPosition = valueOf(device, `${place}position`) !== undefined;
      if (opposite === undefined) continue;
      if (hasPosition) before[`${place}position`] = valueOf(device, `${place}position`) ?? 0;
      else before[`${place}${opposite}`] = true;
    }
  }
  return before;
}

/** The command that brings values back; `undefined` if the device has them all. What was off is only switched off. */
export function commandTo(
  device: EngineDevice | undefined,
  before: Before,
): CommandBody | undefined {
  const sections = new Map<string, Record<string, StateValue>>();
  for (const [field, value] of Object.entries(before)) {
    if (isSame(valueOf(device, field), value)) continue;
    const place = field.slice(0, field.lastIndexOf("/") + 1);
    const isOff = before[`${place}on`] === false;
    if (isOff && field !== `${place}on`) continue;
    const section = sections.get(place) ?? {};
    section[field.slice(place.length)] = value;
    sections.set(place, section);
  }
  return sections.size === 0 ? undefined : bodyOf(sections);
}

/** The command that sets one field, such as `parts/light/brightness`. */
export function commandOf(field: string, value: StateValue): CommandBody {
  const place = field.slice(0, field.lastIndexOf("/") + 1);
  return bodyOf(new Map([[place, { [field.slice(place.length)]: value }]]));
}

/** The fields of a command by the place of their section: empty, `parts/<id>/` or `extra/`. */
export function sectionsOf(command: CommandBody): [place: string, fields: object][] {
  const { parts = {}, extra, ...own } = command;
  return [
    ["", own],
    ...Object.entries(parts).map(([id, fields]): [string, object] => [`parts/${id}/`, fields]),
    ...(extra ? [["extra/", extra] as [string, object]] : []),
  ];
}

function bodyOf(sections: ReadonlyMap<string, DeviceState>): CommandBody {
  const body: Record<string, unknown> = {};
  const parts: Record<string, DeviceState> = {};
  for (const [place, fields] of sections) {
    if (place === "") Object.assign(body, fields);
    else if (place === "extra/") body["extra"] = fields;
    else parts[place.slice("parts/".length, -1)] = fields;
  }
  if (Object.keys(parts).length > 0) body["parts"] = parts;
  return body as CommandBody;
}
