import type { Device } from "@mantel/plugin-sdk/device";
import type { CommandBody } from "@mantel/plugin-sdk/device";
import { html, nothing } from "lit";
import { formView } from "../form/form.ts";
import type { FieldSchema } from "../form/schema.ts";
import { valueText } from "../settings/device-words.ts";
import { isRecord, type Part, type SectionName } from "./document.ts";
import { factValue } from "./fact-words.ts";
import {
  type DeviceField,
  fieldOf,
  type HomeView,
  settableFields,
  statefulFields,
  WEEKDAYS,
} from "./home.ts";
import { commandFrom, dayName, flatCommand, phraseOf } from "./phrases.ts";
import { words } from "./words.ts";

type Values = Readonly<Record<string, unknown>>;

/** The inputs of a part: their schemas and values, and the part that changed values make. */
interface PartForm {
  readonly fields: Readonly<Record<string, FieldSchema>>;
  readonly values: Values;
  readonly read: (values: Values) => Part;
}

interface FormOptions {
  readonly section: SectionName;
  readonly part: Part;
  readonly home: HomeView;
  /** Faults of the host, by JSON pointer into the part. */
  readonly faults: ReadonlyMap<string, string>;
  /** Prefix of the ids of the inputs. */
  readonly id: string;
  readonly onChange: (part: Part) => void;
}

/** The inputs of a trigger, condition or action; nothing for one that has none. */
export function partForm({ section, part, home, faults, id, onChange }: FormOptions): unknown {
  const form = formOf(section, part, home);
  if (!form) return nothing;
  const { fields, values, read } = form;
  const devices = home.devices().map((device) => ({ ...device, name: placedName(device) }));
  return formView({
    schema: { type: "object", properties: fields },
    values,
    offers: { devices, rooms: [] },
    faults,
    id,
    onChange: (next) => onChange(read(next)),
  });
}

function placedName({ name, room }: Device): string {
  return room === null ? name : `${name} · ${room}`;
}

function formOf(section: SectionName, part: Part, home: HomeView): PartForm | undefined {
  if (part.type === "state") return stateForm(section === "triggers", part, home);
  if (part.type === "command") return commandForm(part, home);
  if (part.type === "ramp") return rampForm(part, home);
  const fields = plainFields(section, part, home);
  if (Object.keys(fields).length === 0) return undefined;
  return {
    fields,
    values: shownValues(part, fields),
    read: (values) => withValues(part, fields, values),
  };
}

/** Texts that are empty mean that the field is absent; minutes are milliseconds in the part. */
function withValues(part: Part, fields: PartForm["fields"], values: Values): Part {
  const next: Record<string, unknown> = { ...part };
  for (const key of Object.keys(fields)) {
    const value = values[key];
    if (key === "anyone") next[key] = value === true;
    else if (key === "offsetMs") next[key] = Math.round(Number(value ?? 0) * 60_000);
    else if (isAbsent(value) && !REQUIRED.has(`${part.type} ${key}`)) delete next[key];
    else next[key] = key === "to" ? namesIn(value) : (value ?? "");
  }
  return next as Part;
}

/** One name, or a list of several that are separated by commas. */
function namesIn(value: unknown): unknown {
  const names = String(value)
    .split(",")
    .map((name) => name.trim());
  return names.length > 1 ? names.filter((name) => name !== "") : names[0];
}

const isAbsent = (value: unknown): boolean =>
  value === undefined || value === "" || (Array.isArray(value) && value.length === 0);

const REQUIRED: ReadonlySet<string> = new Set([
  "event device",
  "event event",
  "time at",
  "cron expression",
  "calendar calendar",
  "mqtt topic",
  "webhook name",
  "scene scene",
  "notify message",
]);

function shownValues(part: Part, fields: PartForm["fields"]): Values {
  return Object.fromEntries(
    Object.keys(fields).map((key) => {
      const value = part[key];
      if (key === "offsetMs") return [key, typeof value === "number" ? value / 60_000 : undefined];
      return [key, Array.isArray(value) && key === "to" ? value.join(", ") : value];
    }),
  );
}

const text = (title: string): FieldSchema => ({ type: "string", title });
const choice = (title: string, options: readonly (readonly [unknown, string])[]): FieldSchema => ({
  title,
  anyOf: options.map(([value, name]) => ({ const: value, title: name })),
});
const device = (): FieldSchema => ({ type: "string", format: "device", title: words.value.device });
const time = (title: string): FieldSchema => ({ type: "string", format: "time", title });
const days = (): FieldSchema => ({
  type: "array",
  title: words.value.days,
  uniqueItems: true,
  items: { anyOf: WEEKDAYS.map((day) => ({ const: day, title: dayName(day) })) },
});

function plainFields(section: SectionName, part: Part, home: HomeView): PartForm["fields"] {
  if (part.type === "presence") return presenceFields(section, part, home);
  const texts = words.value;
  const calendar = choice(texts.calendar, [["*", texts.anyCalendar], ...home.calendars()]);
  const offsetMs: FieldSchema = { type: "number", title: texts.offset };
  const edge = choice(texts.edge, [
    ["start", texts.edgeStart],
    ["end", texts.edgeEnd],
    ["reminder", texts.edgeReminder],
  ]);
  const event = choice(texts.sunEvent, [
    ["sunrise", texts.sunrise],
    ["sunset", texts.sunset],
  ]);
  const is = choice(texts.sunEvent, [
    ["up", texts.isLight],
    ["down", texts.isDark],
  ]);
  const which = { calendar, match: text(texts.match) };
  const fields: Readonly<Record<SectionName, Readonly<Record<string, PartForm["fields"]>>>> = {
    triggers: {
      event: { device: device(), event: text(texts.event) },
      time: { at: time(texts.time), days: days() },
      cron: { expression: text(texts.expression) },
      sun: { event, offsetMs },
      calendar: { ...which, edge, offsetMs },
      webhook: { name: text(texts.webhookName) },
      mqtt: { topic: text(texts.topic), payload: text(texts.payload) },
    },
    conditions: {
      time: { after: time(texts.from), before: time(texts.until), days: days() },
      sun: { is },
      calendar: which,
    },
    actions: {
      scene: { scene: choice(texts.scene, [...home.scenes()]) },
      notify: { message: text(texts.message), to: text(texts.recipients) },
    },
  };
  return fields[section][part.type] ?? {};
}

function presenceFields(section: SectionName, part: Part, home: HomeView): PartForm["fields"] {
  const texts = words.value;
  const trackers = home.devices().filter(({ kind }) => kind === "tracker");
  return {
    person: choice(texts.people, [
      ["", texts.everyone],
      ...trackers.map(({ id, name }) => [id, name] as const),
    ]),
    anyone: choice(
      texts.edge,
      [true, false].map((anyone) => [anyone, phraseOf(section, { ...part, anyone }, home).text]),
    ),
  };
}

/** Fields by which devices are mostly told apart, the first that a device has. */
const USUAL_FIELDS = ["contact", "motion", "occupancy", "presence", "home", "on", "temperature"];

/** The field that most rules about a device are about. */
function usualField(chosen: Device | undefined): string {
  const keys = chosen ? statefulFields(chosen).map(({ key }) => key) : [];
  return USUAL_FIELDS.find((name) => keys.includes(name)) ?? keys[0] ?? "";
}

function stateForm(isTrigger: boolean, part: Part, home: HomeView): PartForm {
  const texts = words.value;
  const chosen = home.device(String(part["device"]));
  const field = fieldOf(chosen, String(part["field"]));
  const target = isTrigger ? "to" : "equals";
  const fields: Record<string, FieldSchema> = { device: device() };
  if (chosen) {
    const known = statefulFields(chosen).map(({ key, label }) => [key, label] as const);
    fields["field"] = choice(texts.field, known);
  }
  if (field) Object.assign(fields, valueFields(field, target, isTrigger));
  return {
    fields,
    values: Object.fromEntries(
      Object.keys(fields).map((key) => [key, part[key] ?? (key === target ? "" : undefined)]),
    ),
    read(values) {
      const next = { ...part, ...values } as Record<string, unknown>;
      if (values["device"] !== part["device"]) {
        next["field"] = usualField(home.device(String(values["device"])));
      }
      const isOther = next["device"] !== part["device"] || next["field"] !== part["field"];
      if (isOther) for (const key of ["to", "from", "equals", "above", "below"]) delete next[key];
      const now = fieldOf(home.device(String(next["device"])), String(next["field"]));
      if (isOther && now?.capability.type === "boolean") next[target] = now.name !== "contact";
      for (const key of [target, "above", "below"]) if (isAbsent(next[key])) delete next[key];
      return next as Part;
    },
  };
}

/** The inputs for the value of a field: a choice, or limits for a number. */
function valueFields(
  { name, capability }: DeviceField,
  target: string,
  isTrigger: boolean,
): Record<string, FieldSchema> {
  const texts = words.value;
  const any: readonly (readonly [unknown, string])[] = isTrigger ? [["", texts.anyValue]] : [];
  switch (capability.type) {
    case "boolean":
      return {
        [target]: choice(texts.to, [
          ...any,
          [true, factValue(name, true)],
          [false, factValue(name, false)],
        ]),
      };
    case "choice":
      return {
        [target]: choice(texts.to, [
          ...any,
          ...capability.values.map((each) => [each, valueText(each)] as const),
        ]),
      };
    case "number": {
      const unit = capability.unit === undefined ? "" : ` (${capability.unit})`;
      return {
        above: { type: "number", title: texts.above + unit },
        below: { type: "number", title: texts.below + unit },
      };
    }
    case "text":
      return { [target]: text(texts.to) };
    default:
      return {};
  }
}

/** Inputs for a number that changes evenly: the device, which of its numbers, and the value at the end. */
function rampForm(part: Part, home: HomeView): PartForm {
  const texts = words.value;
  const rampable = (id: unknown): readonly DeviceField[] => {
    const chosen = home.device(String(id));
    return (chosen ? settableFields(chosen) : []).filter(
      ({ capability }) => capability.type === "number",
    );
  };
  const known = rampable(part["device"]);
  const field = known.find(({ key }) => key === part["field"]);
  const fields: Record<string, FieldSchema> = { device: device() };
  if (known.length > 0) {
    fields["field"] = choice(
      texts.field,
      known.map(({ key, label }) => [key, label]),
    );
  }
  if (field) fields["to"] = { ...commandField(field), title: texts.to };
  return {
    fields,
    values: Object.fromEntries(Object.keys(fields).map((key) => [key, part[key]])),
    read(values) {
      const next = { ...part, ...values };
      const numbers = rampable(next["device"]);
      if (numbers.some(({ key }) => key === next["field"])) return next;
      return { ...next, field: numbers[0]?.key ?? next["field"] };
    },
  };
}

/** Inputs for what a device can be told. What they cannot show, such as a colour, stays in the command. */
function commandForm(part: Part, home: HomeView): PartForm {
  const chosen = home.device(String(part["device"]));
  const settable = (chosen ? settableFields(chosen) : []).filter(
    ({ capability }) => capability.type !== "color",
  );
  const command = isRecord(part["command"]) ? (part["command"] as CommandBody) : {};
  const flat = new Map(flatCommand(command));
  const fields: Record<string, FieldSchema> = { device: device() };
  const values: Record<string, unknown> = { device: part["device"] };
  for (const field of settable) {
    fields[field.key] = commandField(field);
    values[field.key] =
      flat.get(field.key) ?? (field.capability.type === "number" ? undefined : "");
  }
  return {
    fields,
    values,
    read({ device: id, ...told }) {
      if (id !== part["device"]) {
        const next = home.device(String(id));
        return { ...part, device: id ?? "", command: next ? usualCommand(next) : {} };
      }
      const changed = new Map(flat);
      for (const { key } of settable) {
        if (isAbsent(told[key])) changed.delete(key);
        else changed.set(key, told[key]);
      }
      return { ...part, command: commandFrom([...changed]) };
    },
  };
}

function commandField({ name, label, capability }: DeviceField): FieldSchema {
  const texts = words.value;
  switch (capability.type) {
    case "boolean":
      return choice(label, [
        ["", texts.leaveIt],
        [true, factValue(name, true)],
        [false, factValue(name, false)],
      ]);
    case "choice":
      return choice(label, [
        ["", texts.leaveIt],
        ...capability.values.map((each) => [each, valueText(each)] as const),
      ]);
    case "command":
      return choice(label, [
        ["", texts.leaveIt],
        [true, texts.doIt],
      ]);
    case "number": {
      const { min, max, unit } = capability;
      const title = unit === undefined ? label : `${label} (${unit})`;
      return {
        type: "number",
        title,
        ...(min !== undefined && { minimum: min }),
        ...(max !== undefined && { maximum: max }),
      };
    }
    default:
      return text(label);
  }
}

/** The command that most rules send to a device. */
function usualCommand(chosen: Device): Readonly<Record<string, unknown>> {
  const settable = settableFields(chosen);
  if (settable.some(({ key }) => key === "on")) return { on: true };
  const numeric = settable.find(({ capability }) => capability.type === "number");
  const command = settable.find(({ capability }) => capability.type === "command");
  if (command) return commandFrom([[command.key, true]]);
  return numeric ? commandFrom([[numeric.key, numeric.value ?? 0]]) : {};
}

const SPANS_MS = [60_000, 5 * 60_000, 15 * 60_000];

/** A row of usual spans, and an input for another one in minutes. */
export function spanForm(options: {
  readonly id: string;
  readonly label: string;
  readonly ms: number;
  /** The text for no span; absent if there must be one. */
  readonly none?: string;
  readonly onChange: (ms: number) => void;
}): unknown {
  const { id, label, ms, none, onChange } = options;
  const usual = none === undefined ? SPANS_MS : [0, ...SPANS_MS];
  return html`<div class="spans" role="group" aria-label=${label}>
    <span aria-hidden="true">${label}</span>
    ${usual.map(
      (each) =>
        html`<button type="button" aria-pressed=${each === ms} @click=${() => onChange(each)}>
          ${each === 0 ? none : `${each / 60_000} min`}
        </button>`,
    )}
    <label for=${id}>${words.value.otherSpan}</label>
    <input
      id=${id}
      type="number"
      min="0"
      step="any"
      inputmode="decimal"
      aria-label="${label}: ${words.value.minutes}"
      .value=${ms > 0 && !usual.includes(ms) ? String(ms / 60_000) : ""}
      @change=${({ currentTarget }: Event) => {
        const { valueAsNumber } = currentTarget as HTMLInputElement;
        if (valueAsNumber >= 0) onChange(Math.round(valueAsNumber * 60_000));
      }}
    />
    <span aria-hidden="true">min</span>
  </div>`;
}
