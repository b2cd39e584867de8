import { html, nothing, type TemplateResult } from "lit";
import type { Api } from "../api.ts";
import type { Store } from "../store.ts";
import type { FormAction } from "./form-action.ts";
import { words } from "./words.ts";

/** Dependencies of every settings page. */
export interface SettingsDependencies {
  readonly api: Api;
  readonly store: Store;
  readonly formAction: FormAction;
  /** True if this visit has full access. Pages leave out what it could not change, and say so. */
  readonly mayAdminister: boolean;
}

/** An open settings page. `view` is drawn again whenever a signal that it reads changes. */
export interface OpenSettingsPage {
  view(): unknown;
  /** Releases the resources of the page. */
  close?(): void;
}

/** Says that a page has further settings, to a visit without full access. */
export function restNeedsFullAccess({
  mayAdminister,
}: Pick<SettingsDependencies, "mayAdminister">): TemplateResult | typeof nothing {
  return mayAdminister ? nothing : html`<p class="hint">${words.value.restNeedsFullAccess}</p>`;
}

/** Link from an item back to its list. */
export function backTo(page: string, text: string): TemplateResult {
  return html`<p><a class="link" href=${addressOf(page)}>${text}</a></p>`;
}

/** The address of a settings page, or of one item on it. */
export function addressOf(page: string, item = ""): string {
  return `#/settings/${page}${item === "" ? "" : `/${encodeURIComponent(item)}`}`;
}
