import { Type } from "typebox";
import { MAX_UPLOAD_BYTES } from "../../photos/photos.ts";
import { readBytes } from "../body.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { jsonAnswer, type Route, route } from "../route.ts";

const Params = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 255, description: "a file name from the list" }),
});
const PhotoList = Type.Object({ photos: Type.Array(Type.Object({ name: Type.String() })) });

/** `/photos`: the pictures in the data folder's `photos`, for the photo frame. */
export function photoRoutes({ photos }: HttpDependencies): Route[] {
  return [
    route({
      method: "GET",
      path: "/photos",
      operationId: "listPhotos",
      scope: "read",
      tag: "Photos",
      summary: "List the pictures for the photo frame",
      answers: jsonAnswer("Their file names", PhotoList),
      handle: async () => ({ photos: (await photos.list()).map((name) => ({ name })) }),
    }),
    route({
      method: "GET",
      path: "/photos/:name",
      operationId: "getPhoto",
      scope: "read",
      tag: "Photos",
      summary: "Read a picture",
      params: Params,
      answers: { 200: { description: "The unchanged file", type: "image/*" } },
      errors: ["not_found"],
      async handle(ctx, { params }) {
        const { file, bytes, type } = await photos.read(params.name);
        ctx.type = type;
        ctx.length = bytes;
        ctx.body = file.createReadStream({ end: bytes - 1 });
        return undefined;
      },
    }),
    route({
      method: "PUT",
      path: "/photos/:name",
      operationId: "putPhoto",
      scope: "edit",
      tag: "Photos",
      summary: "Add a picture, or replace the one of this name",
      params: Params,
      body: { schema: Type.Unknown(), maxBytes: MAX_UPLOAD_BYTES, raw: true },
      answers: { 204: { description: "The picture is stored" } },
      errors: ["invalid", "unsupported_media_type", "conflict", "disk_full", "disk_read_only"],
      async handle(ctx, { params }) {
        await photos.write(params.name, await readBytes(ctx, MAX_UPLOAD_BYTES));
        ctx.status = 204;
      },
    }),
    route({
      method: "DELETE",
      path: "/photos/:name",
      operationId: "removePhoto",
      scope: "edit",
      tag: "Photos",
      summary: "Remove a picture",
      params: Params,
      answers: { 204: { description: "The picture is removed" } },
      errors: ["not_found"],
      async handle(ctx, { params }) {
        await photos.remove(params.name);
        ctx.status = 204;
      },
    }),
  ];
}
