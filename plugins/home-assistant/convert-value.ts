import { toCanonicalUnit } from "@mantel/plugin-sdk";
import { choicesIn, mapped, numberIn, textIn, toNumber } from "./attributes.ts";
import { unitExtra } from "./convert-sensor.ts";
import { choice, type Domain, stateText } from "./domain.ts";

/** `number` and `input_number` */
export const numeric: Domain = {
  describe(entity) {
    const { attributes } = entity;
    const theirs = textIn(attributes, "unit_of_measurement");
    const { unit, toOurs } = toCanonicalUnit(theirs ?? "");
    const [min, max] = ["min", "max"].map((name) => mapped(numberIn(attributes, name), toOurs));
    // degrees Fahrenheit do not fall on steps of degrees Celsius
    const step = toOurs(0) === 0 ? toOurs(numberIn(attributes, "step") ?? 0) : 0;
    const hasRange = min !== undefined && max !== undefined && min <= max;
    const value = {
      type: "number",
      ...(hasRange ? { min, max } : {}),
      ...(step > 0 ? { step } : {}),
      ...(unit === undefined ? {} : { unit }),
    } as const;
    const beyond = unitExtra(theirs);
    return {
      kind: "sensor",
      capabilities: { value },
      ...beyond.view,
      state: { value: mapped(toNumber(entity.state), toOurs) ?? null, ...beyond.state },
    };
  },

  calls({ value }, { domain, attributes }) {
    const { toTheirs } = toCanonicalUnit(textIn(attributes, "unit_of_measurement") ?? "");
    return [{ service: `${domain}.set_value`, data: { value: toTheirs(Number(value)) } }];
  },

  /** Compared in the entity's unit, because a conversion there and back may round. */
  confirms({ value }, { state, attributes }) {
    const { toTheirs } = toCanonicalUnit(textIn(attributes, "unit_of_measurement") ?? "");
    return toNumber(state) === toTheirs(Number(value)) || undefined;
  },
};

/** `select` and `input_select` */
export const select: Domain = {
  describe(entity) {
    const options = choicesIn(entity.attributes, "options");
    const capabilities = choice("value", options);
    return { kind: "sensor", capabilities, state: { value: stateText(entity) } };
  },
  calls: ({ value }, { domain }) => [
    { service: `${domain}.select_option`, data: { option: value } },
  ],
};

/** `text` and `input_text`. A password can be set, and is not shown. */
export const text: Domain = {
  describe(entity) {
    const isSecret = entity.attributes["mode"] === "password";
    return {
      kind: "sensor",
      capabilities: { value: { type: "text" } },
      state: { value: isSecret ? null : textState(entity.state) },
    };
  },
  calls: ({ value }, { domain }) => [{ service: `${domain}.set_value`, data: { value } }],
  confirms: (_, { attributes }) => (attributes["mode"] === "password" ? "answered" : undefined),
};

/** An empty text is a value. */
function textState(state: string): string | null {
  return state === "unknown" || state === "unavailable" ? null : state;
}
