import { ACCESS, type Expose } from "./exposes.ts";
import { isSettable } from "./forms.ts";

/** Types of exposes that are a function of a device. */
const FUNCTION_TYPES = new Set(["light", "cover", "climate", "lock", "fan", "switch"]);
/** The properties of a switch itself, and not of one of its settings. */
const SWITCHED = /^(?:state(?:_(?<endpoint>.+))?|valve_(?<valve>\d+))$/;
const MOVED = new Set(["open", "close", "stop"]);
/** Values beside the modes of an air conditioner that has no function. */
const OF_CLIMATE = new Set(["system_mode", "target_temperature", "current_temperature"]);

/** True for the property of a switch itself, such as `state_l1`. */
export const isSwitched = (property: string): boolean => SWITCHED.test(property);

/**
 * Some definitions expose what a function consists of, and not the function: the state of a switch, a valve or a cover, or
 * the modes of an air conditioner. Those become the function here.
 */
export function withFunctions(exposes: readonly Expose[]): readonly Expose[] {
  const types = exposes.map(({ type }) => type).filter((type) => FUNCTION_TYPES.has(type));
  if (types.length === 0) return exposes.map((each) => coverOf(each) ?? switchOf(each) ?? each);
  const isClimate = exposes.some(
    (each) => each.name === "system_mode" && each.type === "enum" && isSettable(each),
  );
  return isClimate && types.every((type) => type === "switch") ? climateOf(exposes) : exposes;
}

function switchOf(expose: Expose): Expose | undefined {
  const { groups } = SWITCHED.exec(expose.property) ?? {};
  if (groups === undefined || expose.type !== "binary" || !isSettable(expose)) return undefined;
  const endpoint = expose.endpoint ?? groups["endpoint"] ?? groups["valve"];
  return functionOf("switch", [{ ...expose, name: "state", endpoint }], endpoint);
}

function coverOf(expose: Expose): Expose | undefined {
  const { type, property, values } = expose;
  const isMoved = values.length > 1 && values.every((value) => MOVED.has(value.toLowerCase()));
  if (property !== "state" || type !== "enum" || !isMoved || !isSettable(expose)) return undefined;
  return functionOf("cover", [expose], undefined);
}

/** The switch of an air conditioner is a value beside its function. */
function climateOf(exposes: readonly Expose[]): readonly Expose[] {
  const features = exposes.filter(({ name }) => OF_CLIMATE.has(name));
  const others = exposes.filter((each) => !features.includes(each));
  return [
    functionOf("climate", features, undefined),
    ...others.flatMap((each) => (each.type === "switch" ? each.features : [each])),
  ];
}

function functionOf(
  type: string,
  features: readonly Expose[],
  endpoint: string | undefined,
): Expose {
  return {
    type,
    name: "",
    property: "",
    endpoint,
    access: ACCESS.told,
    unit: undefined,
    min: undefined,
    max: undefined,
    step: undefined,
    values: [],
    on: undefined,
    off: undefined,
    features,
    category: undefined,
    item: undefined,
    leastItems: undefined,
    mostItems: undefined,
  };
}
