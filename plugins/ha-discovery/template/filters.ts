import type { Arguments } from "./arguments.ts";
import { listFilters } from "./list-filters.ts";
import { momentFilters } from "./moment-filters.ts";
import { numberFilters } from "./number-filters.ts";
import type { Run } from "./run.ts";
import { textFilters } from "./text-filters.ts";
import { TemplateError, type Value } from "./values.ts";

export type Filter = (value: Value, given: Arguments, run: Run) => Value;

const FILTERS: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ...Object.entries(textFilters),
  ...Object.entries(numberFilters),
  ...Object.entries(listFilters(filterNamed)),
  ...Object.entries(momentFilters),
]);

/** The filter of this name. @throws TemplateError when templates have none */
export function filterNamed(name: string): Filter {
  const found = FILTERS.get(name);
  if (found) return found;
  throw new TemplateError(`there is no filter ${name.slice(0, 60)}`);
}
