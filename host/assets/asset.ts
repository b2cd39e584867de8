import mdi from "@mdi/js/package.json" with { type: "json" };

/** A file that a browser loads. An immutable file has a name that changes with its content. */
export interface Asset {
  readonly body: Buffer | string;
  readonly type: string;
  readonly immutable: boolean;
  /** The content policy of a page that the dashboard frames; absent for all other files. */
  readonly framedPolicy?: string;
}

export const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".map": "application/json; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json; charset=utf-8",
  ".woff2": "font/woff2",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json",
};

/** The path of icons, such as `/assets/icons/7.4.47/lamp,sofa.json`; its version lets browsers cache them for ever. */
export const ICONS = `/assets/icons/${mdi.version}/`;
