import type { Fields } from "./abbreviations.ts";
import type { ComponentStates } from "./component-state.ts";

/** Gateways behind gateways; a circle ends here. */
const DEEPEST = 8;

/** Devices through which others are reached (`via_device`), and whether they report that they are away. */
export class Gateways {
  readonly #members = new Map<string, ComponentStates[]>();
  readonly #known = new Set<ComponentStates>();

  constructor(components: readonly ComponentStates[]) {
    const named = new Set(components.flatMap(({ component }) => viaOf(component.device) ?? []));
    if (named.size === 0) return;
    for (const known of components) {
      for (const id of identifiersOf(known.component.device)) {
        if (!named.has(id)) continue;
        const members = this.#members.get(id);
        if (members) members.push(known);
        else this.#members.set(id, [known]);
        this.#known.add(known);
      }
    }
  }

  /** True if the component belongs to a gateway. */
  has(known: ComponentStates): boolean {
    return this.#known.has(known);
  }

  /** True if a gateway, or one on the way to it, reports that it is away. */
  isAway(id: string | undefined, depth = 0): boolean {
    const members = id === undefined ? undefined : this.#members.get(id);
    if (!members || depth > DEEPEST) return false;
    const told = members.flatMap((known) => reportsAway(known) ?? []);
    if (told.length > 0 && told.every(Boolean)) return true;
    const via = members.map(({ component }) => viaOf(component.device)).find((each) => each !== id);
    return this.isAway(via, depth + 1);
  }
}

/** The identifier of the device through which a device is reached, if another one is announced. */
export function viaOf(device: Fields | undefined): string | undefined {
  const via = device?.get("via_device");
  return typeof via === "string" && !identifiersOf(device).includes(via) ? via : undefined;
}

function identifiersOf(device: Fields | undefined): string[] {
  const identifiers = device?.get("identifiers");
  const list: unknown[] = Array.isArray(identifiers) ? identifiers : [identifiers];
  return list.flatMap((each) =>
    typeof each === "string" || typeof each === "number" ? String(each) : [],
  );
}

/**
 * True or false as a component reports it, by its availability or as a connectivity sensor without one; `undefined`
 * if it has not reported anything.
 */
export function reportsAway({ availability, component, state }: ComponentStates) {
  if (availability.topics.length > 0)
    return availability.isTold ? !availability.available : undefined;
  const isStatus =
    component.platform === "binary_sensor" &&
    component.fields.get("device_class") === "connectivity";
  const isConnected = isStatus ? state["value"] : undefined;
  return typeof isConnected === "boolean" ? !isConnected : undefined;
}
