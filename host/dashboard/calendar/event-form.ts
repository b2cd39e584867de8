import type { CalendarEvent, CalendarSource } from "@mantel/plugin-sdk/calendar";
import type { calendarChange, CalendarChange } from "@mantel/plugin-sdk/services";
import type { WidgetContext } from "@mantel/plugin-sdk/widget";
import { html, nothing, render, type TemplateResult } from "lit";
import { addStyles } from "../add-styles.ts";
import { conferenceLink, showEventDetails } from "./event-details.ts";
import {
  changesOf,
  creationOf,
  type EventFields,
  fieldsOf,
  hasTimes,
  newFields,
  withAllDay,
  withStart,
} from "./event-fields.ts";
import { type Word, words } from "./words.ts";
import styles from "./event-form.css";

/** The service by its name alone: its schemas are not needed in a page. */
const CHANGE = { name: "calendar.change", version: 1 } as typeof calendarChange;
const SCOPES = [
  ["this", "This event"],
  ["following", "This and following"],
  ["all", "All events"],
] as const;
const REPETITIONS = [
  ["", "Never"],
  ["FREQ=DAILY", "Every day"],
  ["FREQ=WEEKLY", "Every week"],
  ["FREQ=MONTHLY", "Every month"],
  ["FREQ=YEARLY", "Every year"],
] as const;

type Context = Pick<WidgetContext<never, unknown>, "call" | "announce" | "timeZone">;

interface Subject {
  /** The calendars that can be changed. */
  readonly calendars: readonly Pick<CalendarSource, "id" | "name">[];
  /** The event to change; absent for a new one. */
  readonly event?: CalendarEvent;
  /** The day of a new event, such as `2026-11-20`. */
  readonly date?: string;
}

/**
 * Opens a dialog in which the user creates an event, in words or by its fields, or changes, moves or deletes one. An
 * event of a calendar that is only read is shown. Resolves when an event to change was read from its server.
 */
export async function openEventForm(ctx: Context, subject: Subject): Promise<void> {
  addStyles(styles);
  const { event, calendars } = subject;
  if (event && calendars.every(({ id }) => id !== event.calendarId)) {
    return showEventDetails(event, ctx.timeZone.peek());
  }
  await new EventForm(ctx, subject).open();
}

class EventForm {
  readonly #ctx: Context;
  readonly #subject: Subject;
  readonly #dialog: HTMLDialogElement;
  #before: EventFields;
  #fields: EventFields;
  #calendarId: string;
  #scope: "this" | "following" | "all" = "this";
  #words: string | undefined;
  #etag: string | undefined;
  #fault: string | undefined;
  #isStale = false;
  #isBusy = false;

  constructor(ctx: Context, subject: Subject) {
    const { event, date, calendars } = subject;
    this.#ctx = ctx;
    this.#subject = subject;
    const zone = ctx.timeZone.peek();
    this.#fields = event ? fieldsOf(event, zone) : newFields(date ?? "", zone);
    this.#before = this.#fields;
    this.#calendarId = event?.calendarId ?? calendars[0]?.id ?? "";
    this.#words = event ? undefined : "";
    this.#dialog = document.createElement("dialog");
    this.#dialog.className = "event-form";
    this.#dialog.addEventListener("close", () => this.#dialog.remove());
    document.body.append(this.#dialog);
  }

  async open(): Promise<void> {
    this.#draw();
    this.#dialog.showModal();
    if (this.#subject.event) await this.#read(this.#subject.event);
  }

  /** Reads the event from its server, because the tile may show an older one. */
  async #read(event: CalendarEvent): Promise<void> {
    await this.#do(async () => {
      const read = await this.#call({ action: "read", ...placeOf(event) });
      this.#etag = read.etag ?? undefined;
      if (read.event) this.#before = fieldsOf(read.event, this.#ctx.timeZone.peek());
      this.#fields = this.#before;
    });
  }

  async #save(): Promise<void> {
    const { event } = this.#subject;
    if (this.#words === undefined && !hasTimes(this.#fields)) {
      this.#fault = t("The end is before the start.");
      return this.#draw();
    }
    await this.#finish("The event is saved", event ? this.#update(event) : this.#creation());
  }

  #creation(): CalendarChange {
    const place = { action: "create", calendarId: this.#calendarId } as const;
    if (this.#words !== undefined) return { ...place, text: this.#words };
    return { ...place, fields: creationOf(this.#fields) };
  }

  #update(event: CalendarEvent): CalendarChange {
    const fields = changesOf(this.#before, this.#fields);
    const move = this.#calendarId === event.calendarId ? {} : { moveTo: this.#calendarId };
    return { action: "update", ...this.#target(event), fields, ...move };
  }

  #target(event: CalendarEvent) {
    const match = this.#etag === undefined ? {} : { ifMatch: this.#etag };
    return { ...placeOf(event), scope: this.#scope, ...match };
  }

  async #finish(said: Word, change: CalendarChange): Promise<void> {
    await this.#do(async () => {
      await this.#call(change);
      this.#ctx.announce(t(said));
      this.#dialog.close();
    });
  }

  #call(change: CalendarChange) {
    return this.#ctx.call(CHANGE, change);
  }

  /** Works with the host, and shows why that failed. */
  async #do(work: () => Promise<void>): Promise<void> {
    this.#isBusy = true;
    this.#fault = undefined;
    this.#isStale = false;
    this.#draw();
    try {
      await work();
    } catch (error) {
      this.#isStale = (error as { code?: unknown }).code === "revision_stale";
      this.#fault = this.#isStale
        ? t("Somebody has changed this event meanwhile.")
        : String((error as Error).message);
    }
    this.#isBusy = false;
    this.#draw();
  }

  #set(fields: EventFields): void {
    this.#fields = fields;
    this.#draw();
  }

  #draw(): void {
    const { event } = this.#subject;
    const submit = (submitted: Event) => {
      submitted.preventDefault();
      void this.#save();
    };
    const title = t(event ? "Change event" : "New event");
    this.#dialog.setAttribute("aria-label", title);
    render(
      html`<form @submit=${submit}>
        <h2>${title}</h2>
        ${conferenceLink(event)}
        <fieldset ?disabled=${this.#isBusy}>
          ${this.#words === undefined ? this.#allFields() : this.#inWords(this.#words)}
          ${this.#calendarField()} ${event?.recurrenceId ? this.#scopeField() : nothing}
        </fieldset>
        ${this.#fault === undefined ? nothing : html`<p role="alert">${this.#fault}</p>`}
        ${this.#buttons(event)}
      </form>`,
      this.#dialog,
    );
  }

  #buttons(event: CalendarEvent | undefined): TemplateResult {
    const remove = (target: CalendarEvent) =>
      this.#finish("The event is deleted", { action: "remove", ...this.#target(target) });
    const isBusy = this.#isBusy;
    return html`<div class="buttons">
      ${
        event && this.#isStale
          ? html`<button type="button" class="again" @click=${() => this.#read(event)}>
              ${t("Show the new version")}
            </button>`
          : nothing
      }
      ${
        event
          ? html`<button
              type="button"
              class="delete"
              ?disabled=${isBusy}
              @click=${() => remove(event)}
            >
              ${t("Delete")}
            </button>`
          : nothing
      }
      <button type="button" class="cancel" @click=${() => this.#dialog.close()}>
        ${t("Cancel")}
      </button>
      <button class="save" ?disabled=${isBusy}>${t(event ? "Save" : "Add")}</button>
    </div>`;
  }

  #inWords(text: string): TemplateResult {
    const details = () => {
      const title = this.#words ?? "";
      this.#words = undefined;
      this.#set({ ...this.#fields, title });
    };
    return html`<label
        >${t("What and when")}
        <input
          name="words"
          required
          maxlength="300"
          placeholder=${t("Tomorrow 9 dentist")}
          .value=${text}
          @input=${(input: Event) => (this.#words = valueOf(input))}
      /></label>
      <button type="button" class="more" @click=${details}>${t("Details")}</button>`;
  }

  #allFields(): TemplateResult {
    const fields = this.#fields;
    const { allDay } = fields;
    const time = (name: "start" | "end", label: Word) =>
      html`<label
        >${t(label)}
        <input
          name=${name}
          type=${allDay ? "date" : "datetime-local"}
          required
          .value=${fields[name]}
          @change=${(input: Event) => {
            const value = valueOf(input);
            this.#set(name === "start" ? withStart(fields, value) : { ...fields, end: value });
          }}
      /></label>`;
    return html`${this.#textField("title", "Title")}
      <label class="check"
        ><input
          name="allDay"
          type="checkbox"
          .checked=${allDay}
          @change=${() => this.#set(withAllDay(fields, !allDay))}
        />${t("All day")}</label
      >
      ${time("start", "Start")} ${time("end", "End")} ${allDay ? nothing : this.#zoneField()}
      ${this.#textField("location", "Place")} ${this.#subject.event ? nothing : this.#repeatField()}`;
  }

  #textField(name: "title" | "location", label: Word): TemplateResult {
    return html`<label
      >${t(label)}
      <input
        name=${name}
        maxlength="500"
        ?required=${name === "title"}
        .value=${this.#fields[name]}
        @change=${(input: Event) => this.#set({ ...this.#fields, [name]: valueOf(input) })}
    /></label>`;
  }

  #zoneField(): TemplateResult {
    const { timeZone } = this.#fields;
    const zones = new Set([
      timeZone,
      this.#ctx.timeZone.peek(),
      ...Intl.supportedValuesOf("timeZone"),
    ]);
    const options = [...zones].map((zone) => [zone, zone.replaceAll("_", " ")] as const);
    return this.#choice("Time zone", { name: "timeZone", value: timeZone, options }, (value) =>
      this.#set({ ...this.#fields, timeZone: value }),
    );
  }

  #repeatField(): TemplateResult {
    const options = REPETITIONS.map(([rule, name]) => [rule, t(name)] as const);
    const { rrule } = this.#fields;
    return this.#choice("Repeat", { name: "rrule", value: rrule, options }, (value) =>
      this.#set({ ...this.#fields, rrule: value }),
    );
  }

  #calendarField(): TemplateResult | typeof nothing {
    const { calendars } = this.#subject;
    if (calendars.length < 2) return nothing;
    const options = calendars.map(({ id, name }) => [id, name] as const);
    const shown = { name: "calendarId", value: this.#calendarId, options };
    return this.#choice("Calendar", shown, (value) => (this.#calendarId = value));
  }

  #scopeField(): TemplateResult {
    return html`<div role="radiogroup" aria-label=${t("Which events")}>
      ${SCOPES.map(
        ([scope, name]) =>
          html`<label class="check"
            ><input
              type="radio"
              name="scope"
              value=${scope}
              .checked=${this.#scope === scope}
              @change=${() => (this.#scope = scope)}
            />${t(name)}</label
          >`,
      )}
    </div>`;
  }

  #choice(
    label: Word,
    { name, value, options }: { name: string; value: string; options: readonly Option[] },
    onChange: (value: string) => void,
  ): TemplateResult {
    return html`<label
      >${t(label)}
      <select name=${name} @change=${(input: Event) => onChange(valueOf(input))}>
        ${options.map(
          ([id, text]) => html`<option value=${id} ?selected=${id === value}>${text}</option>`,
        )}
      </select></label
    >`;
  }
}

const t = (word: Word): string => words.value[word];

type Option = readonly [value: string, text: string];

/** The place of an event in its calendar. */
function placeOf({ id, calendarId }: CalendarEvent) {
  return { calendarId, event: id.slice(calendarId.length + 1) };
}

function valueOf({ currentTarget }: Event): string {
  return (currentTarget as HTMLInputElement | HTMLSelectElement).value;
}
