import { html, type TemplateResult } from "lit";
import type { Api } from "../api.ts";
import type { Store } from "../store.ts";
import type { Doing } from "./doing.ts";

/** What every settings page works with. */
export interface SettingsParts {
  readonly api: Api;
  readonly store: Store;
  readonly doing: Doing;
}

/** A settings page that is open. `view` is drawn again whenever a signal that it reads changes. */
export interface OpenPage {
  view(): unknown;
  /** Ends what it has begun. */
  close?(): void;
}

/** The way from one thing to the page that lists all. */
export function backTo(page: string, text: string): TemplateResult {
  return html`<p><a class="link" href=${addressOf(page)}>${text}</a></p>`;
}

/** Goes to a settings page, and to one thing on it. */
export function addressOf(page: string, item = ""): string {
  return `#/settings/${page}${item === "" ? "" : `/${encodeURIComponent(item)}`}`;
}
