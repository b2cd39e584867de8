import { asText, type Domain, stateText } from "./domain.ts";
import type { Attributes, Entity } from "./entities.ts";

const TEXT = { type: "text" } as const;

/** `date`, `time`, `datetime` and `input_datetime`: texts such as `2026-11-23` and `07:30:00`. */
export const date: Domain = {
  describe(entity) {
    const isSettable = serviceOf(entity) !== undefined;
    return {
      kind: "sensor",
      capabilities: { value: isSettable ? TEXT : { ...TEXT, readOnly: true } },
      state: { value: stateText(entity) },
    };
  },

  calls({ value }, entity) {
    const known = serviceOf(entity);
    if (!known) return [];
    const { service, field } = known;
    return [{ service, data: { [field]: withSpace(asText(value), entity) } }];
  },

  /** Home Assistant adds seconds and writes instants in its own time zone. */
  confirms({ value }, entity) {
    // without an offset the instant depends on a time zone that only Home Assistant knows
    if (entity.domain === "datetime" && !OFFSET.test(asText(value))) return "answered";
    return momentOf(asText(value)) === momentOf(entity.state) || undefined;
  },
};

const OFFSET = /(Z|[+-]\d\d:?\d\d)$/i;

/** Milliseconds by which equal moments of one kind are equal; NaN for another text. */
function momentOf(text: string): number {
  const full = /^\d\d:/.test(text) ? `1970-01-01T${text}` : text.replace(" ", "T");
  return Date.parse(full.includes("T") && !OFFSET.test(full) ? `${full}Z` : full);
}

function serviceOf({ domain, attributes }: Entity) {
  if (domain !== "input_datetime") return { service: `${domain}.set_value`, field: domain };
  const field = inputField(attributes);
  return field === undefined ? undefined : { service: "input_datetime.set_datetime", field };
}

function inputField({ has_date: hasDate, has_time: hasTime }: Attributes): string | undefined {
  if (hasDate === true) return hasTime === true ? "datetime" : "date";
  return hasTime === true ? "time" : undefined;
}

/** Helpers are set with a space between date and time. */
function withSpace(value: string, { domain }: Entity): string {
  return domain === "input_datetime" ? value.replace("T", " ") : value;
}
