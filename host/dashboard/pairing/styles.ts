import text from "./pairing.css";

/** Dresses the page for pairing. The styles come with its code, so that the house never waits for them. */
export function wearStyles(): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  document.adoptedStyleSheets.push(sheet);
}
