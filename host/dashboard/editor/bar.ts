import { html, nothing } from "lit";
import type { Breakpoint } from "../layout.ts";
import type { Editing, Panel } from "./editing.ts";
import { words } from "./words.ts";

/** The bar over the page: pages as tabs that take tiles, screens, undo, panels, save. */
export function barOf(editing: Editing, leave: () => void): unknown {
  return html`<h1 class="unseen">${words.value.editor}</h1>
    ${tabsOf(editing)}
    <div class="tools" role="group" aria-label=${words.value.tools}>
      ${screensOf(editing)} ${stepsOf(editing)} ${panelsOf(editing)} ${endOf(editing, leave)}
    </div>`;
}

function tabsOf(editing: Editing): unknown {
  const { pages } = editing.draft.document.value;
  const current = editing.page.value;
  return html`<nav class="tabs" aria-label=${words.value.pages}>
    ${pages.map(
      ({ id, title, icon }) =>
        html`<button
          type="button"
          data-page=${id}
          aria-current=${id === current?.id ? "page" : nothing}
          @click=${() => editing.openPage(id)}
        >
          ${icon === undefined ? nothing : html`<mantel-icon name=${icon}></mantel-icon>`}<span
            dir="auto"
            >${title}</span
          >
        </button>`,
    )}
    ${toolOf(words.value.addPage, "mdi:plus", { act: () => editing.addPage() })}
  </nav>`;
}

/** The tab of a page under the pointer. */
export function targetAt(event: Event): HTMLElement | undefined {
  const { clientX = -1, clientY = -1 } = event as Partial<MouseEvent>;
  const under = document.elementsFromPoint(clientX, clientY);
  return under.find((each): each is HTMLElement => each.matches("[data-page]"));
}

/** Shows which tab would take the tile that is dragged. */
export function showTarget(target: HTMLElement | undefined): void {
  for (const tab of document.querySelectorAll("[data-page]")) {
    tab.toggleAttribute("data-target", tab === target);
  }
}

function screensOf(editing: Editing): unknown {
  const say = words.value;
  const screens: readonly (readonly [Breakpoint, string, string])[] = [
    ["lg", say.wall, "mdi:television"],
    ["md", say.tablet, "mdi:tablet"],
    ["sm", say.phone, "mdi:cellphone"],
  ];
  return html`<div class="screens" role="group" aria-label=${say.arrangementFor}>
    ${screens.map(
      ([at, name, icon]) =>
        html`<button
          type="button"
          class="icon-button"
          aria-label=${name}
          aria-pressed=${editing.breakpoint.value === at}
          title=${name}
          @click=${() => (editing.breakpoint.value = at)}
        >
          <mantel-icon name=${icon}></mantel-icon>
        </button>`,
    )}
  </div>`;
}

function stepsOf(editing: Editing): unknown {
  const say = words.value;
  const { undoLabel, redoLabel } = editing.draft.undo.value;
  return html`${toolOf(say.undo, "mdi:undo", {
    act: () => editing.undo(),
    off: undoLabel === undefined,
    hint: undoLabel,
  })}
  ${toolOf(say.redo, "mdi:redo", {
    act: () => editing.redo(),
    off: redoLabel === undefined,
    hint: redoLabel,
  })}`;
}

function panelsOf(editing: Editing): unknown {
  const say = words.value;
  const opener = (kind: "page" | "versions", name: string, icon: string): unknown =>
    html`<button
      type="button"
      class="icon-button"
      data-opens=${kind}
      aria-label=${name}
      aria-expanded=${editing.panel.value?.kind === kind}
      title=${name}
      @click=${() => toggle(editing, kind)}
    >
      <mantel-icon name=${icon}></mantel-icon>
    </button>`;
  return html`${opener("page", say.pageSettings, "mdi:file-cog-outline")}
    ${opener("versions", say.versions, "mdi:history")}
    <button
      type="button"
      class="pill"
      data-opens="gallery"
      aria-expanded=${editing.panel.value?.kind === "gallery"}
      @click=${() => toggle(editing, "gallery")}
    >
      <mantel-icon name="mdi:plus"></mantel-icon><span>${say.addTile}</span>
    </button>`;
}

function endOf(editing: Editing, leave: () => void): unknown {
  const say = words.value;
  const { draft } = editing;
  const isBusy = draft.busy.value;
  return html`<button
      type="button"
      class="pill strong"
      ?disabled=${isBusy || !draft.dirty.value}
      @click=${() => editing.save()}
    >
      ${isBusy ? say.saving : say.save}
    </button>
    ${toolOf(say.close, "mdi:close", { act: leave })}`;
}

function toggle(editing: Editing, kind: Exclude<Panel["kind"], "tile">): void {
  editing.panel.value = editing.panel.peek()?.kind === kind ? undefined : { kind };
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
