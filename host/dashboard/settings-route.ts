import { signal } from "@preact/signals-core";
import { html, type TemplateResult } from "lit";
import type { Api } from "./api.ts";
import { words } from "./i18n/shell.ts";
import type { Settings } from "./settings/settings.ts";
import type { Store } from "./store.ts";

const ADDRESS = /^#\/settings(?:\/([^/]*))?(?:\/([^/]*))?$/;

const away = signal(false);

/** Link to the settings in the header, for users who may edit. */
export function settingsLink(): TemplateResult {
  const texts = words.value;
  return html`<a
    class="icon-button settings-link"
    href="#/settings/modules"
    aria-label=${away.value ? texts.settingsOffline : texts.settings}
  >
    <mantel-icon name="mdi:cog-outline"></mantel-icon>
  </a>`;
}

/** Reverts a navigation once if it would lose unsaved input. */
function staysAt(shown: string, settings: Settings | undefined): boolean {
  if (location.hash === shown || !settings?.warnsOfUnsaved()) return false;
  history.replaceState(null, "", shown);
  return true;
}

/** Shows the settings while the address points to them. Their code is loaded on first use. */
export function followSettings(root: HTMLElement, parts: { api: Api; store: Store }): void {
  let settings: Settings | undefined;
  let shown = "";
  const follow = async (): Promise<void> => {
    if (staysAt(shown, settings)) return;
    const [found, page = "", item = ""] = ADDRESS.exec(location.hash) ?? [];
    if (found === undefined) {
      settings?.close();
      settings = undefined;
      return;
    }
    const code = await import("./settings/settings.ts");
    if (ADDRESS.exec(location.hash)?.[0] !== found) return; // the user navigated away while the code was loading
    settings ??= new code.Settings(root, parts);
    settings.show(page, decodeURIComponent(item));
    shown = found;
  };
  const open = (): void =>
    void follow().then(
      () => (away.value = false),
      () => (away.value = true),
    );
  addEventListener("hashchange", open);
  open();
}
