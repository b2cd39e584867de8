import mdi from "@mdi/js/package.json" with { type: "json" };

/** Something a browser loads. What is immutable has a name that changes with its content. */
export interface Asset {
  readonly body: Buffer | string;
  readonly type: string;
  readonly immutable: boolean;
}

export const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".map": "application/json; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json",
};

/** Where icons are served; the version in it lets browsers keep them for ever. */
export const ICONS = `/assets/icons/${mdi.version}/`;
