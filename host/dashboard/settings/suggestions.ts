import type { FormChoices } from "../form/field.ts";
import type { Store } from "../store.ts";

/** Choices for device and room fields in forms. */
export function suggestionsOf(store: Store): FormChoices {
  const devices = store.allDevices().value;
  const rooms = new Set(devices.flatMap(({ room }) => (room === null ? [] : [room])));
  return { devices, rooms: [...rooms].toSorted((a, b) => a.localeCompare(b)) };
}
