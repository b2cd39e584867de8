import { CodeNotLoaded } from "../code-not-loaded.ts";

/**
 * The code of a widget, with an absolute source map URL.
 * @throws CodeNotLoaded if it cannot be loaded
 */
export async function loadCode(url: string): Promise<string> {
  const response = await fetch(url).catch(() => undefined);
  if (!response?.ok) throw new CodeNotLoaded();
  const code = await response.text();
  const base = new URL(".", new URL(url, location.href)).href;
  return code.replace(/(\/\/# sourceMappingURL=)(?=[^\n]*\n?$)/, `$1${base}`);
}
