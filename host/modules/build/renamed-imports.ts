import type { Location, PartialMessage } from "esbuild";

const SDK = "@mantel/plugin-sdk";
/** Parts and exports of the SDK with another name in earlier versions. */
const RENAMED_PARTS: ReadonlyMap<string, string> = new Map([[`${SDK}/speech`, `${SDK}/i18n`]]);
const RENAMED_EXPORTS: ReadonlyMap<string, string> = new Map([
  ["Slots", "Semaphore"],
  ["Turns", "SerialQueue"],
  ["MqttLink", "MqttClient"],
  ["LinkOwner", "ConnectionListener"],
  ["climateTile", "deviceTile"],
]);
const IMPORT =
  /^\s*(?:import|export)\s(?<names>[^;'"]*?)\sfrom\s*["'](?<from>@mantel\/plugin-sdk[^"']*)["']/gm;
/** The imported name in `name`, `type name` and `name as own`. */
const IMPORTED = /(?:^|[{,])\s*(?:type\s+)?(\w+)/g;

/** The imports in a source file that use an old name of the SDK, as esbuild errors that give the new one. */
export function renamedImports(file: string, source: string): PartialMessage[] {
  if (!source.includes(SDK)) return [];
  return Array.from(source.matchAll(IMPORT)).flatMap((found) => {
    const { names = "", from = "" } = found.groups ?? {};
    const part = RENAMED_PARTS.get(from);
    const renamed = part === undefined ? [] : [{ old: from, text: `${from} is now ${part}` }];
    for (const [, name = ""] of names.matchAll(IMPORTED)) {
      const now = RENAMED_EXPORTS.get(name);
      if (now !== undefined) renamed.push({ old: name, text: `${name} of ${SDK} is now ${now}` });
    }
    return renamed.map(({ old, text }) => {
      const at = source.indexOf(old, found.index);
      return { text, location: locationOf(file, source, at) };
    });
  });
}

/** The place of a character, as esbuild counts: lines from 1, columns from 0. */
function locationOf(file: string, source: string, at: number): Partial<Location> {
  const before = source.slice(0, at).split("\n");
  const lineText = source.split("\n")[before.length - 1] ?? "";
  return { file, line: before.length, column: before.at(-1)?.length ?? 0, lineText };
}
