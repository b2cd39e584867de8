/** First parts of paths below `/plugins/:id` that belong to the host. */
export const RESERVED_PATHS: readonly string[] = [
  "config",
  "hooks",
  "icon",
  "pin",
  "readme",
  "update",
];
