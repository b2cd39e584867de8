import type { Filter } from "./arguments.ts";
import { listFilters } from "./list-filters.ts";
import { momentFilters } from "./moment-filters.ts";
import { numberFilters } from "./number-filters.ts";
import { regexFilters } from "./regex-filters.ts";
import { textFilters } from "./text-filters.ts";
import { TemplateError } from "./values.ts";

const FILTERS: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ...Object.entries(textFilters),
  ...Object.entries(numberFilters),
  ...Object.entries(listFilters(filterNamed)),
  ...Object.entries(momentFilters),
  ...Object.entries(regexFilters),
]);

/** The filter of this name. @throws TemplateError when templates have none */
export function filterNamed(name: string): Filter {
  const found = FILTERS.get(name);
  if (found) return found;
  throw new TemplateError(`unknown filter ${name.slice(0, 60)}`);
}
