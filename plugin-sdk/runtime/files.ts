/** The file that a plugin's process starts with, and beside it the code that it runs. */
export const START = "start.cjs";
export const CODE = "runtime.cjs";
/** It has a folder of its own, because a folder keeps the compiled code of one file. */
export const SCHEMA_LIBRARY = "schema-library/library.cjs";
/** The argument with which the first file saves the compiled code of the others. */
export const SAVE = "--save-compiled-code";
