/**
 * The fields that a message of a protocol may have, by path: `dimming.brightness` is a field of
 * `dimming`, `services[].rid` one of each item, `states.*` any field, and a field with `?` may be absent. A
 * type is a JSON type, a range (`integer 0..100`, `string 1..32` and `list 1..1` by length), `uuid`, `date-time`
 * (RFC 3339), a text with a pattern (`string /^a+$/`), a word in quotes, several of them with `|`, or `as` with the
 * shape and path that has the same type.
 */
export type Shape = Readonly<Record<string, string>>;
export type Shapes = Readonly<Record<string, Shape>>;

/** True for a change, which says only the fields that are other than before. */
interface ShapeOptions {
  readonly isPart?: boolean;
}

/** Everything in a value that does not fit one of the shapes, one line each. */
export function shapeFaults(
  shapes: Shapes,
  name: string,
  value: unknown,
  { isPart = false }: ShapeOptions = {},
): string[] {
  const shape = shapes[name];
  if (!shape) return [`${name}: there is no such shape`];
  const types = new Map<string, { type: string; isOptional: boolean }>();
  for (const [path, type] of Object.entries(shape)) {
    const isOptional = path.endsWith("?");
    types.set(isOptional ? path.slice(0, -1) : path, { type, isOptional });
  }
  const faults: string[] = [];
  look(value, "");
  return faults;

  function look(at: unknown, path: string): void {
    if (Array.isArray(at)) return at.forEach((each: unknown) => lookAtField(each, `${path}[]`));
    if (typeof at !== "object" || at === null) return;
    const below = [...types.keys()].filter((known) => parentOf(known) === path);
    if (below.length === 0) return;
    for (const [key, each] of Object.entries(at)) {
      const field = path === "" ? key : `${path}.${key}`;
      const any = path === "" ? "*" : `${path}.*`;
      lookAtField(each, types.has(field) || !types.has(any) ? field : any);
    }
    if (isPart) return;
    for (const known of below.filter((each) => !each.endsWith("*") && !each.endsWith("[]"))) {
      const key = known.slice(path === "" ? 0 : path.length + 1);
      if (!types.get(known)?.isOptional && !Object.hasOwn(at, key)) {
        faults.push(`${name}.${known}: missing`);
      }
    }
  }

  function lookAtField(each: unknown, field: string): void {
    const known = types.get(field);
    // the items of a list, and the fields of an object, may be of any kind
    if (!known && field.endsWith("[]")) return;
    if (!known) return void faults.push(`${name}.${field}: not known`);
    const type = known.type.startsWith("as ") ? typeAt(shapes, known.type.slice(3)) : known.type;
    if (!type.split(" | ").some((one) => isOf(one, each))) {
      faults.push(`${name}.${field}: ${JSON.stringify(each)} is not ${type.slice(0, 100)}`);
    }
    look(each, field);
  }
}

function typeAt(shapes: Shapes, reference: string): string {
  const [name = ""] = reference.split(".");
  const path = reference.slice(name.length + 1);
  const type = shapes[name]?.[path] ?? shapes[name]?.[`${path}?`];
  if (type === undefined) throw new Error(`${reference} is not in the shapes`);
  return type;
}

function parentOf(path: string): string {
  return /^(.*)(?:\.[^.]+)$/.exec(path)?.[1] ?? "";
}

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

function isOf(type: string, value: unknown): boolean {
  if (type.startsWith('"')) return JSON.stringify(value) === type;
  const [name = "", limit] = type.split(" ");
  switch (name) {
    case "anything":
      return true;
    case "null":
      return value === null;
    case "list":
      return Array.isArray(value) && isWithin(value.length, limit);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "integer":
      return Number.isInteger(value) && isWithin(value as number, limit);
    case "number":
      return typeof value === "number" && isWithin(value, limit);
    case "uuid":
      return typeof value === "string" && UUID.test(value);
    case "date-time":
      return typeof value === "string" && DATE_TIME.test(value);
    case "string":
      return typeof value === "string" && isText(value, limit);
    default:
      return typeof value === name;
  }
}

function isText(value: string, limit: string | undefined): boolean {
  if (limit?.startsWith("/")) return new RegExp(limit.slice(1, -1)).test(value);
  return isWithin(value.length, limit);
}

function isWithin(value: number, range: string | undefined): boolean {
  const [min = "", max = ""] = range?.split("..") ?? [];
  return (
    value >= (min === "" ? -Infinity : Number(min)) &&
    value <= (max === "" ? Infinity : Number(max))
  );
}
