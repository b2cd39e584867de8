import { toCanonicalUnit } from "@mantel/plugin-sdk";
import { choicesIn, mapped, numberIn, rounded, textIn, toNumber } from "./attributes.ts";
import { unitExtra } from "./convert-sensor.ts";
import { choice, type Domain, stateText } from "./domain.ts";

/** Conversions leave no tail beyond so many decimals. */
const DECIMALS = 4;

/** `number` and `input_number` */
export const numeric: Domain = {
  describe(entity) {
    const { attributes } = entity;
    const theirs = textIn(attributes, "unit_of_measurement");
    const { unit, toOurs } = toCanonicalUnit(theirs ?? "");
    const ours = (value: number): number => rounded(toOurs(value), DECIMALS);
    const [min, max] = ["min", "max"].map((name) => mapped(numberIn(attributes, name), ours));
    const step = numberIn(attributes, "step") ?? 0;
    const ourStep = rounded(toOurs(step) - toOurs(0), DECIMALS);
    const hasRange = min !== undefined && max !== undefined && min <= max;
    const value = {
      type: "number",
      ...(hasRange ? { min, max } : {}),
      ...(ourStep > 0 ? { step: ourStep } : {}),
      ...(unit === undefined ? {} : { unit }),
    } as const;
    const beyond = unitExtra(theirs);
    return {
      kind: "sensor",
      capabilities: { value },
      ...beyond.view,
      state: { value: mapped(toNumber(entity.state), ours) ?? null, ...beyond.state },
    };
  },

  calls({ value }, { domain, attributes }) {
    const { toTheirs } = toCanonicalUnit(textIn(attributes, "unit_of_measurement") ?? "");
    const theirs = rounded(toTheirs(Number(value)), DECIMALS);
    return [{ service: `${domain}.set_value`, data: { value: theirs } }];
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
