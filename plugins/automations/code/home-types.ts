import type { Capability, Device, Scene } from "@mantel/plugin-sdk";

const HEADER =
  "// The names of this home, for editors. Mantel writes this file when devices change.\n";

/** The settings with which an editor checks the files of automations. */
export const TSCONFIG = `${JSON.stringify(
  {
    compilerOptions: {
      target: "ES2023",
      lib: ["ES2023"],
      module: "ESNext",
      moduleResolution: "Bundler",
      moduleDetection: "force",
      types: [],
      strict: true,
      allowImportingTsExtensions: true,
      noEmit: true,
    },
    include: ["*.ts"],
  },
  null,
  2,
)}\n`;

type TypedDevice = Pick<Device, "id" | "kind" | "name" | "capabilities" | "parts" | "extra">;

/** The declaration of the devices and scenes of a home. Devices of one kind with the same name are named by their ids. */
export function homeDeclaration(
  devices: readonly TypedDevice[],
  scenes: readonly Pick<Scene, "id" | "name">[],
): string {
  const kinds = [...new Set(devices.map(({ kind }) => kind))].toSorted();
  const sorted = devices.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const blocks = kinds.map((kind) => {
    const own = sorted.filter((device) => device.kind === kind);
    const lines = own.map((device) => `      ${text(nameIn(device, own))}: ${typeOf(device)};\n`);
    return `    ${text(kind)}: {\n${lines.join("")}    };\n`;
  });
  const named = [...new Set(scenes.map((scene) => nameIn(scene, scenes)))].toSorted();
  const sceneLines = named.map((name) => `    ${text(name)}: true;\n`).join("");
  return (
    `${HEADER}declare module "mantel" {\n` +
    `  interface HomeDevices {\n${blocks.join("")}  }\n` +
    `  interface HomeScenes {\n${sceneLines}  }\n}\n`
  );
}

const text = (value: string) => JSON.stringify(value);

interface Named {
  readonly id: string;
  readonly name: string;
}

function nameIn({ id, name }: Named, all: readonly Named[]): string {
  return all.filter((each) => each.name === name).length === 1 ? name : id;
}

function typeOf({ capabilities, parts = [], extra }: TypedDevice): string {
  const fields = [
    ...fieldsOf(capabilities, ""),
    ...parts.flatMap((part) => fieldsOf(part.capabilities, `parts/${part.id}/`)),
    ...fieldsOf(extra?.capabilities ?? {}, "extra/"),
    '"available": boolean',
  ];
  const gestures = capabilities["lastAction"];
  const events =
    gestures?.type === "choice" ? `; events: ${gestures.values.map(text).join(" | ")}` : "";
  return `{ fields: { ${fields.join("; ")} }${events} }`;
}

function fieldsOf(capabilities: Readonly<Record<string, Capability>>, place: string): string[] {
  return Object.entries(capabilities).map(
    ([name, capability]) => `${text(place + name)}: ${typeOfValue(capability)}`,
  );
}

function typeOfValue(capability: Capability): string {
  switch (capability.type) {
    case "number":
      return "number";
    case "text":
      return "string";
    case "choice":
      return capability.values.map(text).join(" | ");
    case "color":
      return "{ hue: number; saturation: number }";
    default:
      return "boolean";
  }
}
