import { type Api, ApiError } from "../api.ts";
import type { StoredAutomation } from "./document.ts";
import { words } from "./words.ts";

/** The path of an automation in the API. */
export const pathOf = (id: string): `/automations/${string}` =>
  `/automations/${encodeURIComponent(id)}`;

/** Reads an automation that is a document. @throws ApiError */
export async function readDocument(api: Api, id: string): Promise<StoredAutomation> {
  return (await api.get(pathOf(id))) as StoredAutomation;
}

/** The user-facing reason of a failed request. */
export function reasonOf(error: unknown): string {
  if (error instanceof ApiError && error.code === "offline") return words.peek().offline;
  return error instanceof Error ? error.message : String(error);
}
