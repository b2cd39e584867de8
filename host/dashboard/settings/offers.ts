import type { Offers } from "../form/field.ts";
import type { Store } from "../store.ts";

/** What forms offer where a device or a room is asked for. */
export function offersOf(store: Store): Offers {
  const devices = store.allDevices().value;
  const rooms = new Set(devices.flatMap(({ room }) => (room === null ? [] : [room])));
  return { devices, rooms: [...rooms].toSorted((a, b) => a.localeCompare(b)) };
}
