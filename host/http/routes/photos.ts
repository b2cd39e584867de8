import { Type } from "typebox";
import { MAX_UPLOAD_BYTES } from "../../photos/photos.ts";
import { readBytes } from "../body.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { jsonAnswer, type Route, route } from "../route.ts";

const Params = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 255, description: "a file name from the list" }),
});
const Query = Type.Object({
  album: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: "the album that it is in, if any" }),
  ),
});
const PhotoList = Type.Object({
  photos: Type.Array(
    Type.Object({
      name: Type.String(),
      album: Type.Optional(Type.String({ description: "the folder in `photos` that it is in" })),
      changedAt: Type.String({ format: "date-time" }),
    }),
  ),
});

/** `/photos`: the pictures in the data folder's `photos` and its albums, for the photo frame. */
export function photoRoutes({ photos }: HttpDependencies): Route[] {
  return [
    route({
      method: "GET",
      path: "/photos",
      operationId: "listPhotos",
      scope: "read",
      tag: "Photos",
      summary: "List the pictures for the photo frame",
      answers: jsonAnswer("Their names, by album", PhotoList),
      handle: async () => ({ photos: await photos.list() }),
    }),
    route({
      method: "GET",
      path: "/photos/:name",
      operationId: "getPhoto",
      scope: "read",
      tag: "Photos",
      summary: "Read a picture",
      params: Params,
      query: Query,
      answers: { 200: { description: "The unchanged file", type: "image/*" } },
      errors: ["invalid", "not_found"],
      async handle(ctx, { params, query }) {
        const { file, bytes, type } = await photos.read(params.name, query.album);
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
      query: Query,
      body: { schema: Type.Unknown(), maxBytes: MAX_UPLOAD_BYTES, raw: true },
      answers: { 204: { description: "The picture is stored" } },
      errors: ["invalid", "unsupported_media_type", "conflict", "disk_full", "disk_read_only"],
      async handle(ctx, { params, query }) {
        await photos.write(params.name, await readBytes(ctx, MAX_UPLOAD_BYTES), query.album);
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
      query: Query,
      answers: { 204: { description: "The picture is removed" } },
      errors: ["invalid", "not_found"],
      async handle(ctx, { params, query }) {
        await photos.remove(params.name, query.album);
        ctx.status = 204;
      },
    }),
  ];
}
