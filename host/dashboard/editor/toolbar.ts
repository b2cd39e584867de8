import { html, nothing } from "lit";
import type { Breakpoint } from "../layout.ts";
import type { EditorStore, Message, Panel } from "./editor-store.ts";
import { words } from "./words.ts";

/** The toolbar: page tabs that accept tiles, screens, undo, panels and save. */
export function toolbar(store: EditorStore, leave: () => void): unknown {
  return html`<h1 class="unseen">${words.value.editor}</h1>
    ${tabsOf(store)}
    <div class="tools" role="group" aria-label=${words.value.tools}>
      ${screensOf(store)} ${stepsOf(store)} ${panelsOf(store)} ${endOf(store, leave)}
    </div>`;
}

function tabsOf(store: EditorStore): unknown {
  const { pages } = store.document.value;
  const current = store.page.value;
  return html`<nav class="tabs" aria-label=${words.value.pages}>
    ${pages.map(
      ({ id, title, icon }) =>
        html`<button
          type="button"
          data-page=${id}
          aria-current=${id === current?.id ? "page" : nothing}
          @click=${() => store.openPage(id)}
        >
          ${icon === undefined ? nothing : html`<mantel-icon name=${icon}></mantel-icon>`}<span
            dir="auto"
            >${title}</span
          >
        </button>`,
    )}
    ${toolOf(words.value.addPage, "mdi:plus", { act: () => store.addPage() })}
  </nav>`;
}

/** The page tab under the pointer. */
export function pageTabAt(event: Event): HTMLElement | undefined {
  const { clientX = -1, clientY = -1 } = event as Partial<MouseEvent>;
  const under = document.elementsFromPoint(clientX, clientY);
  return under.find((each): each is HTMLElement => each.matches("[data-page]"));
}

/** Highlights the tab that would receive the dragged tile. */
export function highlightPageTab(target: HTMLElement | undefined): void {
  for (const tab of document.querySelectorAll("[data-page]")) {
    tab.toggleAttribute("data-target", tab === target);
  }
}

/** Focuses the button that opens a panel. */
export function focusPanelButton(kind: Panel["kind"]): void {
  document.querySelector<HTMLElement>(`[data-opens=${kind}]`)?.focus();
}

function screensOf(store: EditorStore): unknown {
  const texts = words.value;
  const screens: readonly (readonly [Breakpoint, string, string])[] = [
    ["lg", texts.wall, "mdi:television"],
    ["md", texts.tablet, "mdi:tablet"],
    ["sm", texts.phone, "mdi:cellphone"],
  ];
  return html`<div class="screens" role="group" aria-label=${texts.arrangementFor}>
    ${screens.map(
      ([at, name, icon]) =>
        html`<button
          type="button"
          class="icon-button"
          aria-label=${name}
          aria-pressed=${store.breakpoint.value === at}
          title=${name}
          @click=${() => (store.breakpoint.value = at)}
        >
          <mantel-icon name=${icon}></mantel-icon>
        </button>`,
    )}
  </div>`;
}

function stepsOf(store: EditorStore): unknown {
  const texts = words.value;
  const { undoLabel, redoLabel } = store.history.value;
  return html`${toolOf(texts.undo, "mdi:undo", {
    act: () => store.undo(),
    off: undoLabel === undefined,
    hint: undoLabel,
  })}
  ${toolOf(texts.redo, "mdi:redo", {
    act: () => store.redo(),
    off: redoLabel === undefined,
    hint: redoLabel,
  })}`;
}

function panelsOf(store: EditorStore): unknown {
  const texts = words.value;
  const opener = (kind: "page" | "versions", name: string, icon: string): unknown =>
    html`<button
      type="button"
      class="icon-button"
      data-opens=${kind}
      aria-label=${name}
      aria-expanded=${store.panel.value?.kind === kind}
      title=${name}
      @click=${() => toggle(store, kind)}
    >
      <mantel-icon name=${icon}></mantel-icon>
    </button>`;
  return html`${opener("page", texts.pageSettings, "mdi:file-cog-outline")}
    ${opener("versions", texts.versions, "mdi:history")}
    <button
      type="button"
      class="pill"
      data-opens="gallery"
      aria-expanded=${store.panel.value?.kind === "gallery"}
      @click=${() => toggle(store, "gallery")}
    >
      <mantel-icon name="mdi:plus"></mantel-icon><span>${texts.addTile}</span>
    </button>`;
}

function endOf(store: EditorStore, leave: () => void): unknown {
  const texts = words.value;
  const isSaving = store.isSaving.value;
  return html`<button
      type="button"
      class="pill strong"
      ?disabled=${isSaving || !store.isDirty.value}
      @click=${() => store.save()}
    >
      ${isSaving ? texts.saving : texts.save}
    </button>
    ${toolOf(texts.close, "mdi:close", { act: leave })}`;
}

function toggle(store: EditorStore, kind: Exclude<Panel["kind"], "tile">): void {
  store.panel.value = store.panel.peek()?.kind === kind ? undefined : { kind };
}

function toolOf(
  name: string,
  icon: string,
  { act, off = false, hint }: { act: () => void; off?: boolean; hint?: string | undefined },
): unknown {
  return html`<button
    type="button"
    class="icon-button"
    aria-label=${hint === undefined ? name : `${name}: ${hint}`}
    title=${hint === undefined ? name : `${name}: ${hint}`}
    ?disabled=${off}
    @click=${act}
  >
    <mantel-icon name=${icon}></mantel-icon>
  </button>`;
}

/** The line below the toolbar: changes by others, errors and confirmations. */
export function statusStrip({ message, theirs, panel }: EditorStore): unknown {
  if (theirs.value && panel.value?.kind !== "merge") {
    return html`<div class="strip warn">
      <mantel-icon name="mdi:account-sync-outline"></mantel-icon>
      <span>${words.value.changedElsewhere}</span>
      <button type="button" @click=${() => (panel.value = { kind: "merge" })}>
        ${words.value.reviewChanges}
      </button>
    </div>`;
  }
  return message.value ? messageView(message.value) : nothing;
}

function messageView({ tone, text, faults = [] }: Message): unknown {
  const icon = tone === "alert" ? "mdi:alert-circle-outline" : "mdi:check-circle-outline";
  return html`<div class="strip ${tone}" role=${tone === "alert" ? "alert" : nothing}>
    <mantel-icon name=${icon}></mantel-icon>
    <span>${text}</span>
    ${
      faults.length === 0
        ? nothing
        : html`<ul>
            ${faults.map(({ pointer, detail }) => html`<li><code>${pointer}</code> ${detail}</li>`)}
          </ul>`
    }
  </div>`;
}
