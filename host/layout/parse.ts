import type { Fault } from "@mantel/plugin-sdk/errors";
import { pointerToken } from "@mantel/plugin-sdk/validation-errors";
import { LayoutInput } from "../api/layout.ts";
import { check, invalid } from "../validate.ts";

const WIDGET_CONFIG_BYTES = 32 * 1024;

/**
 * Returns the layout if it fits the schema and is consistent.
 * @throws MantelError `invalid`, with every fault
 */
export function parseLayout(value: unknown): LayoutInput {
  const layout = check(LayoutInput, value, "the layout");
  const faults = [...idFaults(layout), ...displayFaults(layout), ...widgetFaults(layout)];
  if (faults.length > 0) throw invalid("the layout", faults);
  return layout;
}

function idFaults({ pages, displays }: LayoutInput): Fault[] {
  const widgets = pages.flatMap((page, p) =>
    page.widgets.map(({ id }, w) => ({ id, at: `/pages/${p}/widgets/${w}` })),
  );
  return [
    ...repeated(pages.map(({ id }, p) => ({ id, at: `/pages/${p}` }))),
    ...repeated(widgets),
    ...repeated(displays.map(({ id }, d) => ({ id, at: `/displays/${d}` }))),
  ];
}

function repeated(things: readonly { readonly id: string; readonly at: string }[]): Fault[] {
  const first = new Map<string, string>();
  return things.flatMap(({ id, at }) => {
    const taken = first.get(id);
    if (taken === undefined) first.set(id, at);
    return taken === undefined
      ? []
      : [{ pointer: `${at}/id`, detail: `is ${id}, which is already the id of ${taken}` }];
  });
}

function displayFaults({ pages, displays }: LayoutInput): Fault[] {
  const known = new Set(pages.map(({ id }) => id));
  return displays.flatMap((display, d) =>
    display.pages.flatMap((page, p) => {
      const pointer = `/displays/${d}/pages/${p}`;
      if (!known.has(page)) return [{ pointer, detail: `is ${page}, and no page has that id` }];
      const isTwice = display.pages.indexOf(page) < p;
      return isTwice ? [{ pointer, detail: `is ${page}, which the display already has` }] : [];
    }),
  );
}

function widgetFaults({ pages, grid }: LayoutInput): Fault[] {
  return pages.flatMap((page, p) =>
    page.widgets.flatMap(({ config, geometry }, w) => {
      const at = `/pages/${p}/widgets/${w}`;
      return [...geometryFaults(geometry, grid.columns, at), ...configFaults(config, at)];
    }),
  );
}

function geometryFaults(
  geometry: LayoutInput["pages"][number]["widgets"][number]["geometry"],
  columns: number,
  at: string,
): Fault[] {
  return Object.entries(geometry).flatMap(([breakpoint, { x, w }]) =>
    x + w <= columns
      ? []
      : [
          {
            pointer: `${at}/geometry/${pointerToken(breakpoint)}`,
            detail: `ends at column ${x + w}; the grid has ${columns}, so x + w must be at most that`,
          },
        ],
  );
}

function configFaults(config: object, at: string): Fault[] {
  const bytes = Buffer.byteLength(JSON.stringify(config));
  const detail = `is ${bytes} bytes of JSON; it must be at most ${WIDGET_CONFIG_BYTES}`;
  return bytes > WIDGET_CONFIG_BYTES ? [{ pointer: `${at}/config`, detail }] : [];
}
