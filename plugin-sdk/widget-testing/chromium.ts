import { existsSync, readFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import { serviceKey } from "../service.ts";
import type { FakeDevice } from "../testing-device.ts";
import { callFake } from "../testing-service.ts";
import { widgetAssets } from "../widget-assets.ts";
import type { Recorded, WidgetTestOptions } from "./fake-context.ts";
import type { mantelTest as InPage } from "./in-page.ts";
import { withManifest } from "./needs-of-test.ts";

/** The options of `openWidget`. */
export interface OpenWidgetOptions extends WidgetTestOptions {
  /** A browser of the test, which several widgets share. Absent: one of its own. */
  readonly browser?: Browser;
}

/** A widget on a page of Chromium, with the theme of the dashboard. */
export interface OpenedWidget {
  readonly page: Page;
  /** Uncaught errors and errors on the console. */
  readonly faults: readonly string[];
  /** Finds elements in the widget. */
  locator(selector: string): Locator;
  /** The actions of the widget until now. */
  recorded(): Promise<Omit<Recorded, "faults">>;
  /** Changes a channel, by name as in `ctx.channel`; `undefined` means that it is gone. */
  setChannel(name: string, value: unknown): Promise<void>;
  /** Adds or replaces a device. */
  setDevice(device: FakeDevice): Promise<void>;
  setSettings(settings: Readonly<Record<string, unknown>>): Promise<void>;
  close(): Promise<void>;
}

const INSTALLED = [
  process.env["CHROMIUM_PATH"] ?? "",
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
const [PROGRAM] = INSTALLED.filter((path) => path !== "" && existsSync(path));

const FOLDER = import.meta.dirname;
/** `.ts` in the repository, `.js` in the published package. */
const ENDING = extname(import.meta.filename);

/** True if there is a Chromium or Chrome. Set `CHROMIUM_PATH` if it is elsewhere. */
export const hasChromium = (): boolean => PROGRAM !== undefined;

/** Starts a browser without a window, which several widgets may share. The caller closes it. */
export function launchChromium(): Promise<Browser> {
  if (PROGRAM !== undefined) return chromium.launch({ executablePath: PROGRAM });
  return Promise.reject(new Error("Chromium was not found; install it, or set CHROMIUM_PATH"));
}

/**
 * Opens a widget in Chromium: `await openWidget(new URL("../widget.ts", import.meta.url), { … })`. It has the styles of
 * the dashboard, but neither its font nor its icons.
 */
export async function openWidget(
  entry: URL,
  { browser, services = [], ...asked }: OpenWidgetOptions = {},
): Promise<OpenedWidget> {
  const options = withManifest(asked, packageAbove(entry));
  const script = await bundle(fileURLToPath(entry));
  const own = browser ?? (await launchChromium());
  const { width = 400, height = 250 } = options.size ?? {};
  const page = await own.newPage({ viewport: { width, height } });
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  await page.exposeFunction("mantelCall", async (name: string, input: unknown) => {
    try {
      return { answer: await callFake(services, name, input) };
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      return { error: { code, message } };
    }
  });
  await page.setContent(`<!doctype html><html data-theme="${options.theme ?? "dark"}"></html>`);
  await page.addScriptTag({ content: script });
  const names = services.map(({ definition }) => serviceKey(definition));
  await page.evaluate(([given, called]) => mantelTest.mount(given, called), [
    options,
    names,
  ] as const);
  return {
    page,
    faults,
    locator: (selector) => page.locator("body > div").locator(selector),
    recorded: () => page.evaluate(() => mantelTest.recorded()),
    setChannel: (name, value) =>
      page.evaluate(([of, next]) => mantelTest.widget.setChannel(of, next), [name, value] as const),
    setDevice: (device) => page.evaluate((next) => mantelTest.widget.setDevice(next), device),
    setSettings: (settings) => page.evaluate((next) => mantelTest.setSettings(next), settings),
    close: () => (browser ? page.close() : own.close()),
  };
}

/** The first `package.json` of a plugin in the folder of a file or above it. */
function packageAbove(file: URL): URL | undefined {
  for (let folder = new URL(".", file); ; folder = new URL("..", folder)) {
    const found = new URL("package.json", folder);
    if (existsSync(found) && readFileSync(found, "utf8").includes('"mantel"')) return found;
    if (folder.pathname === "/") return undefined;
  }
}

declare global {
  /** In the page: see `in-page.ts`. */
  var mantelTest: typeof InPage;
}

/** One script of the widget and the kit, compiled as the host compiles widgets. */
async function bundle(entry: string): Promise<string> {
  const built = await build({
    stdin: {
      contents: `import widget from ${JSON.stringify(entry)};
import { mantelTest } from ${JSON.stringify(`./in-page${ENDING}`)};
globalThis.mantelTest = mantelTest;
mantelTest.widgetUnderTest = widget;`,
      resolveDir: FOLDER,
    },
    absWorkingDir: dirname(entry),
    bundle: true,
    write: false,
    format: "iife",
    platform: "browser",
    target: "es2022",
    sourcemap: "inline",
    logLevel: "silent",
    outfile: "widget.js",
    plugins: [SHARED_DEFINITIONS, widgetAssets({ folder: dirname(entry), build })],
  });
  return built.outputFiles[0]?.text ?? "";
}

/** Replaces the SDK's main entry, as the host does: a widget has no Node. */
const SHARED_DEFINITIONS: Plugin = {
  name: "shared-definitions",
  setup: (built) =>
    built.onResolve({ filter: /^@mantel\/plugin-sdk$/ }, () => ({
      path: join(FOLDER, "..", `in-widget${ENDING}`),
    })),
};
