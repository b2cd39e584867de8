import type { Fault } from "@mantel/plugin-sdk/errors";
import type { ValueOf } from "@mantel/plugin-sdk/schema";
import { pointerToken } from "@mantel/plugin-sdk/validation-errors";
import type { TSchema } from "typebox";
import { LayoutInput } from "../api/layout.ts";
import { faultsOf, invalid } from "../validate.ts";

const WIDGET_CONFIG_BYTES = 32 * 1024;

const { grid: Grid, pages: Pages, displays: Displays } = LayoutInput.properties;
const Page = Pages.items.properties;
const Widget = Page.widgets.items.properties;
const Geometry = Widget.geometry.properties;
const Cells = Geometry.lg.properties;
const Display = Displays.items.properties;

/**
 * Returns the layout if it fits the schema and is consistent.
 * @throws MantelError `invalid`, with every fault
 */
export function parseLayout(value: unknown): LayoutInput {
  const parts = partsOf(value);
  const faults = [
    ...faultsOf(LayoutInput, value),
    ...idFaults(parts),
    ...displayFaults(parts),
    ...widgetFaults(parts),
  ];
  if (faults.length > 0) throw invalid("the layout", faults);
  return value as LayoutInput;
}

/** The values of a layout that are checked for consistency; `undefined` for those that do not fit the schema. */
interface Parts {
  readonly columns: number | undefined;
  /** `undefined` without a list of pages. */
  readonly pages: readonly PageParts[] | undefined;
  readonly displays: readonly { readonly id: Id; readonly pages: readonly Id[] }[];
}
type Id = string | undefined;
interface PageParts {
  readonly id: Id;
  readonly widgets: readonly WidgetParts[];
}
interface WidgetParts {
  readonly id: Id;
  readonly config: object | undefined;
  /** The first column after the widget, by breakpoint. */
  readonly ends: readonly (readonly [breakpoint: string, column: number])[];
}

function partsOf(value: unknown): Parts {
  const { grid, pages, displays } = membersOf(value);
  return {
    columns: fitting(Grid.properties.columns, membersOf(grid)["columns"]),
    pages: Array.isArray(pages) ? pages.map(pagePartsOf) : undefined,
    displays: itemsOf(displays).map((display) => {
      const { id, pages: shown } = membersOf(display);
      return {
        id: fitting(Display.id, id),
        pages: itemsOf(shown).map((page) => fitting(Page.id, page)),
      };
    }),
  };
}

function pagePartsOf(page: unknown): PageParts {
  const { id, widgets } = membersOf(page);
  return { id: fitting(Page.id, id), widgets: itemsOf(widgets).map(widgetPartsOf) };
}

function widgetPartsOf(widget: unknown): WidgetParts {
  const { id, config, geometry } = membersOf(widget);
  const ends = Object.keys(Geometry).flatMap((breakpoint) => {
    const { x, w } = membersOf(membersOf(geometry)[breakpoint]);
    const [from, width] = [fitting(Cells.x, x), fitting(Cells.w, w)];
    return from === undefined || width === undefined ? [] : [[breakpoint, from + width] as const];
  });
  return { id: fitting(Widget.id, id), config: fitting(Widget.config, config), ends };
}

function fitting<S extends TSchema>(schema: S, value: unknown): ValueOf<S> | undefined {
  return faultsOf(schema, value).length === 0 ? (value as ValueOf<S>) : undefined;
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function idFaults({ pages = [], displays }: Parts): Fault[] {
  const widgets = pages.flatMap((page, p) =>
    page.widgets.map(({ id }, w) => ({ id, at: `/pages/${p}/widgets/${w}` })),
  );
  return [
    ...repeated(pages.map(({ id }, p) => ({ id, at: `/pages/${p}` }))),
    ...repeated(widgets),
    ...repeated(displays.map(({ id }, d) => ({ id, at: `/displays/${d}` }))),
  ];
}

function repeated(things: readonly { readonly id: Id; readonly at: string }[]): Fault[] {
  const first = new Map<string, string>();
  return things.flatMap(({ id, at }) => {
    if (id === undefined) return [];
    const taken = first.get(id);
    if (taken === undefined) first.set(id, at);
    return taken === undefined
      ? []
      : [{ pointer: `${at}/id`, detail: `is ${id}, which is already the id of ${taken}` }];
  });
}

function displayFaults({ pages, displays }: Parts): Fault[] {
  const known = pages && new Set(pages.map(({ id }) => id));
  return displays.flatMap((display, d) =>
    display.pages.flatMap((page, p) => {
      if (page === undefined) return [];
      const pointer = `/displays/${d}/pages/${p}`;
      if (known && !known.has(page))
        return [{ pointer, detail: `is ${page}, and no page has that id` }];
      const isTwice = display.pages.indexOf(page) < p;
      return isTwice ? [{ pointer, detail: `is ${page}, which the display already has` }] : [];
    }),
  );
}

function widgetFaults({ pages = [], columns }: Parts): Fault[] {
  return pages.flatMap((page, p) =>
    page.widgets.flatMap(({ config, ends }, w) => {
      const at = `/pages/${p}/widgets/${w}`;
      return [...geometryFaults(ends, columns, at), ...configFaults(config, at)];
    }),
  );
}

function geometryFaults(
  ends: WidgetParts["ends"],
  columns: number | undefined,
  at: string,
): Fault[] {
  if (columns === undefined) return [];
  return ends.flatMap(([breakpoint, end]) =>
    end <= columns
      ? []
      : [
          {
            pointer: `${at}/geometry/${pointerToken(breakpoint)}`,
            detail: `ends at column ${end}; the grid has ${columns}, so x + w must be at most that`,
          },
        ],
  );
}

function configFaults(config: object | undefined, at: string): Fault[] {
  if (!config) return [];
  const bytes = Buffer.byteLength(JSON.stringify(config));
  const detail = `is ${bytes} bytes of JSON; it must be at most ${WIDGET_CONFIG_BYTES}`;
  return bytes > WIDGET_CONFIG_BYTES ? [{ pointer: `${at}/config`, detail }] : [];
}
