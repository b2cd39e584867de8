import assert from "node:assert/strict";
import { test } from "node:test";
import { renamedImports } from "../../../host/modules/build/renamed-imports.ts";

const found = (source: string) =>
  renamedImports("index.ts", source).map(({ text, location }) => [
    /^(\S+)/.exec(text ?? "")?.[1],
    location?.line,
    location?.column,
    location?.lineText,
  ]);

const SDK = "@mantel/plugin-sdk";

for (const [source, expected] of [
  [`import { Slots } from "${SDK}";`, [["Slots", 1, 9]]],
  [`import { Slots as Semaphore } from "${SDK}";`, [["Slots", 1, 9]]],
  [
    `import { definePlugin, Slots, type Turns } from '${SDK}';`,
    [
      ["Slots", 1, 23],
      ["Turns", 1, 35],
    ],
  ],
  [`import type { Slots } from "${SDK}";`, [["Slots", 1, 14]]],
  [`  export { LinkOwner } from "${SDK}/mqtt";`, [["LinkOwner", 1, 11]]],
  [`import sdk, { MqttLink } from "${SDK}";`, [["MqttLink", 1, 14]]],
  [`import * as Slots from "${SDK}";`, []],
  [`import { Semaphore as Slots } from "${SDK}";`, []],
  [`import { SlotsOfMine, MySlots } from "${SDK}";`, []],
  [`import { Slots } from "./slots.ts"; import "${SDK}";`, []],
  [`import { Slots } from "parcel";`, []],
  [`import { Slots } from "@mantel/plugin";`, []],
  [`// import { Slots } from "${SDK}";`, []],
  [`const text = 'import { Slots } from "${SDK}"';`, []],
  [
    `import { Slots } from "${SDK}/speech";`,
    [
      [`${SDK}/speech`, 1, 23],
      ["Slots", 1, 9],
    ],
  ],
] as const) {
  test(`old names of the SDK in: ${source}`, () => {
    assert.deepEqual(
      found(source),
      expected.map((each) => [...each, source]),
    );
  });
}

test("each old name is found at its own line, also in an import of several lines", () => {
  const source = `// Slots and Turns
import {
  definePlugin,
  Turns,
} from "${SDK}";
import { read } from "./turns.ts";
import { Slots } from "${SDK}";
`;

  assert.deepEqual(found(source), [
    ["Turns", 4, 2, "  Turns,"],
    ["Slots", 7, 9, `import { Slots } from "${SDK}";`],
  ]);
});

test("the message of an old name gives the new one", () => {
  const texts = renamedImports(
    "index.ts",
    `import { Slots, Turns, MqttLink, LinkOwner, climateTile } from "${SDK}";\nimport "x";\nexport * from "${SDK}/speech";`,
  ).map(({ text }) => text);

  assert.deepEqual(texts, [
    `Slots of ${SDK} is now Semaphore`,
    `Turns of ${SDK} is now SerialQueue`,
    `MqttLink of ${SDK} is now MqttClient`,
    `LinkOwner of ${SDK} is now ConnectionListener`,
    `climateTile of ${SDK} is now deviceTile`,
    `${SDK}/speech is now ${SDK}/i18n`,
  ]);
});
