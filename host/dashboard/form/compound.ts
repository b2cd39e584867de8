import { html } from "lit";
import { isRecord } from "./fault.ts";
import { type Field, pointerTo } from "./field.ts";
import { emptyValueOf, titleOf } from "./schema.ts";
import { words } from "./words.ts";

type Draw = (field: Field) => unknown;

/** The fields of an object. The first change replaces a value that is not an object. */
export function groupView({ schema, value, pointer, request, set }: Field, draw: Draw): unknown {
  const values = isRecord(value) ? value : {};
  return Object.entries(schema.properties ?? {}).map(([key, each]) =>
    draw({
      key,
      schema: each,
      value: values[key],
      pointer: pointerTo(pointer, key),
      request,
      set(next) {
        const { [key]: _before, ...rest } = values;
        set(next === undefined ? rest : { ...rest, [key]: next });
      },
    }),
  );
}

/** A list of items that can be added and removed. */
export function listView(field: Field, draw: Draw): unknown {
  const { key, schema, value, pointer, request, set } = field;
  const items = Array.isArray(value) ? (value as unknown[]) : [];
  const title = titleOf(key, schema);
  const { items: itemSchema = {}, maxItems = Infinity } = schema;
  const rows = items.map((item, index) => {
    const name = words.value.item(titleOf(title, itemSchema), index + 1);
    const row = draw({
      key: name,
      schema: { ...itemSchema, title: name },
      value: item,
      pointer: `${pointer}/${index}`,
      request,
      set: (next) => set(items.with(index, next ?? emptyValueOf(itemSchema))),
    });
    return html`<div class="row">
      ${row}
      <button
        type="button"
        aria-label=${words.value.remove(name)}
        @click=${() => set(items.toSpliced(index, 1))}
      >
        <mantel-icon name="mdi:close"></mantel-icon>
      </button>
    </div>`;
  });
  return html`${rows}
    <button
      type="button"
      class="add"
      aria-label="${words.value.add}: ${title}"
      ?disabled=${items.length >= maxItems}
      @click=${() => set([...items, emptyValueOf(itemSchema)])}
    >
      <mantel-icon name="mdi:plus"></mantel-icon>${words.value.add}
    </button>`;
}
