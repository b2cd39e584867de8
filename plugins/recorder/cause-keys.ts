import type { Cause } from "@mantel/plugin-sdk";

/** The texts by which a chain of causes is found: each link's kind, `kind:id` and `kind:name`, between line breaks. */
export function causeKeys(cause: Cause): string {
  const keys = new Set<string>();
  for (let link: Cause | undefined = cause; link; link = link.parent) {
    for (const key of [link.kind, `${link.kind}:${link.id}`, `${link.kind}:${link.name}`])
      keys.add(key.replaceAll("\n", " "));
  }
  return `\n${[...keys].join("\n")}\n`;
}
