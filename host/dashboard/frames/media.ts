interface Viewport {
  readonly width: number;
  readonly height: number;
}

const SIDE = /\((min|max)-(width|height):\s*([\d.]+)(px|em|rem)\)/g;

const rules = new Map<CSSMediaRule, string>();
let viewport: Viewport | undefined;

/**
 * A style sheet whose media queries refer to the window of the dashboard, as for a widget in the
 * page, and not to the frame, which is only as large as its tile.
 */
export function mediaSheet(css: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  for (const rule of mediaRules(sheet.cssRules)) {
    const { mediaText } = rule.media;
    if (mediaText.search(SIDE) === -1) continue;
    rules.set(rule, mediaText);
    adapt(rule, mediaText);
  }
  return sheet;
}

/** Handles a new size of the dashboard's window. */
export function adaptTo(now: Viewport): void {
  viewport = now;
  for (const [rule, mediaText] of rules) adapt(rule, mediaText);
}

function adapt({ media }: CSSMediaRule, mediaText: string): void {
  const now = viewport;
  if (!now) return;
  media.mediaText = mediaText.replaceAll(
    SIDE,
    (_query, bound: "min" | "max", side: keyof Viewport, length: string, unit: string) => {
      const px = Number(length) * (unit === "px" ? 1 : textPx());
      const holds = bound === "min" ? now[side] >= px : now[side] <= px;
      return holds ? "(min-width: 0px)" : "(max-width: 0px)";
    },
  );
}

function textPx(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
}

function* mediaRules(list: CSSRuleList): Generator<CSSMediaRule> {
  for (const rule of list) {
    if (rule instanceof CSSMediaRule) yield rule;
    if (rule instanceof CSSGroupingRule) yield* mediaRules(rule.cssRules);
  }
}
