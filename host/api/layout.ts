import { PLUGIN_ID } from "@mantel/plugin-sdk/manifest";
import { type Static, Type } from "typebox";
import { NightSpan, THEMES } from "./theme.ts";

const Strict = { additionalProperties: false } as const;

const Id = Type.String({
  pattern: "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$",
  description: "an id of letters, digits, hyphens and underscores, at most 64",
});
const Text = Type.String({ maxLength: 200 });
const Icon = Type.String({
  pattern: "^[a-z0-9:-]{1,100}$",
  description: "an icon such as mdi:sofa",
});

/** A position on the grid, in cells from the left and from the top. */
const Cells = Type.Object(
  {
    x: Type.Integer({ minimum: 0, maximum: 47 }),
    y: Type.Integer({ minimum: 0, maximum: 10_000 }),
    w: Type.Integer({ minimum: 1, maximum: 48 }),
    h: Type.Integer({ minimum: 1, maximum: 1_000 }),
  },
  Strict,
);

/** One tile. If its module is missing, the tile is kept and shows a placeholder. */
const Widget = Type.Object(
  {
    /** Unique in the whole layout. */
    id: Id,
    module: Type.String({ pattern: PLUGIN_ID, maxLength: 64, description: "the id of a module" }),
    /** The widget's name, for a module with several. */
    type: Type.Optional(Id),
    /** Settings of the widget, which the widget itself checks. */
    config: Type.Record(Type.String(), Type.Unknown()),
    /** Geometry of an absent breakpoint is derived from `lg`, and never saved. */
    geometry: Type.Object(
      { lg: Cells, md: Type.Optional(Cells), sm: Type.Optional(Cells) },
      Strict,
    ),
  },
  Strict,
);

const Page = Type.Object(
  {
    id: Id,
    title: Text,
    icon: Type.Optional(Icon),
    widgets: Type.Array(Widget, { maxItems: 500 }),
  },
  Strict,
);

/** A screen in the home, and its pages. */
const Display = Type.Object(
  {
    id: Id,
    name: Text,
    /** Ids of pages, in the order they are shown. */
    pages: Type.Array(Id, { maxItems: 100 }),
    /** Absent means as in the config, also for `night`. */
    theme: Type.Optional(Type.Enum([...THEMES])),
    night: Type.Optional(Type.Union([NightSpan, Type.Null()])),
    /** True hides everything that leads away from the pages. */
    kiosk: Type.Optional(Type.Boolean()),
    /** Seconds until the next page is shown; absent or 0 means never. */
    rotateSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400 })),
  },
  Strict,
);

const content = {
  version: Type.Literal(1),
  name: Type.Optional(Text),
  grid: Type.Object(
    {
      columns: Type.Integer({ minimum: 1, maximum: 48 }),
      /** Height of a row, and the space between cells, in CSS pixels. */
      rowHeight: Type.Integer({ minimum: 8, maximum: 400 }),
      gap: Type.Integer({ minimum: 0, maximum: 100 }),
    },
    Strict,
  ),
  pages: Type.Array(Page, { maxItems: 100 }),
  displays: Type.Array(Display, { maxItems: 100 }),
};
const revision = Type.Integer({ minimum: 0 });

/** The layout as it is stored and answered. */
export const LayoutDocument = Type.Object({ revision, ...content }, Strict);
export type LayoutDocument = Static<typeof LayoutDocument>;

/** The layout as clients or users write it. A `revision` is allowed and ignored. */
export const LayoutInput = Type.Object(
  { revision: Type.Optional(revision), ...content },
  { ...Strict, title: "Mantel layout" },
);
export type LayoutInput = Static<typeof LayoutInput>;

/** One entry of the layout's history. */
export const LayoutRevision = Type.Object(
  {
    revision: Type.Integer(),
    savedAt: Type.String({ format: "date-time" }),
    name: Type.Optional(Text),
  },
  Strict,
);
export type LayoutRevision = Static<typeof LayoutRevision>;
