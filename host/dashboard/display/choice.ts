import type { Display, Layout } from "../layout.ts";
import type { UiSettings } from "../store.ts";

/**
 * The display of the layout that a screen is: the one that its address asks for by id, or else the one
 * with the name it was paired under.
 */
export function displayOf(
  layout: Layout | undefined,
  { asked, name }: { readonly asked: string | null; readonly name: string | undefined },
): Display | undefined {
  const displays = layout?.displays ?? [];
  return (
    displays.find(({ id }) => id === asked) ??
    displays.find((display) => display.name === name || display.id === name)
  );
}

/** The layout with the pages of a display alone, in its order. One that names none shows all. */
export function shownOn(display: Display | undefined, layout: Layout): Layout {
  const pages = (display?.pages ?? []).flatMap(
    (id) => layout.pages.find((page) => page.id === id) ?? [],
  );
  return pages.length > 0 ? { ...layout, pages } : layout;
}

/** The settings for screens, with what a display has of its own. `night: null` keeps it bright. */
export function settingsOn(display: Display | undefined, ui: UiSettings): UiSettings {
  const { theme = ui.theme, night = ui.night } = display ?? {};
  return {
    ...ui,
    ...(theme === undefined ? {} : { theme }),
    ...(night === undefined ? {} : { night }),
  };
}
