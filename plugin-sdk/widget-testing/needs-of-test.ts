import { hasRoutes } from "../manifest.ts";
import { needsWithOwn } from "../needs.ts";
import { declaredIn } from "../testing-manifest.ts";
import type { WidgetTestOptions } from "./fake-context.ts";

/** The options with the id and the needs in the manifest, if they have none; `file` is its `package.json`. */
export function withManifest<O extends WidgetTestOptions>(options: O, file?: URL): O {
  const declared = options.needs ? undefined : declaredIn(file);
  if (!declared) return options;
  const { needs = {}, provides = [], paths = {} } = declared.manifest;
  const routed = Object.entries(paths).flatMap(([path, use]) => (hasRoutes(use) ? [path] : []));
  const permitted = needsWithOwn(needs, { provides, routed });
  return { plugin: declared.id, ...options, needs: permitted };
}
