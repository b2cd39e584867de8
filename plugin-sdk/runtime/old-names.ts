/** Names of the plugin context in earlier versions of the SDK, and what replaced them. */
const REPLACED = {
  house: "ctx.home",
  reportDegraded: "ctx.status.ok() and ctx.status.degraded(reason)",
};

/** Makes reading an old name of the context throw an error that gives the new one; its stack has the plugin's line. */
export function rejectOldNames(context: object): void {
  for (const [name, replacement] of Object.entries(REPLACED)) {
    Object.defineProperty(context, name, {
      enumerable: false,
      get() {
        throw new TypeError(`ctx.${name} is now ${replacement}`);
      },
    });
  }
}
