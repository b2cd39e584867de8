// Files that are sent and received, beside `Api`, which the first page loads.
import type { Api } from "../api.ts";

const DEADLINE_MS = 60_000;

/** Downloads the file that the API makes for a request. @throws ApiError */
export async function download(
  api: Pick<Api, "open">,
  path: string,
  request: object,
): Promise<Blob> {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify(request);
  return (await api.open(path, { method: "POST", headers, body, ...withDeadline() })).blob();
}

/** Stores a file under a path of the API. @throws ApiError */
export async function upload(api: Pick<Api, "open">, path: string, file: Blob): Promise<void> {
  const headers = { "Content-Type": file.type };
  await api.open(path, { method: "PUT", headers, body: file, ...withDeadline() });
}

function withDeadline(): { signal: AbortSignal } {
  return { signal: AbortSignal.timeout(DEADLINE_MS) };
}
