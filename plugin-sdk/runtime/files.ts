/** The file that a plugin's process starts with, and beside it the code that it runs. */
export const START = "start.cjs";
export const CODE = "runtime.cjs";
/** The argument with which the first file saves the compiled code of the second. */
export const SAVE = "--save-compiled-code";
