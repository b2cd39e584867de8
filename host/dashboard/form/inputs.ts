import type { NamedThing } from "@mantel/plugin-sdk/widget-settings";
import { html, nothing } from "lit";
import { groupView, listView } from "./compound.ts";
import { faultOf, isRecord } from "./fault.ts";
import { type Field, idOf } from "./field.ts";
import { iconPicker } from "./icon-picker.ts";
import { mapView } from "./map-view.ts";
import { choicesOf, type Control, controlOf, type FieldSchema } from "./schema.ts";
import { words } from "./words.ts";

type Draw = (field: Field) => unknown;
type Changed = Event & { readonly currentTarget: HTMLInputElement };

/** The input for a field, without its label. `draw` renders the fields inside it. */
export function inputOf(field: Field, draw: Draw): unknown {
  const control = controlOf(field.schema);
  if (control === "group") return groupView(field, draw);
  if (control === "list") return listView(field, draw);
  if (control === "map") return mapView(field, draw);
  return INPUTS[control](field);
}

const INPUTS: Readonly<Record<Exclude<Control, "group" | "list" | "map">, Draw>> = {
  text: (field) => textInput(field, "text"),
  date: (field) => textInput(field, "date"),
  time: (field) => textInput(field, "time"),
  lines: linesInput,
  icon: iconInput,
  color: (field) => textInput(field, "text", "#ffb86b"),
  secret: secretInput,
  number: numberInput,
  switch: switchInput,
  choice: ({ schema, ...field }) =>
    selectInput(
      { schema, ...field },
      (choicesOf(schema) ?? []).map(({ value, name }) => [value, name]),
    ),
  choices: choicesInput,
  device: (field) =>
    selectInput(field, [
      ["", words.value.none],
      ...field.request.offers.devices
        .filter(({ kind }) => [kind, undefined].includes(field.schema.deviceKind))
        .map(({ id, name }) => [id, name] as const),
    ]),
  room: (field) =>
    selectInput(field, [
      ["", words.value.none],
      ...field.request.offers.rooms.map((room) => [room, room] as const),
    ]),
  named: namedInput,
  json: jsonInput,
};

function namedInput(field: Field): unknown {
  const { format, default: usual = "" } = field.schema;
  const offered = field.request.offers.named?.[format as NamedThing];
  if (!offered) return textInput(field, "text");
  return selectInput(field, usual === "" ? [["", words.value.none], ...offered] : offered);
}

function textInput(
  field: Field,
  type: "text" | "password" | "date" | "time",
  example?: string,
): unknown {
  const { schema, value, set } = field;
  const usual = schema.default === undefined || schema.default === "" ? example : schema.default;
  return html`<input
    id=${idOf(field)}
    type=${type}
    autocomplete="off"
    spellcheck="false"
    dir="auto"
    placeholder=${usual ?? nothing}
    aria-describedby=${notesOf(field)}
    aria-invalid=${invalid(field)}
    .value=${typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value)}
    @change=${({ currentTarget }: Changed) => set(textOf(schema, currentTarget.value))}
  />`;
}

function iconInput(field: Field): unknown {
  const { schema, value } = field;
  const set = (icon: string): void => field.set(textOf(schema, icon));
  return iconPicker({ id: idOf(field), value: typeof value === "string" ? value : null, set });
}

/** An empty text becomes `undefined`, and so the default, if the schema does not allow it. */
function textOf(schema: FieldSchema, value: string): string | undefined {
  const { minLength = 0, pattern = "" } = schema;
  return value === "" && (minLength > 0 || pattern !== "") ? undefined : value;
}

/** A stored secret is never shown: an empty input keeps it. */
function secretInput(field: Field): unknown {
  const { value, set } = field;
  const isSet = isRecord(value) && value.set === true;
  return html`<input
    id=${idOf(field)}
    type="password"
    autocomplete="new-password"
    placeholder=${isSet ? words.value.secretIsSet : nothing}
    aria-describedby=${notesOf(field)}
    aria-invalid=${invalid(field)}
    .value=${typeof value === "string" ? value : ""}
    @change=${({ currentTarget }: Changed) => {
      if (currentTarget.value !== "" || !isSet) set(currentTarget.value || undefined);
    }}
  />`;
}

function numberInput(field: Field): unknown {
  const { schema, value, set } = field;
  return html`<input
    id=${idOf(field)}
    type="number"
    min=${schema.minimum ?? nothing}
    max=${schema.maximum ?? nothing}
    step=${schema.multipleOf ?? (schema.type === "integer" ? 1 : "any")}
    placeholder=${schema.default ?? nothing}
    aria-describedby=${notesOf(field)}
    aria-invalid=${invalid(field)}
    .value=${typeof value === "number" ? `${value}` : ""}
    @change=${({ currentTarget: { value: text, valueAsNumber } }: Changed) =>
      set(text === "" ? undefined : valueAsNumber)}
  />`;
}

function switchInput(field: Field): unknown {
  const { schema, value, set } = field;
  const on = typeof value === "boolean" ? value : schema.default === true;
  return html`<input
    id=${idOf(field)}
    type="checkbox"
    role="switch"
    aria-describedby=${notesOf(field)}
    .checked=${on}
    @change=${({ currentTarget }: Changed) => set(currentTarget.checked)}
  />`;
}

/** A stored value that is not offered stays selected and is marked. */
function selectInput(field: Field, offered: readonly (readonly [unknown, string])[]): unknown {
  const { schema, value = schema.default, set } = field;
  const isOffered = value === undefined || offered.some(([each]) => each === value);
  const options = isOffered
    ? offered
    : [
        ...offered,
        [
          value,
          words.value.unavailable(typeof value === "string" ? value : JSON.stringify(value)),
        ] as const,
      ];
  return html`<select
    id=${idOf(field)}
    aria-describedby=${notesOf(field)}
    aria-invalid=${invalid(field)}
    @change=${({ currentTarget }: Event & { readonly currentTarget: HTMLSelectElement }) =>
      set(options[currentTarget.selectedIndex]?.[0])}
  >
    ${options.map(([each, name]) => html`<option .selected=${each === value}>${name}</option>`)}
  </select>`;
}

/** Multiple choice, with a checkbox for each value. A stored value that is not offered is kept. */
function choicesInput({ schema, value = schema.default, set }: Field): unknown {
  const chosen: readonly unknown[] = Array.isArray(value) ? value : [];
  const offered = choicesOf(schema.items ?? {}) ?? [];
  const others = chosen.filter((each) => !offered.some((offer) => offer.value === each));
  const choose = (changed: unknown, isChosen: boolean): void => {
    const values = offered.map((offer) => offer.value);
    const next = values.filter((each) => (each === changed ? isChosen : chosen.includes(each)));
    set([...others, ...next]);
  };
  return html`<div class="choices">
    ${offered.map(
      ({ value: each, name }) =>
        html`<label class="choice">
          <input
            type="checkbox"
            .checked=${chosen.includes(each)}
            @change=${({ currentTarget }: Changed) => choose(each, currentTarget.checked)}
          />
          <span>${name}</span>
        </label>`,
    )}
  </div>`;
}

function linesInput(field: Field): unknown {
  const { value, set } = field;
  return html`<textarea
    id=${idOf(field)}
    rows="6"
    class="lines"
    dir="auto"
    aria-describedby=${notesOf(field)}
    aria-invalid=${invalid(field)}
    .value=${typeof value === "string" ? value : ""}
    @change=${({ currentTarget }: Event) => set((currentTarget as HTMLTextAreaElement).value)}
  ></textarea>`;
}

function jsonInput(field: Field): unknown {
  const { value, set } = field;
  const take = (area: HTMLTextAreaElement): void => {
    try {
      set(area.value.trim() === "" ? undefined : JSON.parse(area.value));
      area.setCustomValidity("");
    } catch {
      area.setCustomValidity(words.value.notJson);
      area.reportValidity();
    }
  };
  return html`<textarea
    id=${idOf(field)}
    rows="4"
    spellcheck="false"
    aria-describedby=${notesOf(field)}
    .value=${value === undefined ? "" : JSON.stringify(value, undefined, 2)}
    @change=${({ currentTarget }: Event & { readonly currentTarget: HTMLTextAreaElement }) =>
      take(currentTarget)}
  ></textarea>`;
}

function notesOf(field: Field): string {
  const id = idOf(field);
  return `${id}-hint ${id}-fault`;
}

function invalid(field: Field): "true" | "false" {
  const { request, pointer, schema, value } = field;
  return (request.faults?.get(pointer) ?? faultOf(schema, value, words.value)) === undefined
    ? "false"
    : "true";
}
