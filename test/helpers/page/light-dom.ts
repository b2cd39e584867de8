// A page without a browser: importing this gives the process the globals of a page that Node lacks, until it ends. lit and
// the dashboard look for them when they load, so import them behind this with `await import()`. Files that import this
// share a process with each other only.

import "../../../plugin-sdk/widget-testing/page.ts";

// Set when the dashboard is built.
Object.assign(globalThis, { ICONS_URL: "/icons/" });
