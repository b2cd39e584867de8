import type { FrameFont } from "./to-frame.ts";

let known: Promise<readonly FrameFont[]> | undefined;

/**
 * The fonts of this page's style sheets, each loaded once. Fonts that cannot be loaded are left
 * out.
 */
export function fontsOfPage(): Promise<readonly FrameFont[]> {
  known ??= loadFonts();
  return known;
}

async function loadFonts(): Promise<readonly FrameFont[]> {
  const rules = [...document.styleSheets]
    .flatMap((sheet) => [...sheet.cssRules].map((rule) => ({ rule, base: sheet.href })))
    .filter(({ rule }) => rule instanceof CSSFontFaceRule);
  const fonts = await Promise.all(
    rules.map(({ rule, base }) => loadFont(rule as CSSFontFaceRule, base).catch(() => undefined)),
  );
  return fonts.filter((font) => font !== undefined);
}

async function loadFont({ style }: CSSFontFaceRule, base: string | null): Promise<FrameFont> {
  const [, source = ""] = /url\("?([^")]+)"?\)/.exec(style.getPropertyValue("src")) ?? [];
  const response = await fetch(new URL(source, base ?? location.href));
  return {
    family: style.getPropertyValue("font-family").replaceAll('"', ""),
    weight: style.getPropertyValue("font-weight"),
    unicodeRange: style.getPropertyValue("unicode-range"),
    data: await response.arrayBuffer(),
  };
}
