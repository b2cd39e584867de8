/** The pattern of plugin ids: lower-case words joined by hyphens, at most 64 characters. */
export const PLUGIN_ID = "^[a-z][a-z0-9]*(-[a-z0-9]+)*$";
