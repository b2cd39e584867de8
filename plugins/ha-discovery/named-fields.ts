import type { Capability, DeviceKind, ExtraCapability } from "@mantel/plugin-sdk";
import {
  canonicalCapability,
  faultsOfVocabulary,
  KINDS,
  READINGS,
} from "@mantel/plugin-sdk/vocabulary";
import type { ComponentStates } from "./component-state.ts";
import { fieldNames, freeName } from "./names.ts";

/** A component, with the names that its fields have in its device. */
export interface NamedComponent {
  readonly known: ComponentStates;
  readonly names: ReadonlyMap<string, string>;
}

/** The components of a device and what they add to it. */
export interface NamedFields {
  readonly components: readonly NamedComponent[];
  /** All that it has, under names that differ. */
  readonly capabilities: Readonly<Record<string, Capability>>;
  /** Those of the capabilities that are not in the vocabulary of the kind. */
  readonly extra: ReadonlyMap<string, ExtraCapability["group"]>;
  /** The names of those that are left out, because there are too many: configuration and diagnostics first. */
  readonly leftOut: readonly string[];
}

/** Maximum capabilities of one device. */
const MOST_CAPABILITIES = 100;

/** Fields shared by several components, such as the last action of a remote's triggers. */
const SHARED = new Set(["lastAction"]);

/** The name of the one field that no other name of the vocabulary describes. */
const GENERIC: ReadonlyMap<DeviceKind, string> = new Map([
  ["sensor", "value"],
  ["binary-sensor", "active"],
  ["button", "press"],
]);

/** A field of a component that does not lead, before it has a name. */
interface Field {
  readonly known: ComponentStates;
  readonly names: Map<string, string>;
  readonly local: string;
  readonly capability: Capability;
  /** Possible names, best first. */
  readonly wanted: readonly string[];
  /** Those of them that mean the same in the vocabulary. */
  readonly canonical: readonly string[];
}

/** Gives the fields of all components of a device names that differ, first those of the vocabulary. */
export function nameFields(
  kind: DeviceKind,
  leader: ComponentStates | undefined,
  others: readonly ComponentStates[],
): NamedFields {
  const device = new Names();
  const components: NamedComponent[] = [];
  if (leader) {
    const names = new Map<string, string>();
    components.push({ known: leader, names });
    for (const field of fieldsOf(leader, names))
      device.add(field, field.local, isOf(kind, field.local, field.capability));
  }
  const canonical = leader ? READINGS : { ...READINGS, ...KINDS[kind].capabilities };
  const fields = others.flatMap((known) => {
    const names = new Map<string, string>();
    components.push({ known, names });
    return fieldsOf(known, names).map((field) => {
      const fits = (name: string) =>
        Object.hasOwn(canonical, name) && isOf(kind, name, field.capability);
      return { ...field, canonical: field.wanted.filter(fits) };
    });
  });
  const unnamed = fields.filter((field) => !device.addCanonical(field));
  const generic = leader ? undefined : genericOf(kind, unnamed);
  for (const field of unnamed) {
    const name = field === generic ? GENERIC.get(kind) : undefined;
    device.add(field, name ?? freeName(extraNames(kind, field), device.taken), name !== undefined);
  }
  const { capabilities, extra, leftOut } = device;
  return { components, capabilities, extra, leftOut };
}

/** The capabilities of one device while they are collected. */
class Names {
  readonly capabilities: Record<string, Capability> = {};
  readonly extra = new Map<string, ExtraCapability["group"]>();
  readonly taken = new Set<string>();
  readonly leftOut: string[] = [];

  /** @param isCanonical true if the vocabulary has the capability under this name */
  add({ known, names, local, capability }: Field, name: string, isCanonical: boolean): void {
    if (this.taken.size >= MOST_CAPABILITIES) {
      this.leftOut.push(name);
      return;
    }
    this.taken.add(name);
    names.set(local, name);
    this.capabilities[name] = capability;
    if (!isCanonical) this.extra.set(name, categoryOf(known));
  }

  /** Adds a field under a name of the vocabulary; false if it has none that is free. */
  addCanonical(field: Field): boolean {
    const name = field.canonical.find((each) => SHARED.has(each) || !this.taken.has(each));
    if (name === undefined) return false;
    this.add(field, name, true);
    return true;
  }
}

function fieldsOf(known: ComponentStates, names: Map<string, string>): Field[] {
  return Object.entries(known.handler.capabilities).map(([local, capability]) => {
    const wanted = SHARED.has(local) ? [local] : namesFor(known, local);
    return { known, names, local, capability, wanted, canonical: [] };
  });
}

/** Possible names of an extra: not one that the vocabulary has for the same on this kind of device. */
function extraNames(kind: DeviceKind, { wanted, capability }: Field): string[] {
  const own = wanted.flatMap((name) => {
    if (!isOf(kind, name, capability)) return [name];
    return capability.readOnly === true ? [] : [`${name}Setting`];
  });
  return own.length > 0 ? own : [...wanted];
}

/** The only field of a device's main function without a name in the vocabulary, if there is exactly one. */
function genericOf(kind: DeviceKind, unnamed: readonly Field[]): Field | undefined {
  const name = GENERIC.get(kind);
  // a reading in a unit that the vocabulary does not have for it is not without a name
  const isReading = (each: string) => Object.hasOwn(READINGS, each);
  const main = unnamed.filter(
    ({ known, wanted }) => !wanted.some(isReading) && categoryOf(known) === "main",
  );
  const [field] = main;
  if (main.length !== 1 || !field || name === undefined) return undefined;
  return isOf(kind, name, field.capability) ? field : undefined;
}

/** True if the vocabulary has this capability under this name on devices of the kind. */
function isOf(kind: DeviceKind, name: string, capability: Capability): boolean {
  const isKnown = canonicalCapability(kind, name) !== undefined;
  return isKnown && faultsOfVocabulary(kind, { [name]: capability }).length === 0;
}

function categoryOf({ component }: ComponentStates): ExtraCapability["group"] {
  const category = component.fields.get("entity_category");
  if (category === "config") return "configuration";
  return category === "diagnostic" ? "diagnostic" : "main";
}

/** The one field of a component is called after the component. */
function namesFor({ component }: ComponentStates, local: string): string[] {
  const isOnly = local === "value" || local === "on";
  return isOnly ? fieldNames(component) : [local];
}
