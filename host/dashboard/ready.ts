// What each visit has ready for the first long press and the first search, as one file.
export { openDetails } from "./details/details.ts";
export { openFind } from "./find/find.ts";
