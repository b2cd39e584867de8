import type { CommandBody, Device } from "@mantel/plugin-sdk/device";
import { iconOf } from "@mantel/plugin-sdk/ui/device-icon";
import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { ApiError } from "../api.ts";
import type { HomeView } from "../automations/home.ts";
import { followHome } from "../automations/live-home.ts";
import type { OverlaySession } from "../overlay-route.ts";
import { openOverlay, type Overlay } from "../overlay.ts";
import { titles } from "../title.ts";
import {
  causeLook,
  causeText,
  changeText,
  deviceName,
  effectText,
  isByItself,
} from "./cause-words.ts";
import {
  chainOf,
  groupsOf,
  type LogbookEffect,
  type LogbookEntry,
  type LogbookGroup,
  pageIn,
} from "./entries.ts";
import { whyView } from "./why-view.ts";
import { words } from "./words.ts";
import styles from "./logbook.css";

interface Filter {
  readonly room: string;
  readonly device: string;
  /** The kind of the cause, or a cause as `kind:name`. */
  readonly cause: string;
  /** A day such as `2026-11-20`. */
  readonly upTo: string;
}

const EVERYTHING: Filter = { room: "", device: "", cause: "", upTo: "" };
const PAGE_LENGTH = 100;
const DAY_MS = 86_400_000;

type State = "loading" | "known" | "absent";

/** The page of the logbook: what happened in the home, and why. */
export class Logbook {
  readonly #session: OverlaySession;
  readonly #home: HomeView & { close(): void };
  readonly #overlay: Overlay;
  readonly #filter = signal<Filter>(EVERYTHING);
  readonly #entries = signal<readonly LogbookEntry[]>([]);
  readonly #next = signal<string | undefined>(undefined);
  readonly #state = signal<State>("loading");
  readonly #failure = signal("");
  readonly #note = signal("");
  /** The change whose reasons are shown. */
  readonly #asked = signal<LogbookEffect | undefined>(undefined);
  /** The people and automations in all entries so far, as `kind:name`. */
  readonly #causes = signal<ReadonlyMap<string, string>>(new Map());
  /** Counts requests, so that an answer for another filter is dropped. */
  #requests = 0;

  constructor(root: HTMLElement, session: OverlaySession) {
    this.#session = session;
    this.#home = followHome(session);
    this.#overlay = openOverlay(root, { name: "logbook", css: styles, view: () => this.#view() });
  }

  /** Shows the changes of all devices, or of one. */
  show(device: string): void {
    this.#filter.value = { ...EVERYTHING, device };
    void this.#load();
    this.#overlay.focus();
  }

  warnsOfUnsaved(): boolean {
    return false;
  }

  close(): void {
    this.#requests++;
    this.#home.close();
    this.#overlay.close();
  }

  async #load(cursor?: string): Promise<void> {
    const request = ++this.#requests;
    this.#failure.value = "";
    this.#note.value = "";
    if (cursor === undefined) this.#state.value = "loading";
    try {
      const answer = await this.#session.api.get(
        `/logbook?${queryOf(this.#filter.peek(), cursor)}`,
      );
      if (request !== this.#requests) return;
      const { entries, next } = pageIn(answer);
      this.#entries.value = cursor === undefined ? entries : [...this.#entries.peek(), ...entries];
      this.#next.value = next;
      this.#causes.value = new Map([...this.#causes.peek(), ...causesOf(entries)]);
      if (cursor === undefined) this.#asked.value = undefined;
      this.#state.value = "known";
    } catch (error) {
      if (request !== this.#requests) return;
      const isAbsent = error instanceof ApiError && error.status === 404;
      this.#state.value = isAbsent ? "absent" : "known";
      if (!isAbsent) this.#failure.value = words.peek().failed(reasonOf(error));
    }
  }

  #change(change: Partial<Filter>): void {
    this.#filter.value = { ...this.#filter.peek(), ...change };
    void this.#load();
  }

  #view(): unknown {
    const texts = words.value;
    titles.over.value = texts.logbook;
    const state = this.#state.value;
    const asked = this.#asked.value;
    return html`<main aria-busy=${state === "loading"}>
        <header class="head">
          <a class="round" href="#" aria-label=${texts.back}>
            <mantel-icon name="mdi:arrow-left" class="turned"></mantel-icon>
          </a>
          <h1 tabindex="-1">${texts.logbook}</h1>
          ${
            state === "absent"
              ? nothing
              : html`<button
                  type="button"
                  class="round"
                  aria-label=${texts.refresh}
                  @click=${() => void this.#load()}
                >
                  <mantel-icon name="mdi:refresh"></mantel-icon>
                </button>`
          }
        </header>
        <div class="outcome">
          <div role="alert">
            ${this.#failure.value === "" ? nothing : html`<p class="said failed">${this.#failure.value}</p>`}
          </div>
          <div role="status">
            ${this.#note.value === "" ? nothing : html`<p class="said">${this.#note.value}</p>`}
          </div>
        </div>
        ${state === "absent" ? html`<p>${texts.absent}</p>` : [this.#filterView(), this.#listView()]}
      </main>
      ${
        asked
          ? whyView({
              effect: asked,
              home: this.#home,
              onClose: () => (this.#asked.value = undefined),
              ...(this.#session.mayControl && {
                onPutBack: (device, command) => void this.#putBack(device, command),
              }),
            })
          : nothing
      }`;
  }

  #filterView(): TemplateResult {
    const texts = words.value;
    const filter = this.#filter.value;
    const devices = this.#home.devices();
    const rooms = [...new Set(devices.flatMap(({ room }) => (room === null ? [] : [room])))];
    const inRoom = devices.filter(({ room }) => filter.room === "" || room === filter.room);
    const kinds = [
      ["", texts.everything],
      ["person", texts.people],
      ["automation", texts.automations],
      ["scene", texts.scenes],
      ["device", texts.devices],
    ] as const;
    return html`<div class="filters">
      <div class="kinds" role="group" aria-label=${texts.causedBy}>
        ${kinds.map(
          ([cause, text]) =>
            html`<button
              type="button"
              aria-pressed=${filter.cause.split(":")[0] === cause}
              @click=${() => this.#change({ cause })}
            >
              ${text}
            </button>`,
        )}
      </div>
      ${selectView(texts.room, filter.room, [["", texts.allRooms], ...rooms.toSorted().map((room) => [room, room] as const)], (room) => this.#change({ room, device: "" }))}
      ${selectView(texts.device, filter.device, [["", texts.allDevices], ...inRoom.map(({ id, name }) => [id, name] as const)], (device) => this.#change({ device }))}
      ${selectView(texts.causedBy, filter.cause, [...kinds.map(([kind, text]) => [kind, kind === "" ? texts.anyone : text] as const), ...this.#causes.value], (cause) => this.#change({ cause }))}
      <label class="day"
        ><span>${texts.upTo}</span>
        <input
          type="date"
          .value=${filter.upTo}
          @change=${({ currentTarget }: Event) =>
            this.#change({ upTo: (currentTarget as HTMLInputElement).value })}
        />
      </label>
    </div>`;
  }

  #listView(): unknown {
    const texts = words.value;
    const entries = this.#entries.value;
    if (this.#state.value === "loading" && entries.length === 0) {
      return html`<p class="hint">${texts.loading}</p>`;
    }
    if (entries.length === 0) return html`<p class="hint">${texts.nothing}</p>`;
    const next = this.#next.value;
    return html`${this.#daysOf(groupsOf(entries)).map(
      ([day, groups]) =>
        html`<section class="day">
          <header>
            <h2>${day}</h2>
            <span
              >${texts.changes(groups.flatMap(({ effects }) => effects).length, groups.length)}</span
            >
          </header>
          ${groups.map((group) => this.#groupView(group))}
        </section>`,
    )}
    ${
      next === undefined
        ? nothing
        : html`<button type="button" class="pill" @click=${() => void this.#load(next)}>
            ${texts.earlier}
          </button>`
    }`;
  }

  #daysOf(groups: readonly LogbookGroup[]): readonly (readonly [string, LogbookGroup[]])[] {
    const days = new Map<string, LogbookGroup[]>();
    for (const group of groups) {
      const day = this.#home.fmt.date(group.at, "day");
      days.set(day, [...(days.get(day) ?? []), group]);
    }
    return [...days];
  }

  #groupView({ at, cause, effects }: LogbookGroup): TemplateResult {
    const home = this.#home;
    const [icon, hue] = causeLook(cause, home);
    const [only] = effects;
    const isOwn = only && effects.length === 1 && isByItself({ device: only.device, cause });
    const isAsked = effects.includes(this.#asked.value ?? NONE);
    const above = chainOf(cause)
      .slice(1)
      .map((each) => causeText(each, home));
    return html`<article
      class="entry ${isAsked ? "asked" : ""}"
      .style=${`--hue: var(--mantel-hue-${hue})`}
    >
      <time datetime=${new Date(at).toISOString()}>${home.fmt.time(at)}</time>
      <span class="mark"><mantel-icon name=${icon}></mantel-icon></span>
      ${
        isOwn
          ? html`<h3>${this.#whyButton(only, changeText(only, home))}</h3>`
          : html`<h3 dir="auto">
                ${cause ? causeText(cause, home) : words.value.unknownCause}
                ${above.length === 0 ? nothing : html`<span>← ${above.join(" ← ")}</span>`}
              </h3>
              <ul>
                ${effects.map((effect) => this.#effectView(effect))}
              </ul>`
      }
    </article>`;
  }

  #effectView(effect: LogbookEffect): TemplateResult {
    const home = this.#home;
    const device = effect.device === undefined ? undefined : home.device(effect.device);
    const text = html`<b dir="auto">${deviceName(effect, home)}</b>
      <span dir="auto">${effectText(effect, home)}</span>`;
    return html`<li>
      <mantel-icon name=${device ? iconOf(device) : "mdi:circle-small"}></mantel-icon>
      ${this.#whyButton(effect, text)}
    </li>`;
  }

  #whyButton(effect: LogbookEffect, text: unknown): TemplateResult {
    return html`<button
      type="button"
      aria-expanded=${this.#asked.value === effect}
      @click=${() => (this.#asked.value = this.#asked.peek() === effect ? undefined : effect)}
    >
      ${text}
    </button>`;
  }

  async #putBack({ id, name }: Device, command: CommandBody): Promise<void> {
    const { ok, error } = await this.#session.contexts.shared.command(id, command);
    if (ok) {
      await this.#load();
      this.#note.value = words.peek().isPutBack(name);
    } else this.#failure.value = words.peek().notPutBack(name, error?.message ?? "");
  }
}

/** Not in any group. */
const NONE: LogbookEffect = { device: undefined, entries: [] };

function selectView(
  label: string,
  value: string,
  options: readonly (readonly [string, string])[],
  onChange: (value: string) => void,
): TemplateResult {
  return html`<select
    aria-label=${label}
    @change=${({ currentTarget }: Event) => onChange((currentTarget as HTMLSelectElement).value)}
  >
    ${options.map(([id, name]) => html`<option value=${id} .selected=${id === value}>${name}</option>`)}
  </select>`;
}

function queryOf({ room, device, cause, upTo }: Filter, cursor: string | undefined): string {
  const query = new URLSearchParams({ limit: String(PAGE_LENGTH) });
  if (room !== "") query.set("room", room);
  if (device !== "") query.set("device", device);
  if (cause !== "") query.set("cause", cause);
  if (upTo !== "") {
    const end = new Date(`${upTo}T00:00:00`).getTime() + DAY_MS;
    query.set("to", new Date(end).toISOString());
  }
  if (cursor !== undefined) query.set("cursor", cursor);
  return query.toString();
}

/** The people and automations in the causes of entries, as `kind:name`, with their names. */
function causesOf(entries: readonly LogbookEntry[]): readonly (readonly [string, string])[] {
  return entries
    .flatMap(({ cause }) => chainOf(cause))
    .filter(({ kind }) => kind === "person" || kind === "automation")
    .map(({ kind, name }) => [`${kind}:${name}`, name] as const);
}

function reasonOf(error: unknown): string {
  if (error instanceof ApiError && error.code === "offline") return words.peek().offline;
  return error instanceof Error ? error.message : String(error);
}
