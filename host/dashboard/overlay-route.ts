import { signal } from "@preact/signals-core";
import { html, nothing } from "lit";
import { FIND } from "./find/event.ts";
import { words } from "./i18n/later.ts";
import { isServed } from "./served-paths.ts";
import type { Session } from "./session.ts";

/** The parts of a visit that the pages in place of the dashboard use. */
export type OverlaySession = Pick<
  Session,
  "api" | "store" | "contexts" | "mayAdminister" | "mayEdit" | "mayControl" | "runs"
>;

/** A page in place of the dashboard, or several at one address. */
interface OpenOverlay {
  show(page: string, item: string): void;
  /** True if unsaved input would be lost. Warns the user once. */
  warnsOfUnsaved(): boolean;
  close(): void;
}

const OVERLAYS = {
  settings: async () => (await import("./settings/settings.ts")).Settings,
  automations: async () => (await import("./automations/automations.ts")).Automations,
  logbook: async () => (await import("./logbook/logbook.ts")).Logbook,
} satisfies Readonly<
  Record<string, () => Promise<new (root: HTMLElement, session: OverlaySession) => OpenOverlay>>
>;
type OverlayName = keyof typeof OVERLAYS;

const ADDRESS = /^#\/(settings|automations|logbook)(?:\/([^/]*))?(?:\/([^/]*))?$/;

const away = signal(false);

/** The end of the header: the search, and links to pages that plugins of this home serve and, for users who may edit, to the settings. */
export function overlayLinks({ store, mayEdit }: Pick<Session, "store" | "mayEdit">): unknown {
  const texts = words.value;
  const offline = (text: string): string => (away.value ? texts.offline(text) : text);
  const link = (href: string, icon: string, text: string): unknown =>
    html`<a class="icon-button settings-link" href=${href} aria-label=${offline(text)}>
      <mantel-icon name=${icon}></mantel-icon>
    </a>`;
  return [
    html`<button
      class="icon-button settings-link"
      aria-label=${texts.find}
      aria-keyshortcuts="/ Control+K"
      @click=${() => dispatchEvent(new Event(FIND))}
    >
      <mantel-icon name="mdi:magnify"></mantel-icon>
    </button>`,
    isServed(store, "/automations")
      ? link("#/automations", "mdi:call-split", texts.automations)
      : nothing,
    isServed(store, "/logbook") ? link("#/logbook", "mdi:history", texts.logbook) : nothing,
    mayEdit ? link("#/settings", "mdi:cog-outline", texts.settings) : nothing,
  ];
}

/** Reverts a navigation once if it would lose unsaved input. */
function staysAt(shown: string, overlay: OpenOverlay | undefined): boolean {
  if (location.hash === shown || !overlay?.warnsOfUnsaved()) return false;
  history.replaceState(null, "", shown);
  return true;
}

/** Shows the page in the address in place of the dashboard. Its code is loaded on first use. */
export function followOverlays(root: HTMLElement, session: OverlaySession): void {
  let open: { readonly name: string; readonly overlay: OpenOverlay } | undefined;
  let shown = "";
  const follow = async (): Promise<void> => {
    if (staysAt(shown, open?.overlay)) return;
    const [found, name = "", page = "", item = ""] = ADDRESS.exec(location.hash) ?? [];
    if (open && open.name !== name) {
      open.overlay.close();
      open = undefined;
    }
    if (found === undefined) return;
    const Opened = await OVERLAYS[name as OverlayName]();
    if (location.hash !== found) return; // the user navigated away while the code was loading
    open ??= { name, overlay: new Opened(root, session) };
    open.overlay.show(decodeURIComponent(page), decodeURIComponent(item));
    shown = found;
  };
  const openAddress = (): void =>
    void follow().then(
      () => (away.value = false),
      () => (away.value = true),
    );
  addEventListener("hashchange", openAddress);
  openAddress();
}
