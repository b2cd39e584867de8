import { defineRoute, Type } from "@mantel/plugin-sdk";

/** The largest picture that is taken in over HTTP. The dashboard makes pictures smaller before it sends them. */
const MAX_UPLOAD_BYTES = 16 * 2 ** 20;

const Params = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 255, description: "a file name from the list" }),
});
const Query = Type.Object({
  album: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: "the album that it is in, if any" }),
  ),
});

export const listRoute = defineRoute({
  method: "GET",
  at: "/photos",
  scope: "read",
  summary: "List the pictures for the photo frame, by album",
  response: Type.Object({
    photos: Type.Array(
      Type.Object({
        name: Type.String(),
        album: Type.Optional(Type.String({ description: "the folder in `photos` that it is in" })),
        changedAt: Type.String({ format: "date-time" }),
      }),
    ),
  }),
});

export const readRoute = defineRoute({
  method: "GET",
  at: "/photos/:name",
  scope: "read",
  summary: "Read a picture, as the unchanged file",
  params: Params,
  query: Query,
});

export const putRoute = defineRoute({
  method: "PUT",
  at: "/photos/:name",
  scope: "edit",
  summary: "Add a picture, or replace the one of this name",
  params: Params,
  query: Query,
  raw: true,
  maxBytes: MAX_UPLOAD_BYTES,
});

export const removeRoute = defineRoute({
  method: "DELETE",
  at: "/photos/:name",
  scope: "edit",
  summary: "Remove a picture",
  params: Params,
  query: Query,
});
