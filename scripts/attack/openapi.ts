import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../test/helpers/free-port.ts";
import { type JudgedCount, JudgedRelay } from "./judged-relay.ts";
import { type Tool, startTool } from "./tool.ts";

/** Makes requests from an OpenAPI document. It is a program in Java, and needs version 17. */
const GENERATOR = "specmatic@2.55.1";
/** A proxy that compares each answer with the document, and says in a header what is wrong with it. */
const JUDGE = "@stoplight/prism-cli@5.16.0";
/**
 * The generator waits for the end of each answer, and an event stream has none. While the host restarts, other requests
 * have no answer.
 */
const LEFT_OUT = ["/api/v1/events", "/api/v1/restart"];
/** Where ids are that lead somewhere: the path of a list, and its name in the answer. */
const LISTS = [
  ["/smart-home/devices", "devices"],
  ["/smart-home/scenes", "scenes"],
  ["/modules", "modules"],
] as const;

/** The host that is asked. */
export interface TestedHost {
  readonly url: string;
  /** Gives a token with the admin scope that is valid now; requests void tokens too. */
  readonly token: () => Promise<string>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}
interface Operation {
  readonly parameters?: readonly { readonly name: string; schema: object }[];
}

/**
 * Has a generator of requests and a judge of answers that know of Mantel nothing but its OpenAPI document
 * work on a host, with `combinations` requests at most for each way to ask that an operation has. The last
 * word of the generator is in `summary`: it also counts what it expected to be accepted and was not.
 *
 * @throws Error when one of them cannot be had, or does not get to its end
 */
export async function runOpenApiJudge(
  host: TestedHost,
  combinations: number,
): Promise<JudgedCount & { summary: string }> {
  const folder = await mkdtemp(join(tmpdir(), "mantel-openapi-"));
  const tools: Tool[] = [];
  const relay = new JudgedRelay(host.token);
  try {
    await writeDocuments(host, folder);
    const port = await freePort();
    const judging = ["proxy", "judged.json", host.url, "--port", String(port), "--cors=false"];
    const judge = startTool(JUDGE, [...judging, "--validate-request=false"], { folder });
    tools.push(judge);
    await judge.answersAt(`http://127.0.0.1:${port}/api`);
    const asking = ["test", "asked.json", "--testBaseURL", await relay.listen(port)];
    const generator = startTool(
      GENERATOR,
      [...asking, "--filter", `PATH!='${LEFT_OUT.join(",")}'`],
      {
        folder,
        variables: {
          token: "the relay brings a valid one",
          SPECMATIC_GENERATIVE_TESTS: "true",
          MAX_TEST_REQUEST_COMBINATIONS: String(combinations),
        },
      },
    );
    tools.push(generator);
    const lastWords = await generator.ended;
    const [summary] = /^Tests run: .*$/m.exec(lastWords) ?? [];
    if (!summary) throw new Error(`${GENERATOR} did not get to its end: ${lastWords}`);
    return { ...relay.count, summary };
  } finally {
    relay.close();
    for (const tool of tools) tool.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The judge has the document as it is; the generator one whose ids are those that the home has. */
async function writeDocuments({ url, token }: TestedHost, folder: string): Promise<void> {
  const headers = { authorization: `Bearer ${await token()}` };
  const read = async <T>(path: string): Promise<T> =>
    (await (await fetch(`${url}/api/v1${path}`, { headers })).json()) as T;
  const document = await read<Document>("/openapi.json");
  await writeFile(join(folder, "judged.json"), JSON.stringify(document));
  for (const [list, name] of LISTS) {
    const listed = await read<Record<string, { id: string }[]>>(list);
    const ids = listed[name]?.map(({ id }) => id) ?? [];
    for (const [path, operations] of Object.entries(document.paths)) {
      if (path.startsWith(`/api/v1${list}/{id}`)) nameIds(operations, ids);
    }
  }
  await writeFile(join(folder, "asked.json"), JSON.stringify(document));
}

function nameIds(operations: Readonly<Record<string, Operation>>, ids: readonly string[]): void {
  for (const { parameters = [] } of Object.values(operations)) {
    for (const each of parameters)
      if (each.name === "id") each.schema = { enum: ids, type: "string" };
  }
}
