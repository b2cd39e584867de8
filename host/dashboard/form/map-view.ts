import { html, noChange, nothing } from "lit";
import { groupView } from "./compound.ts";
import { isRecord } from "./fault.ts";
import { type Field, idOf, pointerTo } from "./field.ts";
import {
  controlOf,
  emptyValueOf,
  entriesOf,
  type FieldSchema,
  titleOf,
  withoutSecrets,
} from "./schema.ts";
import { words } from "./words.ts";

type Entries = readonly (readonly [key: string, value: unknown])[];

/** One entry of a map, and the function that replaces it. */
interface Entry {
  readonly field: Field;
  readonly entries: Entries;
  readonly index: number;
  readonly pattern: RegExp;
  readonly schema: FieldSchema;
}

/** An object with user-defined keys: entries that can be added, renamed and removed. */
export function mapView(field: Field, draw: (field: Field) => unknown): unknown {
  const { key, schema, value, set } = field;
  const { pattern = /^/, schema: entrySchema = {} } = entriesOf(schema) ?? {};
  const entries: Entries = Object.entries(isRecord(value) ? value : {});
  const { maxProperties = Infinity } = schema;
  const isFull = entries.length >= maxProperties || entries.some(([name]) => name === "");
  return html`${entries.map((_, index) =>
      entryView({ field, entries, index, pattern, schema: entrySchema }, draw),
    )}
    <button
      type="button"
      class="add"
      aria-label="${words.value.add}: ${titleOf(key, schema)}"
      ?disabled=${isFull}
      @click=${() => set(Object.fromEntries([...entries, ["", emptyValueOf(entrySchema)]]))}
    >
      <mantel-icon name="mdi:plus"></mantel-icon>${words.value.add}
    </button>`;
}

/** Opens automatically if it needs input. Only the user closes it. */
function entryView(entry: Entry, draw: (field: Field) => unknown): unknown {
  const { field, entries, index, schema } = entry;
  const [name = "", value] = entries[index] ?? [];
  const title = name === "" ? words.value.newEntry : nameOf(name, value);
  const pointer = pointerTo(field.pointer, name);
  const isWrong = [...(field.request.faults?.keys() ?? [])].some((each) =>
    `${each}/`.startsWith(`${pointer}/`),
  );
  const content: Field = {
    ...field,
    key: title,
    schema: { ...schema, title },
    value,
    pointer,
    set: (next) => field.set(Object.fromEntries(entries.with(index, [name, next]))),
  };
  return html`<details
    class="entry"
    .open=${isWrong || keyFaultOf(entry) !== undefined ? true : noChange}
  >
    <summary dir="auto">${title}</summary>
    <div class="form">
      ${keyView(entry)} ${controlOf(schema) === "group" ? groupView(content, draw) : draw(content)}
      <button
        type="button"
        class="add"
        @click=${() => field.set(Object.fromEntries(entries.toSpliced(index, 1)))}
      >
        <mantel-icon name="mdi:close"></mantel-icon>${words.value.remove(title)}
      </button>
    </div>
  </details>`;
}

function keyFaultOf({ entries, index, pattern }: Entry): string | undefined {
  const [name = ""] = entries[index] ?? [];
  if (name === "") return words.value.keyMissing;
  return pattern.test(name) ? undefined : words.value.keyInvalid(pattern.source);
}

/** For the host, a renamed entry is a new one and has no secrets. */
function keyView(entry: Entry): unknown {
  const { field, entries, index, schema } = entry;
  const [name = "", value] = entries[index] ?? [];
  const id = `${idOf({ ...field, pointer: pointerTo(field.pointer, name) })}-key`;
  const fault = field.request.faults?.get(pointerTo(field.pointer, name)) ?? keyFaultOf(entry);
  const rename = (input: HTMLInputElement): void => {
    const next = input.value.trim();
    const isTaken = next !== name && entries.some(([each]) => each === next);
    input.setCustomValidity(isTaken ? words.value.keyTaken(next) : "");
    if (isTaken || next === name) return void input.reportValidity();
    field.set(Object.fromEntries(entries.with(index, [next, withoutSecrets(schema, value)])));
  };
  return html`<div class="field">
    <label for=${id}>${words.value.key}</label>
    <input
      id=${id}
      autocomplete="off"
      spellcheck="false"
      dir="ltr"
      aria-describedby="${id}-fault"
      aria-invalid=${fault === undefined ? "false" : "true"}
      .value=${name}
      @change=${({ currentTarget }: Event) => rename(currentTarget as HTMLInputElement)}
    />
    ${fault === undefined ? nothing : html`<p class="fault" id="${id}-fault">${fault}</p>`}
  </div>`;
}

/** The display name of an entry that has one, before its id. */
function nameOf(key: string, value: unknown): string {
  const name = isRecord(value) ? value["name"] : undefined;
  return typeof name === "string" && name !== "" ? `${name} (${key})` : key;
}
