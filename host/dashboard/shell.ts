import type { Device } from "@mantel/plugin-sdk/device";
import {
  computed,
  effect,
  type ReadonlySignal,
  type Signal,
  signal,
  untracked,
} from "@preact/signals-core";
import { html, nothing, render } from "lit";
import { words } from "./i18n/shell.ts";
import type { Breakpoint, Layout, Page } from "./layout.ts";
import { PageView } from "./page-view.ts";
import type { Session } from "./session.ts";
import { showTheme } from "./theme.ts";
import type { TileDependencies } from "./tile.ts";
import { titles } from "./title.ts";

// In em, because larger text needs the narrow layout just like a smaller screen.
const phone = matchMedia("(max-width: 40em)");
const tablet = matchMedia("(max-width: 68.75em)");

/** The parts of the header that are drawn after the first paint. */
export interface HeaderParts {
  /** Draws the state of the home as chips. */
  readonly chips: Signal<(devices: readonly Device[]) => unknown>;
  /** Draws the end of the header. */
  readonly tools: Signal<() => unknown>;
}

/** Draws the home: its pages, the header and the connection banner. */
export function mountShell(root: HTMLElement, session: Session, parts: TileDependencies): void {
  const { store, theme } = session;
  const wall = document.createElement("div");
  const header = document.createElement("header");
  wall.className = "wall";
  header.className = "top";
  root.replaceChildren(wall);

  const current = currentPage(session.shown);
  const breakpoint = currentBreakpoint();
  const devices = store.devices();
  const views = new PageViews(wall, header, parts);
  effect(() => {
    const layout = session.shown.value;
    const page = current.value;
    const at = breakpoint.value;
    if (layout && page) untracked(() => views.show(layout, page, at));
  });
  effect(() => void (titles.page.value = current.value?.title ?? ""));
  const chips: HeaderParts["chips"] = signal(() => nothing);
  const tools: HeaderParts["tools"] = signal(() => nothing);
  effect(() => {
    const { pages } = session.shown.value ?? { pages: [] };
    const tabs = headerOf(pages, current.value, chips.value(devices.value));
    render(html`${tabs}${tools.value()}`, header);
  });

  effect(() => showTheme(theme.theme.value));
  const start = { root, session, tiles: parts, page: current, breakpoint };
  void import("./soon.ts").then((later) => later.startLaterParts(start, { chips, tools }));
}

/** The page in the address, or the first page. */
function currentPage(layout: ReadonlySignal<Layout | undefined>): ReadonlySignal<Page | undefined> {
  const pageId = signal(pageInAddress());
  addEventListener("hashchange", () => (pageId.value = pageInAddress()));
  return computed(() => {
    const pages = layout.value?.pages ?? [];
    return pages.find(({ id }) => id === pageId.value) ?? pages[0];
  });
}

function pageInAddress(): string {
  return location.hash.slice(1);
}

function currentBreakpoint(): ReadonlySignal<Breakpoint> {
  const read = (): Breakpoint => (phone.matches ? "sm" : tablet.matches ? "md" : "lg");
  const breakpoint = signal(read());
  for (const query of [phone, tablet]) {
    query.addEventListener("change", () => (breakpoint.value = read()));
  }
  return breakpoint;
}

/** The visited pages. They stay mounted, so returning to one is immediate. */
class PageViews {
  readonly #wall: HTMLElement;
  readonly #header: HTMLElement;
  readonly #parts: TileDependencies;
  readonly #views = new Map<string, PageView>();

  constructor(wall: HTMLElement, header: HTMLElement, parts: TileDependencies) {
    this.#wall = wall;
    this.#header = header;
    this.#parts = parts;
  }

  show({ pages, grid }: Layout, current: Page, breakpoint: Breakpoint): void {
    if (!this.#views.has(current.id)) this.#add(current.id);
    for (const [id, view] of this.#views) {
      const page = pages.find((each) => each.id === id);
      const header = page === current ? this.#header : undefined;
      view.hidden = page !== current;
      if (page) view.show(page, { grid, breakpoint, header });
      else this.#drop(id, view);
    }
  }

  #add(id: string): void {
    const view = new PageView(this.#parts);
    this.#views.set(id, view);
    this.#wall.append(view.element);
  }

  #drop(id: string, view: PageView): void {
    view.close();
    this.#views.delete(id);
  }
}

function headerOf(pages: readonly Page[], current: Page | undefined, chips: unknown): unknown {
  const tabs = html`<nav class="tabs" aria-label=${words.value.pages}>
    ${pages.map(
      ({ id, title, icon }) =>
        html`<button
          aria-current=${id === current?.id ? "page" : nothing}
          @click=${() => location.replace(`#${id}`)}
        >
          <mantel-icon name=${icon ?? "mdi:circle-small"}></mantel-icon><span>${title}</span>
        </button>`,
    )}
  </nav>`;
  return html`<h1 class="unseen">${current?.title ?? nothing}</h1>
    ${pages.length > 1 ? tabs : nothing}
    <div class="chips" role="status" aria-label=${words.value.homeStatus}>${chips}</div>`;
}
