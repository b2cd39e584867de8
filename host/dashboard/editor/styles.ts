import type { Scope } from "../scope.ts";
import formStyles from "../form/form.css";
import styles from "./editor.css";
import galleryStyles from "./gallery.css";
import gridViewStyles from "./grid-view.css";
import panelStyles from "./panel-view.css";
import stripStyles from "./strip.css";
import gridStyles from "gridstack/dist/gridstack.css";

const SHEETS = [
  ...[gridStyles, formStyles, styles],
  ...[stripStyles, gridViewStyles, panelStyles, galleryStyles],
];

/** Dresses the page for the editor. The styles come with its code, so that the house never waits for them. */
export function wearStyles(scope: Scope): void {
  const ours = new Set(SHEETS.map(sheetOf));
  document.adoptedStyleSheets.push(...ours);
  scope.onEnd(() => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => !ours.has(each));
  });
}

function sheetOf(css: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  return sheet;
}
