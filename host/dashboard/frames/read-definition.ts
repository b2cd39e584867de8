import { choicesOf, type FieldSchema } from "../form/schema.ts";
import type { WidgetFacts } from "../widget-loader.ts";
import { type Check, optional, record, textUpTo } from "./checks.ts";
import { openFrame } from "./frame.ts";
import type { FromFrame } from "./from-frame.ts";
import { loadCode } from "./load-code.ts";
import { words } from "./words.ts";

const DEADLINE_MS = 15_000;

/**
 * A widget's definition, read in a temporary frame.
 * @throws Error if its code fails or the definition is invalid
 */
export async function readDefinition(url: string): Promise<WidgetFacts> {
  const code = await loadCode(url);
  const frame = openFrame(document.body, { instance: url, title: "" });
  let deadline: ReturnType<typeof setTimeout> | undefined;
  try {
    return await new Promise<WidgetFacts>((resolve, reject) => {
      deadline = setTimeout(() => reject(new Error(words.peek().frameDoesNotOpen)), DEADLINE_MS);
      frame.user = {
        heard: (message) => take(message, { resolve, reject }),
        failed: reject,
        lost: () => reject(new Error(words.peek().frameLeft)),
      };
      void frame.opened.then(() => frame.send({ kind: "describe", code }));
    });
  } finally {
    clearTimeout(deadline);
    frame.end();
  }
}

function take(
  message: FromFrame,
  { resolve, reject }: { resolve: (facts: WidgetFacts) => void; reject: (error: Error) => void },
): void {
  if (message.kind === "refused") reject(new Error(message.message));
  if (message.kind !== "definition") return;
  const { definition } = message;
  if (isDefinition(definition)) {
    const { preview, ...facts } = definition as unknown as Omit<WidgetFacts, "preview"> & {
      readonly preview?: Readonly<Record<string, unknown>>;
    };
    resolve({ ...facts, ...(preview && { preview: () => preview }) });
  } else reject(new Error("its definition is not a result of defineWidget"));
}

const cells: Check = (value) =>
  Array.isArray(value) &&
  value.length === 2 &&
  value.every((each) => Number.isInteger(each) && each > 0 && each <= 100);
const each =
  (check: Check): Check =>
  (value) =>
    record()(value) && Object.values(value as object).every(check);
const text = textUpTo(100_000);
const short = textUpTo(200);
const numeric: Check = (value) => typeof value === "number" && Number.isFinite(value);

const constant: Check = (value) => short(value) || numeric(value) || typeof value === "boolean";
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.length <= 200 && value.every(check);

const TYPES: readonly unknown[] = ["string", "number", "integer", "boolean"];
const keywords: Check = record({
  title: optional(short),
  format: optional(short),
  deviceKind: optional(short),
  enum: optional(listOf(constant)),
  anyOf: optional(listOf(record({ const: constant, title: optional(short) }))),
  minimum: optional(numeric),
  maximum: optional(numeric),
  multipleOf: optional(numeric),
  minLength: optional(numeric),
  maxLength: optional(numeric),
  maxItems: optional(numeric),
});
const single: Check = (value) => {
  if (!keywords(value)) return false;
  const { type, ...schema } = value as FieldSchema;
  return TYPES.includes(type) || (type === undefined && choicesOf(schema) !== undefined);
};
const list: Check = (value) =>
  keywords(value) && record({ type: (type) => type === "array", items: single })(value);
const setting: Check = (value) => single(value) || list(value);

const isDefinition = record({
  name: short,
  icon: optional(short),
  texts: optional(each(each(text))),
  settings: optional(each(setting)),
  size: record({ default: cells, min: optional(cells), max: optional(cells) }),
  preview: optional(record()),
});
