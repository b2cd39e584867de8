import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** The test files below a path. Ends the run when there are none, because nothing would be tested. */
export async function findTests(path: string): Promise<string[]> {
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => fail(`there is no ${path}`),
  );
  const names = isFile ? [""] : await readdir(path, { recursive: true });
  const found = names
    .map((name) => join(path, name))
    .filter((file) => file.endsWith(".test.ts") && !file.startsWith("test/fixtures/"));
  return found.length > 0 ? found.toSorted() : fail(`there are no tests in ${path}`);
}

function fail(message: string): never {
  console.error(`test: ${message}`);
  process.exit(1);
}
