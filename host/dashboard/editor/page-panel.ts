import { html, nothing } from "lit";
import { formView } from "../form/form.ts";
import { isOverridden, type LayoutPage } from "./document.ts";
import type { EditorStore } from "./editor-store.ts";
import { words } from "./words.ts";

/** Panel of a page: its title, its position and its manual arrangements. */
export function pagePanel(store: EditorStore): unknown {
  const texts = words.value;
  const page = store.page.value;
  const { pages } = store.document.value;
  if (!page) return nothing;
  const index = pages.indexOf(page);
  const moveButton = (name: string, icon: string, by: number): unknown =>
    html`<button
      type="button"
      class="icon-button round"
      aria-label=${name}
      ?disabled=${pages[index + by] === undefined}
      @click=${() => store.movePage(page, by)}
    >
      <mantel-icon name=${icon}></mantel-icon>
    </button>`;
  return html`${faceView(store, page)}
    <div class="shift" role="group" aria-label=${texts.move}>
      <span>${texts.move}</span>
      ${moveButton(texts.earlier, "mdi:arrow-left", -1)}
      ${moveButton(texts.later, "mdi:arrow-right", 1)}
    </div>
    ${(["md", "sm"] as const).map((at) => {
      const screen = at === "md" ? texts.tablet : texts.phone;
      if (!isOverridden(page, at)) return html`<p class="hint">${texts.usesWallLayout(screen)}</p>`;
      return html`<p class="hint">${texts.arrangedManually(screen)}</p>
        <button type="button" class="pill" @click=${() => store.derive(page, at)}>
          ${texts.useWallLayoutAgain}: ${screen}
        </button>`;
    })}
    ${
      pages.length === 1
        ? html`<p class="hint">${texts.lastPage}</p>`
        : html`<button type="button" class="pill danger" @click=${() => store.removePage(page)}>
            <mantel-icon name="mdi:trash-can-outline"></mantel-icon>${texts.removePage}
          </button>`
    }`;
}

function faceView(store: EditorStore, page: LayoutPage): unknown {
  const texts = words.value;
  const { title, icon } = page;
  return formView({
    schema: {
      type: "object",
      properties: {
        title: { type: "string", title: texts.title, minLength: 1, maxLength: 200 },
        icon: { type: "string", format: "icon", title: texts.icon },
      },
    },
    values: icon === undefined ? { title } : { title, icon },
    offers: { devices: [], rooms: [] },
    id: "editor-page",
    onChange: (values) => store.changePage(page, values),
  });
}
