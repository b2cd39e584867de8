import { html, nothing } from "lit";
import { groupView } from "./compound.ts";
import { faultOf, isRecord } from "./fault.ts";
import { type Field, type FormRequest, idOf } from "./field.ts";
import { inputOf } from "./inputs.ts";
import { controlOf, titleOf } from "./schema.ts";
import { words } from "./words.ts";

/**
 * A form for a JSON Schema, rendered by lit and without state of its own. Stored values that the
 * schema does not know are shown as unknown and kept until the user discards them.
 */
export function formView(request: FormRequest): unknown {
  const { schema, values } = request;
  const known = schema.properties ?? {};
  const unknown = Object.keys(values).filter((key) => !Object.hasOwn(known, key));
  const set = (next: unknown): void => request.onChange(isRecord(next) ? next : {});
  return html`<div class="form">
    ${groupView({ key: "", schema, value: values, pointer: "", request, set }, fieldView)}
    ${unknown.length === 0 ? nothing : unknownView(unknown, request)}
  </div>`;
}

/** A field with its label, hint and fault. */
function fieldView(field: Field): unknown {
  const { key, schema, pointer, request } = field;
  const id = idOf(field);
  const title = titleOf(key, schema);
  const fault = request.faults?.get(pointer) ?? faultOf(schema, field.value, words.value);
  const notes = html`${
    schema.description === undefined
      ? nothing
      : html`<p class="hint" id="${id}-hint">${schema.description}</p>`
  }
  ${fault === undefined ? nothing : html`<p class="fault" id="${id}-fault">${fault}</p>`}`;
  const input = inputOf(field, fieldView);
  switch (controlOf(schema)) {
    case "switch":
      return html`<div class="field line"><label for=${id}>${title}</label>${input}${notes}</div>`;
    case "choices":
    case "list":
    case "group":
    case "map":
      return html`<fieldset class="field">
        <legend>${title}</legend>
        ${input}${notes}
      </fieldset>`;
    default:
      return html`<div class="field"><label for=${id}>${title}</label>${input}${notes}</div>`;
  }
}

function unknownView(keys: readonly string[], { values, onChange }: FormRequest): unknown {
  const drop = (key: string): void => {
    const { [key]: _dropped, ...rest } = values;
    onChange(rest);
  };
  return html`<div class="field unknown">
    <p class="hint">${words.value.unknownSettingsKept}</p>
    ${keys.map(
      (key) =>
        html`<div class="row">
          <code>${key}: ${JSON.stringify(values[key])}</code>
          <button
            type="button"
            aria-label=${words.value.discardUnknown(key)}
            @click=${() => drop(key)}
          >
            <mantel-icon name="mdi:close"></mantel-icon>
          </button>
        </div>`,
    )}
  </div>`;
}
