import { parseJsonText } from "@mantel/plugin-sdk/json-text";
import type { LayoutInput } from "../api/layout.ts";
import { layoutInCurrentNames } from "../layout/store.ts";
import { sceneInCurrentNames } from "../scenes/host-scenes.ts";
import type { SceneBody } from "../scenes/schema.ts";

type Document = Readonly<Record<string, unknown>>;

/** The changes of a document, by its path in the backup. */
const DOCUMENTS: Readonly<Record<string, (document: Document) => Document>> = {
  "layout.json": (layout) => ({
    ...layout,
    ...layoutInCurrentNames(layout as unknown as LayoutInput),
  }),
  "scenes.json": (file) => {
    const scenes = Object.entries((file["scenes"] ?? {}) as Readonly<Record<string, SceneBody>>);
    const renamed = scenes.map(([id, scene]) => [id, sceneInCurrentNames(id, scene)] as const);
    return { ...file, scenes: Object.fromEntries(renamed) };
  },
};

/** A checked document of a backup with the current names of capabilities; other files stay as they are. */
export function inCurrentNames([path, bytes]: readonly [string, Buffer]): [string, Buffer] {
  const rename = Object.hasOwn(DOCUMENTS, path) ? DOCUMENTS[path] : undefined;
  if (!rename) return [path, bytes];
  const before = parseJsonText(bytes.toString(), path) as Document;
  const after = rename(before);
  if (JSON.stringify(after) === JSON.stringify(before)) return [path, bytes];
  return [path, Buffer.from(`${JSON.stringify(after, null, 2)}\n`)];
}
