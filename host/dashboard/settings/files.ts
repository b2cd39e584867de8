// Files that are sent and received, beside `Api`, which the first page loads.
import { type Api, ApiError } from "../api.ts";

const DEADLINE_MS = 60_000;

type Addresses = Pick<Api, "address">;

/** Downloads the file that the API makes for a request. @throws ApiError */
export async function download(api: Addresses, path: string, body: object): Promise<Blob> {
  const headers = { "Content-Type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  return (await ask(api.address(path), init)).blob();
}

/** Stores a file under a path of the API. @throws ApiError */
export async function upload(api: Addresses, path: string, file: Blob): Promise<void> {
  const headers = { "Content-Type": file.type };
  await ask(api.address(path), { method: "PUT", headers, body: file });
}

async function ask(address: string, init: RequestInit): Promise<Response> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const answer = await fetch(address, { ...init, signal }).catch((cause: unknown) => {
    throw new ApiError(0, { code: "offline", detail: String(cause) });
  });
  if (answer.ok) return answer;
  const problem = (await answer.json().catch(() => ({}))) as { code?: string; detail?: string };
  throw new ApiError(answer.status, problem);
}
