/** Folders below the data folder that belong to the host. No plugin can request them. */
export const HOST_FOLDERS: readonly string[] = [
  "cache",
  "languages",
  "layout-history",
  "packages",
  "plugins",
];
