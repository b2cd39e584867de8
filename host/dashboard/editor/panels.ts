import { html, nothing } from "lit";
import type { Offers } from "../form/field.ts";
import { formView } from "../form/form.ts";
import type { FieldSchema } from "../form/schema.ts";
import type { Geometry } from "../layout.ts";
import {
  findWidget,
  isOverridden,
  type LayoutPage,
  type LayoutWidget,
  pageOf,
} from "./document.ts";
import type { Editing } from "./editing.ts";
import { misfit, type WidgetSize } from "./limits.ts";
import { words } from "./words.ts";

/** What the panel of a tile needs beyond the draft. */
export interface TilePanel {
  readonly id: string;
  /** `undefined` while its module is gone, or its code does not say. */
  readonly schema: FieldSchema | undefined;
  readonly offers: Offers;
  /** What widgets ask for, by module. */
  readonly sizes: ReadonlyMap<string, WidgetSize>;
  /** Moves or resizes it by some cells. */
  readonly shift: (by: Partial<Geometry>) => void;
}

/** A tile: its settings, and everything that can be dragged, as buttons. */
export function tilePanel(editing: Editing, panel: TilePanel): unknown {
  const { id, schema, offers } = panel;
  const { value: document } = editing.draft.document;
  const widget = findWidget(document, id);
  if (!widget) return nothing;
  return html`${settingsView(editing, { widget, schema, offers })} ${shiftView(editing, panel)}
    ${sizeView(editing, widget, panel)}
    <div class="form">
      <div class="field">
        <label for="editor-on-page">${words.value.onPage}</label>
        <select
          id="editor-on-page"
          @change=${({ currentTarget }: Event) =>
            editing.moveToPage(id, (currentTarget as HTMLSelectElement).value)}
        >
          ${document.pages.map(
            (page) =>
              html`<option value=${page.id} .selected=${page.id === pageOf(document, id)?.id}>
                ${page.title}
              </option>`,
          )}
        </select>
      </div>
    </div>
    <button type="button" class="pill danger" @click=${() => editing.remove(id)}>
      <mantel-icon name="mdi:trash-can-outline"></mantel-icon>${words.value.removeTile}
    </button>`;
}

function settingsView(
  editing: Editing,
  { widget, schema, offers }: Pick<TilePanel, "schema" | "offers"> & { widget: LayoutWidget },
): unknown {
  const { id, module, config } = widget;
  if (!schema) return html`<p class="hint">${words.value.moduleGone(module)}</p>`;
  const isBare = Object.keys({ ...schema.properties, ...config }).length === 0;
  if (isBare) return html`<p class="hint">${words.value.noSettings}</p>`;
  const onChange = (values: LayoutWidget["config"]): void => editing.configure(id, values);
  return formView({ schema, values: config, offers, id: "editor-setting", onChange });
}

/** A way for everyone who does not drag (WCAG 2.2, success criterion 2.5.7). */
function shiftView(editing: Editing, { shift }: TilePanel): unknown {
  const say = words.value;
  const button = (name: string, icon: string, by: Partial<Geometry>): unknown =>
    html`<button
      type="button"
      class="icon-button round"
      aria-label=${name}
      @click=${() => shift(by)}
    >
      <mantel-icon name=${icon}></mantel-icon>
    </button>`;
  const isWall = editing.breakpoint.value === "lg";
  return html`<div class="shift" role="group" aria-label=${say.move}>
      <span>${say.move}</span>
      ${button(say.left, "mdi:arrow-left", { x: -1 })} ${button(say.up, "mdi:arrow-up", { y: -1 })}
      ${button(say.down, "mdi:arrow-down", { y: 1 })}
      ${button(say.right, "mdi:arrow-right", { x: 1 })}
    </div>
    <div class="shift" role="group" aria-label=${say.size}>
      <span>${say.size}</span>
      ${button(say.narrower, "mdi:arrow-collapse-horizontal", { w: -1 })}
      ${button(say.wider, "mdi:arrow-expand-horizontal", { w: 1 })}
      ${isWall ? button(say.lower, "mdi:arrow-collapse-vertical", { h: -1 }) : nothing}
      ${isWall ? button(say.higher, "mdi:arrow-expand-vertical", { h: 1 }) : nothing}
    </div>`;
}

/** What the widget asks for, and that the tile is beyond it. */
function sizeView(
  editing: Editing,
  { module, geometry }: LayoutWidget,
  { sizes }: TilePanel,
): unknown {
  const size = sizes.get(module);
  const { columns } = editing.draft.document.value.grid;
  if (editing.breakpoint.value !== "lg" || !size?.min) return nothing;
  const say = words.value;
  const beyond = misfit(geometry.lg, size, { breakpoint: "lg", columns });
  return html`${beyond === undefined ? nothing : html`<p class="misfit">${say[beyond]}</p>`}
    <p class="hint">${say.asksFor(size.min, size.max)}</p>`;
}

/** A page: its title, its place among the others, and what is arranged by hand. */
export function pagePanel(editing: Editing): unknown {
  const say = words.value;
  const page = editing.page.value;
  const { pages } = editing.draft.document.value;
  if (!page) return nothing;
  const index = pages.indexOf(page);
  return html`${faceView(editing, page)}
    <div class="shift" role="group" aria-label=${say.move}>
      <span>${say.move}</span>
      ${moveButton(say.earlier, "mdi:arrow-left", {
        off: index === 0,
        act: () => editing.movePage(-1),
      })}
      ${moveButton(say.later, "mdi:arrow-right", {
        off: index === pages.length - 1,
        act: () => editing.movePage(1),
      })}
    </div>
    ${(["md", "sm"] as const).map((at) => {
      const screen = at === "md" ? say.tablet : say.phone;
      if (!isOverridden(page, at)) return html`<p class="hint">${say.followsWall(screen)}</p>`;
      return html`<p class="hint">${say.byHand(screen)}</p>
        <button type="button" class="pill" @click=${() => editing.derive(at)}>
          ${say.followAgain}: ${screen}
        </button>`;
    })}
    ${
      pages.length === 1
        ? html`<p class="hint">${say.lastPage}</p>`
        : html`<button type="button" class="pill danger" @click=${() => editing.removePage()}>
            <mantel-icon name="mdi:trash-can-outline"></mantel-icon>${say.removePage}
          </button>`
    }`;
}

function faceView(editing: Editing, { title, icon }: LayoutPage): unknown {
  const say = words.value;
  return formView({
    schema: {
      type: "object",
      properties: {
        title: { type: "string", title: say.title, minLength: 1, maxLength: 200 },
        icon: { type: "string", format: "icon", title: say.icon },
      },
    },
    values: icon === undefined ? { title } : { title, icon },
    offers: { devices: [], rooms: [] },
    id: "editor-page",
    onChange: (values) => editing.changePage(values),
  });
}

function moveButton(
  name: string,
  icon: string,
  { off, act }: { readonly off: boolean; readonly act: () => void },
): unknown {
  return html`<button
    type="button"
    class="icon-button round"
    aria-label=${name}
    ?disabled=${off}
    @click=${act}
  >
    <mantel-icon name=${icon}></mantel-icon>
  </button>`;
}
