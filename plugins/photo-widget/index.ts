import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { definePlugin, handle } from "@mantel/plugin-sdk";
import { Photos } from "./photos.ts";
import { listRoute, putRoute, readRoute, removeRoute } from "./routes.ts";

/** `/photos`: the pictures in the folder `photos` of the home's data and in its albums, for the photo frame. */
export default definePlugin({
  async start({ folder }) {
    const photos = await Photos.open(folder("photos"));
    await writeFile(join(folder("photos"), ".nobackup"), ""); // too large for the home's backups
    return {
      canRest: () => true,
      routes: [
        handle(listRoute, async () => ({ json: { photos: await photos.list() } })),
        handle(readRoute, async ({ params, query }) => {
          const { path, type } = await photos.find(params.name, query.album);
          return { file: path, type };
        }),
        handle(putRoute, async ({ params, query, bytes }) => {
          await photos.write(params.name, bytes, query.album);
          return { status: 204 };
        }),
        handle(removeRoute, async ({ params, query }) => {
          await photos.remove(params.name, query.album);
          return { status: 204 };
        }),
      ],
    };
  },
});
