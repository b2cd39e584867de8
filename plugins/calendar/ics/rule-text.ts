import { compact } from "./zone-text.ts";

/** A rule with a part set, or without it. */
export function withPart(rule: string, name: string, value?: string): string {
  const parts = rule.split(";").filter((part) => !part.toUpperCase().startsWith(`${name}=`));
  return [...parts, ...(value === undefined ? [] : [`${name}=${value}`])].join(";");
}

/** A rule whose UNTIL, if it is a time, is this many milliseconds later. */
export function shiftedUntil(rule: string, by: number): string {
  return rule.replace(
    /UNTIL=(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/i,
    (_, ...digits: string[]) => {
      const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = digits.map(Number);
      return `UNTIL=${compact(Date.UTC(year, month - 1, day, hour, minute, second) + by)}Z`;
    },
  );
}
