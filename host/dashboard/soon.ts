// What each visit needs soon after its first paint: one file, which a browser has sooner than nine.
export { Commands } from "./commands.ts";
export { startLaterParts } from "./later-parts.ts";
export { followOverlays } from "./overlay-route.ts";
export { WidgetErrors } from "./widget-errors.ts";
