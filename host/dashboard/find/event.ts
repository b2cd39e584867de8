/** The event of the window by which the button in the header opens the search. */
export const FIND = "mantel-find";
