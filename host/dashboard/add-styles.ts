const added = new Set<string>();

/** Adds a style sheet to the page, once. Code that is loaded later brings its styles along, so that the first paint does not wait for them. */
export function addStyles(css: string): void {
  if (added.has(css)) return;
  added.add(css);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets.push(sheet);
}
