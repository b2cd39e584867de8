import { effect } from "@preact/signals-core";
import type { Session } from "./session.ts";
import { rememberedSignedIn, rememberSignedIn, visitNote } from "./signed-in.ts";

/** True if the signed-in identity may only read at a place of the API, such as `smart-home/scenes`. */
export function mayOnlyReadAt(place: string): boolean {
  return rememberedPlaces().some((each) => place === each || place.startsWith(`${each}/`));
}

function rememberedPlaces(): readonly string[] {
  if (!rememberedSignedIn()) return [];
  const note = JSON.parse(visitNote() ?? "{}") as { readonly readOnlyPaths?: unknown };
  const { readOnlyPaths } = note;
  return Array.isArray(readOnlyPaths) ? readOnlyPaths.map(String) : [];
}

/** Loads the page again with the rights that somebody has changed. The host ends the event stream when they change. */
export function followRights({ api, link }: Pick<Session, "api" | "link">): void {
  effect(() => {
    if (link.value.state === "live") void compareRights(api);
  });
}

async function compareRights(api: Session["api"]): Promise<void> {
  const who = await api.whoIsSignedIn().catch(() => undefined);
  const known = rememberedSignedIn();
  if (!who || !known) return;
  const places = who.readOnlyPaths ?? [];
  if (who.scope.join() === known.scope.join() && places.join() === rememberedPlaces().join())
    return;
  rememberSignedIn(who);
  location.reload();
}
