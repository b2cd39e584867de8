import type { Scene } from "@mantel/plugin-sdk/widget";
import { effect, signal } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import { addStyles } from "../add-styles.ts";
import type { Session } from "../session.ts";
import { findInHome, type Result } from "./home-results.ts";
import { words } from "./words.ts";
import styles from "./find.css";

const SHOWN = 12;

/** Finds single settings; loaded for users who may change them. */
type FindSettings = (text: string) => readonly Result[];

let close: (() => void) | undefined;

/**
 * Opens the search over devices, rooms, groups, scenes, pages and settings. Only one is open at a time. Escape, a tap
 * beside it and a choice close it; the focus then returns.
 */
export function openFind(session: Session): void {
  close?.();
  addStyles(styles);
  const { store, contexts } = session;
  const texts = words.peek();
  const ended = new AbortController();
  const dialog = document.createElement("dialog");
  dialog.className = "find-in-home";
  dialog.ariaLabel = texts.find;
  const sought = signal("");
  const settings = signal<FindSettings>(() => []);
  if (session.mayEdit) {
    void import("../settings/find-settings.ts").then(
      ({ findSettings }) => (settings.value = (text) => findSettings(text, session)),
      () => undefined, // away from the host, what it has stored is found
    );
  }
  const end = (): void => {
    if (ended.signal.aborted) return;
    ended.abort();
    close = undefined;
    dialog.close();
    dialog.remove();
  };
  close = end;

  const choose = async (result: Result): Promise<void> => {
    end();
    const { opens, title } = result;
    if ("details" in opens) {
      const { clientWidth } = document.documentElement;
      contexts.openDetails(opens.details, { x: clientWidth / 2, y: 0, width: 0, height: 0 });
    } else if ("scene" in opens) {
      const { ok } = await contexts.shared.scene(opens.scene);
      contexts.shared.announce(ok ? texts.activated(title) : texts.failed(title));
    } else {
      location.hash = opens.address;
      if (opens.row !== undefined) {
        const { markRow } = await import("../settings/mark-row.ts");
        markRow(opens.row);
      }
    }
  };
  const scenes = contexts.channel("scenes");
  const stop = effect(() => {
    const home = {
      devices: store.devices().value,
      scenes: (scenes.value ?? []) as readonly Scene[],
      pages: session.shown.value?.pages ?? [],
    };
    const text = sought.value;
    const results = [...findInHome(text, home), ...settings.value(text)].slice(0, SHOWN);
    render(view({ text, results, sought, choose }), dialog);
  });
  const { signal: until } = ended;
  until.addEventListener("abort", stop);
  dialog.addEventListener("cancel", end, { signal: until });
  dialog.addEventListener("click", ({ target }) => target === dialog && end(), { signal: until });
  dialog.addEventListener("keydown", (event) => onKey(dialog, event, end), { signal: until });
  for (const type of ["hashchange", "mantel-idle"]) addEventListener(type, end, { signal: until });
  document.body.append(dialog);
  dialog.showModal();
  dialog.querySelector("input")?.focus();
}

interface Shown {
  readonly text: string;
  readonly results: readonly Result[];
  readonly sought: { value: string };
  readonly choose: (result: Result) => Promise<void>;
}

function view({ text, results, sought, choose }: Shown): TemplateResult {
  const texts = words.value;
  const row = (result: Result): TemplateResult =>
    html`<li>
      <button @click=${() => choose(result)}>
        <mantel-icon name=${result.icon}></mantel-icon>
        <span dir="auto">${result.title}</span>
        <small dir="auto">${result.place}</small>
      </button>
    </li>`;
  const state = results.length === 0 ? texts.nothing : texts.found(results.length);
  return html`<div class="box" role="search">
    <label>
      <mantel-icon name="mdi:magnify"></mantel-icon>
      <input
        type="search"
        autocomplete="off"
        spellcheck="false"
        aria-label=${texts.find}
        placeholder=${texts.findHint}
        @input=${({ currentTarget }: Event) =>
          (sought.value = (currentTarget as HTMLInputElement).value)}
        @keydown=${({ key }: KeyboardEvent) => {
          const [first] = results;
          if (key === "Enter" && first) void choose(first);
        }}
      />
    </label>
    <ul aria-label=${texts.results}>
      ${results.map(row)}
    </ul>
    <p role="status" class=${results.length === 0 ? "" : "unseen"}>
      ${text.trim() === "" ? nothing : state}
    </p>
  </div>`;
}

/** The arrow keys go through field and results. Escape closes at once; in a field it would first clear the text. */
function onKey(dialog: HTMLElement, event: KeyboardEvent, end: () => void): void {
  const step = { ArrowDown: 1, ArrowUp: -1, Escape: 0 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  if (step === 0) return end();
  const stops = [...dialog.querySelectorAll<HTMLElement>("input, li button")];
  const at = stops.indexOf(document.activeElement as HTMLElement);
  stops[Math.min(Math.max(at + step, 0), stops.length - 1)]?.focus();
}
