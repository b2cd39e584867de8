import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { onTestEnd } from "./on-test-end.ts";

/** An empty folder that is removed when the test ends, after what was opened in it with `atEnd`. */
export async function emptyFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "mantel-test-"));
  onTestEnd(t, () => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 }));
  return folder;
}
