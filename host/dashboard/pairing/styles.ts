import text from "./pairing.css";

/**
 * Adds the styles for pairing to the page. They are loaded with the pairing code, so that the
 * dashboard does not wait for them.
 */
export function addStyles(): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  document.adoptedStyleSheets.push(sheet);
}
