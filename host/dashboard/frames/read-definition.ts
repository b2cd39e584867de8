import type { SettingSchema } from "@mantel/plugin-sdk/widget";
import type { WidgetFacts } from "../widget-loader.ts";
import { type Check, orAbsent, record, textUpTo } from "./checks.ts";
import { codeAt } from "./code-at.ts";
import { openFrame } from "./frame.ts";
import type { FromFrame } from "./from-frame.ts";
import { words } from "./words.ts";

const DEADLINE_MS = 15_000;

/**
 * A widget's definition, read in a temporary frame.
 * @throws Error if its code fails or the definition is invalid
 */
export async function readDefinition(url: string): Promise<WidgetFacts> {
  const code = await codeAt(url);
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
  if (isDefinition(definition)) resolve(definition as unknown as WidgetFacts);
  else reject(new Error("its definition is not a result of defineWidget"));
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
const choices: Check = (value) => Array.isArray(value) && value.length <= 200 && value.every(short);

const TYPES: readonly unknown[] = ["string", "number", "boolean", "array"];
const schema: Check = (value) =>
  record({
    type: (type) => TYPES.includes(type),
    title: orAbsent(short),
    format: orAbsent(short),
    deviceKind: orAbsent(short),
    enum: orAbsent(choices),
    minimum: orAbsent(numeric),
    maximum: orAbsent(numeric),
    multipleOf: orAbsent(numeric),
    maxItems: orAbsent(numeric),
    items: orAbsent((items) => schema(items) && (items as SettingSchema).type !== "array"),
  })(value);

const isDefinition = record({
  name: short,
  icon: orAbsent(short),
  texts: orAbsent(each(each(text))),
  settings: orAbsent(each(record({ schema }))),
  size: record({ default: cells, min: orAbsent(cells), max: orAbsent(cells) }),
});
