import { test } from "node:test";
import { openBrowser, openPage } from "../helpers/browser.ts";
import { frameOf, type GuestWidget, installGuest, layoutOf } from "../helpers/guest-widget.ts";
import { startHost } from "../helpers/host.ts";
import { LOAD, until } from "../helpers/until.ts";

/** A green pixel. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M/wHwAEBgIApD5fRAAAAABJRU5ErkJggg==";

const SHOWS_PICTURES = `
    const show = async (name: string, path: string) => {
      const p = document.createElement("p");
      root.append(p);
      try {
        const image = new Image();
        image.src = URL.createObjectURL(await (await ctx.read(path)).blob());
        await image.decode();
        p.textContent = name + ": " + image.naturalWidth + " pixel";
      } catch (error: any) {
        p.textContent = name + ": " + error.message;
      }
    };
    void show("own", "/plugins/porch/picture.png?size=1");
    void show("other", "/plugins/garden/picture.png?size=1");
    void show("host", "/plugins/porch/config");
`;

function withPicture(id: string, needs?: object): GuestWidget {
  return {
    id,
    ...(needs && { needs }),
    mount: SHOWS_PICTURES,
    server: `import { definePlugin, defineRoute, handle, Type } from "@mantel/plugin-sdk";
const picture = defineRoute({
  method: "GET",
  path: "/picture.png",
  scope: "read",
  summary: "Read the picture",
  query: Type.Object({ size: Type.String() }),
});
export default definePlugin({
  start: () => ({
    routes: [
      handle(picture, () => ({ content: Buffer.from("${PNG}", "base64"), type: "image/png" })),
    ],
  }),
});
`,
  };
}

test("a widget in a frame shows pictures of its own plugin's routes, and of others that it names", async (t) => {
  const host = await startHost(t, { plugins: [] });
  const browser = await openBrowser(t);
  await installGuest(host, withPicture("porch"));
  await installGuest(host, withPicture("garden", { reads: ["/plugins/porch"] }));
  await until(async () => (await host.api("/health/ready")).ok, { withinMs: 20_000 });
  await host.api("/layout", { method: "PUT", json: layoutOf(["porch", "garden"]) });
  const { page } = await openPage(t, browser, await host.link("read"));
  page.setDefaultTimeout(20_000 * LOAD);

  const [porch, garden] = [frameOf(page, "porch"), frameOf(page, "garden")];
  await porch.getByText("own: 1 pixel").waitFor();
  await porch.getByText("other: this widget may not read /plugins/garden/picture.png").waitFor();
  await porch.getByText("host: this widget may not read /plugins/porch/config").waitFor();
  await garden.getByText("own: 1 pixel").waitFor();
  await garden.getByText("other: 1 pixel").waitFor();
});
