import type { Display, Layout } from "../layout.ts";
import type { UiSettings } from "../store.ts";

/**
 * The display of this screen in the layout: the one whose id is in the address, otherwise the one
 * with the name it was paired under.
 */
export function displayOf(
  layout: Layout | undefined,
  {
    displayInAddress,
    name,
  }: { readonly displayInAddress: string | null; readonly name: string | undefined },
): Display | undefined {
  const displays = layout?.displays ?? [];
  return (
    displays.find(({ id }) => id === displayInAddress) ??
    displays.find((display) => display.name === name || display.id === name)
  );
}

/**
 * The layout with only the pages of a display, in its order. A display without a page list shows
 * all pages.
 */
export function layoutOn(display: Display | undefined, layout: Layout): Layout {
  const pages = (display?.pages ?? []).flatMap(
    (id) => layout.pages.find((page) => page.id === id) ?? [],
  );
  return pages.length > 0 ? { ...layout, pages } : layout;
}

/** The `ui` settings with the overrides of a display. `night: null` disables night mode. */
export function settingsOn(display: Display | undefined, ui: UiSettings): UiSettings {
  const { theme = ui.theme, night = ui.night } = display ?? {};
  return {
    ...ui,
    ...(theme === undefined ? {} : { theme }),
    ...(night === undefined ? {} : { night }),
  };
}
